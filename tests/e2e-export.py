#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The formats that other programs read, of real runs, judged by those programs where they
are installed and by readers here that are as strict."""

import collections
import csv
import gzip
import json
import os
import re
import subprocess
import sys
import time
import xml.dom.minidom

sys.dont_write_bytecode = True
import e2e_lib as e2e  # pylint: disable=wrong-import-position

STACK_FORMATS = ("folded", "pprof", "speedscope", "firefox", "script", "svg")
DOCUMENTS = ("pprof", "speedscope", "firefox", "prometheus", "svg")
SUFFIXES = {
    "text": ".txt", "json": ".json", "csv": ".csv", "folded": ".folded", "pprof": ".pb.gz",
    "speedscope": ".speedscope.json", "firefox": ".firefox.json", "script": ".perf-script",
    "prometheus": ".prom", "svg": ".svg",
}

# What separates, quotes or comments in one of the formats, in pieces that fit in a comm.
HOSTILE = [b"a;b c 12", b"#x y", b" 3/4 [000] 1:", b"x,\"y\"\n", b"<&>'\xff\x1b[31m",
           b"Lfoo;::bar", b"9", "é(in b)".encode()]
# The same in a symbol, of the length of hot_alpha.
HOSTILE_SYMBOL = b"a;b <\"\n2"


def run_hostile():
    e2e.start(e2e.build("comms.c"), *(name.hex() for name in HOSTILE), cwd=e2e.temporary())
    with open(e2e.build("spin.c"), "rb") as file:
        program = file.read()
    path = os.path.join(os.fsencode(e2e.temporary()), b"p (x) [y]; \"z\"")
    with open(path, "wb") as file:
        file.write(program.replace(b"\0hot_alpha\0", b"\0" + HOSTILE_SYMBOL + b"0\0"))
    os.chmod(path, 0o755)
    process = subprocess.Popen([path, "60"])  # pylint: disable=consider-using-with
    e2e.at_end(e2e.stop, process)


def export(name, *args):
    """The path of a file of this format; chosen by its suffix."""
    path = e2e.temporary("report" + SUFFIXES[name])
    if not any(arg in args for arg in ("-n", "--duration", "--")):
        args = ("--duration", "1", *args)
    result = e2e.symtop("-o", path, *args)
    e2e.check(result.status == 0 and result.out == "" and result.err == "", result)
    return path


def read(path):
    with open(path, "rb") as file:
        return file.read()


def judge(*argv, data=b"", env=None):
    """Output of a program that must be content."""
    result = subprocess.run(argv, input=data, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            check=False, env={**os.environ, **(env or {})})
    e2e.check(result.returncode == 0, argv, result.stdout[-1000:], result.stderr[-1000:])
    return result.stdout.decode()


def check_fib(stacks):
    """Recursion of known shape, outermost first: comm, ..., main, fib, fib, ..."""
    of_fib = [(frames[1:], nr) for frames, nr in stacks.items() if frames[0] == "fib"]
    deep = sum(nr for frames, nr in of_fib if frames.count("fib") > 5 and
               frames.index("main") + 1 == frames.index("fib"))
    every = sum(nr for _, nr in of_fib)
    e2e.check(every > 100 and deep > 0.8 * every, f"{deep} of {every} are deep",
              *list(stacks.items())[:20])


# ---- readers: each gives {(comm, outermost, ..., innermost): samples} and the samples said ----

def read_folded(path):
    stacks, facts = collections.Counter(), {}
    for line in read(path).decode("utf-8").split("\n")[:-1]:
        if line.startswith("#"):
            e2e.check(" " not in line, f"a comment that is taken for a stack: {line!r}")
            facts.update([line[1:].split("=", 1)])
            continue
        e2e.check(not facts, f"comments come last: {line!r}")
        # All readers agree on what both the strict and the lax of them see.
        strict = re.fullmatch(r"(.*) (\d+)", line)
        lax = re.search(r"([^;]*(?:;[^;]*)*) ([0-9]+)", line)
        e2e.check(strict and lax and strict.groups() == lax.groups(), repr(line))
        frames = tuple(strict[1].split(";"))
        e2e.check(all(frames), f"an empty frame: {line!r}")
        stacks[frames] += int(strict[2])
    return stacks, int(facts["shown_samples"])


def read_speedscope(path):
    """By its schema and what the schema cannot say."""
    file = json.loads(read(path), parse_constant=str)
    e2e.check(file["$schema"] == "https://www.speedscope.app/file-format-schema.json", file)
    e2e.check(set(file) == {"$schema", "exporter", "name", "activeProfileIndex", "profiles",
                            "shared"}, set(file))
    frames = file["shared"]["frames"]
    for frame in frames:
        e2e.check(set(frame) <= {"name", "file"} and frame["name"], frame)
    sums = []
    for profile in file["profiles"]:
        e2e.check(set(profile) == {"type", "name", "unit", "startValue", "endValue", "samples",
                                   "weights"}, set(profile))
        e2e.check(profile["type"] == "sampled" and profile["unit"] == "none" and
                  profile["startValue"] == 0, profile["name"])
        e2e.check(len(profile["samples"]) == len(profile["weights"]), profile["name"])
        e2e.check(sum(profile["weights"]) == profile["endValue"], profile["name"])
        e2e.check(all(0 <= i < len(frames) for stack in profile["samples"] for i in stack))
        sums.append(profile["endValue"])
    stacks = collections.Counter()
    for stack, weight in zip(file["profiles"][0]["samples"], file["profiles"][0]["weights"]):
        stacks[tuple(frames[i]["name"] for i in stack)] += weight
    e2e.check(sums[0] == sum(sums[1:]), "threads are not all of it", sums)
    return stacks, int(re.search(r" s, (\d+) samples", file["name"])[1])


def read_firefox(path):
    file = json.loads(read(path), parse_constant=str)
    meta = file["meta"]
    # The kernel may have lowered the rate.
    rate = int(re.search(r"rate_hz: (\d+)", meta["misc"])[1])
    e2e.check(meta["version"] == 24 and abs(meta["interval"] - 1000 / rate) < 1e-6, meta)
    stacks = collections.Counter()
    for thread in file["threads"]:
        for name in ("samples", "frameTable", "stackTable", "markers"):
            columns = len(thread[name]["schema"])
            e2e.check(all(len(row) == columns for row in thread[name]["data"])
                      or name == "markers", name)
        names = []
        for row in thread["frameTable"]["data"]:
            text = thread["stringTable"][row[0]]
            match = re.fullmatch(r"(.*) \(in ([^)]*)\)", text)
            e2e.check(match and match[1], repr(text))
            e2e.check(not re.match(r"^(.*) \(in ([^)]*)\) (\(.*:.*\))$", text), repr(text))
            e2e.check(row[7] < len(meta["categories"]), row)
            names.append(match[1])
        paths = []
        for prefix, frame in thread["stackTable"]["data"]:
            # A caller's stack stands before: the importer walks the table once.
            e2e.check(prefix is None or prefix < len(paths), "the prefix comes later")
            paths.append((paths[prefix] if prefix is not None else ()) + (names[frame],))
        last = -1
        for stack, when, _ in thread["samples"]["data"]:
            e2e.check(when > last, "times do not grow")
            last = when
            stacks[(thread["name"],) + paths[stack]] += 1
    return stacks, int(re.search(r"shown_samples: (\d+)", meta["misc"])[1])


# As in the Firefox Profiler, speedscope and FlameGraph.
RECORDS = (re.compile(r"^(\S.+?)\s+(\d+)/?(\d+)?\s+\[(\d+)\]\s+(\d+\.\d+):\s+(\d+)\s+(\S+):\s*$"),
           re.compile(r"^(.*)\s+(?:(\d+)/)?(\d+)\b \[\d+\] ([\d.]+):"))
FRAMES = (re.compile(r"^\s*(\w+)\s*(.+) \((\S*)\)$"), re.compile(r"^\s*(\w+)\s*(.+) \(([^)]*)\)$"))


def read_script(path):
    lines = read(path).decode("utf-8").split("\n")
    e2e.check(lines[0] == "# ========", lines[0])
    shown = next(int(line.rpartition(" ")[2]) for line in lines if "# shown_samples" in line)
    stacks, comm, frames = collections.Counter(), None, []
    for line in lines:
        if line == "" and comm is not None:
            e2e.check(frames, "a sample without frames")
            stacks[(comm, *reversed(frames))] += 1
            comm, frames = None, []
        elif line == "" or line.startswith("#"):
            e2e.check(comm is None, repr(line))
        elif comm is None:
            matches = [regex.match(line) for regex in RECORDS]
            e2e.check(all(matches) and matches[0][1].strip() == matches[1][1].strip() and
                      matches[0][3] == matches[1][3], repr(line))
            comm = matches[0][1].strip()
        else:
            matches = [regex.match(line) for regex in FRAMES]
            e2e.check(all(matches) and matches[0].groups() == matches[1].groups(), repr(line))
            frames.append(matches[0][2])
    return stacks, shown


def read_pprof(path):
    """By go tool pprof -raw."""
    go = e2e.need_tool("go")
    comments = judge(go, "tool", "pprof", "-comments", path)
    text = judge(go, "tool", "pprof", "-raw", path)
    samples, locations = text.split("\nLocations\n")
    names = {}
    for line in locations.split("\nMappings\n")[0].split("\n"):
        match = re.fullmatch(r"\s*(\d+): 0x[0-9a-f]+ M=\d+ (.*) :0 s=0\(\)", line)
        e2e.check(match, repr(line))
        names[match[1]] = match[2]
    stacks = collections.Counter()
    found = re.findall(r"^ +(\d+) +(\d+): ((?:\d+ )+)\n +comm:\[(.*)\]$", samples, re.MULTILINE)
    for nr, period, ids, comm in found:
        e2e.check(int(period) > 0, nr, period)
        stacks[(comm, *(names[i] for i in reversed(ids.split())))] += int(nr)
    return stacks, int(re.search(r"^shown_samples: (\d+)$", comments, re.MULTILINE)[1])


def read_svg(path):
    """Not stacks but frames, which is enough to count."""
    document = xml.dom.minidom.parseString(read(path))
    shown = re.search(r"shown_samples: (\d+)",
                      document.getElementsByTagName("desc")[0].firstChild.data)[1]
    return document, int(shown)


READERS = {"folded": read_folded, "speedscope": read_speedscope, "firefox": read_firefox,
           "script": read_script, "pprof": read_pprof}


# ---- what is true of all ----

def check_every_sample(name):
    e2e.start(e2e.build("fib.c"))
    stacks, shown = READERS[name](export(name))
    e2e.check(sum(stacks.values()) == shown, f"{sum(stacks.values())} of {shown} samples")
    check_fib(stacks)


for _name in READERS:
    def _test(name=_name):
        check_every_sample(name)
    e2e.case(f"export: {_name} has every sample of the window, in whole stacks")(_test)


def shown(text):
    """How printable names have these bytes."""
    return re.sub(r"[\x00-\x1f\x7f-\x9f\udc80-\udcff]",
                  lambda m: f"\\x{ord(m[0]) & 0xff:02x}", text)


def expected_comm(name, raw):
    """A comm as a format must have it."""
    text = shown(raw.decode("utf-8", "surrogateescape"))
    if name == "folded":
        return re.sub("^#", r"\\x23", text).replace(";", ":")
    if name == "script":
        return re.sub(r" (?=\d)", r"\\x20", re.sub(r"^([ #])", lambda m: f"\\x{ord(m[1]):02x}",
                                                  text))
    return text


def check_hostile(name):
    run_hostile()
    stacks, nr_shown = READERS[name](export(name))
    e2e.check(sum(stacks.values()) == nr_shown, f"{sum(stacks.values())} of {nr_shown} samples")
    comms = {frames[0] for frames in stacks}
    for raw in HOSTILE:
        wanted = expected_comm(name, raw)
        e2e.check(wanted in comms, f"no stack of {wanted!r}", sorted(comms))
    frames = {frame for stack in stacks for frame in stack[1:]}
    wanted = shown(HOSTILE_SYMBOL.decode() + "0")
    if name == "folded":
        wanted = wanted.replace(";", ":")
    e2e.check(wanted in frames, f"no frame {wanted!r}", sorted(frames)[:50])


for _name in READERS:
    def _test(name=_name):
        check_hostile(name)
    e2e.case(f"FC-095 FC-096 {_name}: hostile names neither break nor hide a stack")(_test)


@e2e.case("export: the command line, event, rate and window stand in every format")
def _():
    for name in SUFFIXES:
        path = export(name, "-F", "1000", "--filter", "pid>=0")
        data = read(path)
        if name == "pprof":
            data = gzip.decompress(data)
        text = data.decode("utf-8", "replace")
        for regex in (r"symtop.*-F.*1000.*--filter", r"cpu-clock", r"1000"):
            e2e.check(re.search(regex, text), name, regex, text[:500])
        e2e.check(re.search(r"window|, 1\.\d s, ", text), name, text[:500])


@e2e.case("export: several events are told apart")
def _():
    e2e.start(e2e.build("spin.c"), "60")
    stacks, nr_shown = read_folded(export("folded", "-e", "cpu-clock,task-clock"))
    e2e.check(sum(stacks.values()) == nr_shown, nr_shown)
    e2e.check({frames[0] for frames in stacks} == {"cpu-clock", "task-clock"},
              list(stacks)[:10])
    raw = judge(e2e.need_tool("go"), "tool", "pprof", "-raw",
                export("pprof", "-e", "cpu-clock,task-clock"))
    e2e.check("cpu-clock-samples/count[dflt] cpu-clock/nanoseconds task-clock-samples/count "
              "task-clock/nanoseconds" in raw, raw[:1000])


@e2e.case("export: an idle target gives good files without samples")
def _():
    sleeper = e2e.start("sleep", "60")
    for name in SUFFIXES:
        path = export(name, "-p", str(sleeper.pid))
        if name in READERS:
            stacks, nr_shown = READERS[name](path) if name != "pprof" else ({}, 0)
            e2e.check(nr_shown == 0 and not stacks, name, stacks)
        if name == "svg":
            read_svg(path)


# ---- pprof ----

@e2e.case("export: go tool pprof shows the hottest function of a pprof first")
def _():
    go = e2e.need_tool("go")
    process = e2e.start(e2e.build("spin.c"), "60")
    path = export("pprof", "-p", str(process.pid))
    top = judge(go, "tool", "pprof", "-top", path)
    rows = re.findall(r"^ *(\d+) +([\d.]+)% +[\d.]+% +\d+ +[\d.]+% +(.*)$", top, re.MULTILINE)
    e2e.check(rows and rows[0][2] == "hot_alpha" and 65 < float(rows[0][1]) < 90, top)
    e2e.check("Type: samples" in top and re.search(r"Duration: [\d.]+m?s, ", top), top)
    # By period: cpu-clock counts nanoseconds, and pprof knows what that is.
    top = judge(go, "tool", "pprof", "-top", "-sample_index=cpu-clock", path)
    e2e.check(re.search(r"\d+(\.\d+)?m?s +[\d.]+% +[\d.]+% .*hot_alpha", top), top)
    tags = judge(go, "tool", "pprof", "-tags", path)
    for label in ("comm", "pid", "tid", "cpu", "node"):
        e2e.check(re.search(rf"^ *{label}: Total", tags, re.MULTILINE), tags)


@e2e.case("export: a damaged pprof is refused by the same check")
def _():
    go = e2e.need_tool("go")
    path = export("pprof", "--duration", "0.5")
    judge(go, "tool", "pprof", "-top", path)
    whole = gzip.decompress(read(path))
    for what, data in (("cut", read(path)[:-20]),
                       # The first sample has one value less than there are types.
                       ("a sample type more", gzip.compress(b"\x0a\x04\x08\x01\x10\x02" + whole)),
                       ("cut inside", gzip.compress(whole[:len(whole) // 2 - 1]))):
        bad = e2e.temporary("bad.pb.gz")
        with open(bad, "wb") as file:
            file.write(data)
        result = subprocess.run([go, "tool", "pprof", "-top", bad], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, check=False)
        e2e.check(result.returncode != 0, what, result.stdout[:500])


PROTO = "/usr/share/gocode/src/github.com/google/pprof/proto"


@e2e.case("export: protoc decodes a pprof by its schema")
def _():
    protoc = e2e.need_tool("protoc")
    if not os.path.exists(f"{PROTO}/profile.proto"):
        raise e2e.Skip("profile.proto (golang-github-google-pprof-dev) is not installed")
    text = judge(protoc, "--decode=perftools.profiles.Profile", f"--proto_path={PROTO}",
                 "profile.proto", data=gzip.decompress(read(export("pprof"))))
    e2e.check(len(re.findall(r"^sample_type \{", text, re.MULTILINE)) == 2, text[:500])
    e2e.check('string_table: ""\n' in text and 'string_table: "nanoseconds"\n' in text)
    # What a schema does not know stands as a number.
    e2e.check(not re.search(r"^\s*\d+[:\s]", text, re.MULTILINE), text[:500])


# ---- tables ----

def read_csv(path):
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, strict=True))
    for row in rows:
        e2e.check(None not in row and None not in row.values(), row)
    return rows


@e2e.case("FC-095 csv: one line of names, all reports behind it, hostile names come back")
def _():
    run_hostile()
    rows = read_csv(export("csv", "-n", "3", "-d", "0.5"))
    e2e.check(len({row["time"] for row in rows}) == 3, {row["time"] for row in rows})
    comms = {row["comm"] for row in rows}
    for raw in HOSTILE:
        e2e.check(shown(raw.decode("utf-8", "surrogateescape")) in comms, raw, sorted(comms))
    e2e.check(shown(HOSTILE_SYMBOL.decode() + "0") in {row["symbol"] for row in rows})
    e2e.check([bool(row["command"]) for row in rows].count(True) == 3)
    e2e.check(all(int(row["freq_hz"]) > 0 and row["event"] for row in rows), rows[0])


@e2e.case("export: csv has the rows of perf report -F overhead,sample,comm,dso,sym")
def _():
    perf = e2e.need_tool("perf")
    process = e2e.start(e2e.build("spin.c"), "60")
    recording = e2e.temporary("perf.data")
    # Another file with the same build id may be in the user's cache.
    perf = [perf, "--buildid-dir", e2e.temporary("buildid")]
    recorder = e2e.start(*perf, "record", "-q", "-e", "cpu-clock", "-F", "4000", "-o", recording,
                         "-p", str(process.pid), stderr=subprocess.PIPE)
    time.sleep(0.5)
    rows = read_csv(export("csv", "-p", str(process.pid), "-e", "cpu-clock", "--duration", "2"))
    recorder.send_signal(2)
    if recorder.wait() not in (0, -2, 130):
        raise e2e.Skip("perf cannot record here")
    theirs = {}
    for line in judge(*perf, "report", "-i", recording, "--stdio", "-q", "-t", ",", "-F",
                      "overhead,sample,comm,dso,sym").split("\n"):
        fields = [field.strip() for field in line.split(",")]
        if len(fields) == 5:
            key = (fields[2], fields[3], fields[4].partition(" ")[2])
            theirs[key] = float(fields[0].rstrip("%")) / 100
    for symbol in ("hot_alpha", "hot_beta"):
        ours = [row for row in rows if row["symbol"] == symbol]
        e2e.check(len(ours) == 1, ours)
        ours = ours[0]
        key = (ours["comm"], ours["object"], symbol)
        e2e.check(key in theirs, key, theirs)
        e2e.check(abs(theirs[key] - float(ours["overhead"])) < 0.04, theirs[key], ours)
        period = int(ours["samples"]) * 1e9 / int(ours["freq_hz"])
        e2e.check(abs(period / float(ours["period"]) - 1) < 0.01, ours)


@e2e.case("export: json by jq, with the command line")
def _():
    jq = e2e.need_tool("jq")
    path = export("json", "-n", "2", "-d", "0.3")
    text = judge(jq, "-e", "-c", "[.command, (.rows | length)]", path)
    lines = [json.loads(line) for line in text.split("\n")[:-1]]
    e2e.check(len(lines) == 2 and lines[0][0].startswith("symtop -o "), lines)


@e2e.case("FC-095 prometheus: promtool is content, names and all")
def _():
    promtool = e2e.need_tool("promtool")
    run_hostile()
    data = read(export("prometheus", "--rows", "200"))
    judge(promtool, "check", "metrics", data=data)
    for raw in HOSTILE:
        text = shown(raw.decode("utf-8", "surrogateescape"))
        text = text.replace("\\", "\\\\").replace('"', '\\"')
        e2e.check(f'comm="{text}"'.encode() in data, text, data.decode()[-3000:])
    series = [line.rpartition(b" ")[0] for line in data.split(b"\n") if line[:1] not in (b"#", b"")]
    e2e.check(len(series) == len(set(series)), "a series stands there twice")
    bad = subprocess.run([promtool, "check", "metrics"], check=False, stderr=subprocess.PIPE,
                         stdout=subprocess.PIPE, input=data.replace(b'\\"', b'"'))
    e2e.check(bad.returncode != 0, "a quote in a label is accepted")


@e2e.case("export: prometheus has 50 rows, or as many as --rows says")
def _():
    run_hostile()
    for args, most in ((), 50), (("--rows", "3"), 3):
        text = read(export("prometheus", *args)).decode()
        nr = len(re.findall(r"^symtop_overhead_ratio\{", text, re.MULTILINE))
        e2e.check(0 < nr <= most, args, nr)
        e2e.check(re.search(r"^symtop_self_cpu_ratio [\d.e-]+$", text, re.MULTILINE), text[:500])


# ---- flame graph ----

@e2e.case("FC-095 svg: XML that fetches nothing, hostile names and all")
def _():
    run_hostile()
    path = export("svg")
    document, nr_shown = read_svg(path)
    titles = [node.firstChild.data for node in document.getElementsByTagName("title")]
    e2e.check(f"all ({nr_shown} samples, 100.00%)" in titles, titles[:5])
    for raw in HOSTILE:
        text = shown(raw.decode("utf-8", "surrogateescape"))
        e2e.check(any(title.startswith(f"{text} (") for title in titles), text, titles)
    for tag in ("script", "image", "use", "foreignObject", "a"):
        e2e.check(not document.getElementsByTagName(tag), tag)
    data = read(path)
    e2e.check(data.count(b"http") == 1 and b"url(" not in data and b"href" not in data)
    if e2e.shutil.which("xmllint"):
        judge("xmllint", "--noout", path)


@e2e.case("export: the frames of an svg lie inside of their callers")
def _():
    e2e.start(e2e.build("fib.c"))
    document, _ = read_svg(export("svg"))
    levels = collections.defaultdict(list)
    for group in document.getElementsByTagName("g"):
        rect = group.getElementsByTagName("rect")[0]
        left = float(rect.getAttribute("x"))
        levels[int(rect.getAttribute("y"))].append((left, left + float(
            rect.getAttribute("width"))))
    rows = sorted(levels, reverse=True)
    e2e.check(len(rows) > 10 and rows == list(range(rows[0], rows[-1] - 1, -17)), rows)
    for below, above in zip(rows, rows[1:]):
        for left, right in levels[above]:
            e2e.check(any(x - 0.02 <= left and right <= y + 0.02 for x, y in levels[below]),
                      f"{left} to {right} at {above} has no caller")


# ---- options ----

@e2e.case("export: --format is stronger than a suffix; an unknown suffix is text")
def _():
    path = e2e.temporary("x.svg")
    result = e2e.symtop("-o", path, "--format", "folded", "--duration", "0.5")
    e2e.check(result.status == 0, result)
    read_folded(path)
    path = e2e.temporary("x.unknown")
    result = e2e.symtop("-o", path, "-n", "1", "-d", "0.3")
    e2e.check(result.status == 0 and read(path).startswith(b"# symtop"), result)


@e2e.case("export: a format that is one document wants one report, and says so")
def _():
    for name in DOCUMENTS:
        for args in ([], ["-n", "2"], ["-d", "1"], ["--duration", "1", "-d", "0.5"],
                     ["-d", "1", "--", "true"]):
            result = e2e.symtop("--format", name, "-o", e2e.temporary("no"), *args)
            e2e.check(result.status == 2 and name in result.err and "-n 1" in result.err, args,
                      result)
    for args in (["-n", "1", "-d", "0.3"], ["--duration", "0.3"], ["--", "true"]):
        result = e2e.symtop("-o", e2e.temporary("yes.svg"), *args)
        e2e.check(result.status == 0, args, result)


@e2e.case("export: what narrows a table has no meaning with whole stacks, and says so")
def _():
    for name in STACK_FORMATS:
        for args in (["-s", "dso"], ["--rows", "5"], ["--percent-limit", "1"]):
            result = e2e.symtop("--format", name, "-n", "1", *args, "-o", e2e.temporary("no"))
            e2e.check(result.status == 2 and args[0] in result.err, args, result)


@e2e.case("export: several reports of folded and script are one file that is read as one")
def _():
    e2e.start(e2e.build("fib.c"))
    path = export("script", "-n", "2", "-d", "0.5")
    e2e.check(read(path).count(b"# shown_samples") == 2)
    stacks, _ = read_script(path)
    check_fib(stacks)
    path = export("folded", "-n", "2", "-d", "0.5")
    e2e.check(read(path).count(b"#shown_samples=") == 2)


@e2e.case("export: a pprof does not go to a terminal")
def _():
    terminal = e2e.Terminal(e2e.SYMTOP, "--format", "pprof", "-n", "1", "-d", "0.3")
    e2e.check(terminal.ended() == 2 and "-o FILE" in terminal.text(), terminal.text())


@e2e.case("export: SIGINT during a long run gives the file of what there was")
def _():
    path = e2e.temporary("cut.speedscope.json")
    process = e2e.start_symtop("-o", path, "--duration", "600")
    time.sleep(1.5 * e2e.SLOW)
    process.send_signal(2)
    result = e2e.finish(process)
    e2e.check(result.err == "", result)
    stacks, nr_shown = read_speedscope(path)
    e2e.check(sum(stacks.values()) == nr_shown > 0, nr_shown)


@e2e.case("FC-099 export: a full disk is a message and status 1 in every format")
def _():
    for name in SUFFIXES:
        result = e2e.symtop("--duration", "0.3", "--format", name, "-o", "/dev/full")
        e2e.check(result.status == 1 and "No space left on device" in result.err and
                  len(result.err.splitlines()) == 1, name, result)


if __name__ == "__main__":
    sys.exit(e2e.run(e2e.need_machine))

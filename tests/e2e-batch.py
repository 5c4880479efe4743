#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Batch mode: reports stay well-formed whatever names say, faults of the output are
noticed, and it ends when and how the man page says."""

import json
import os
import re
import resource
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
import e2e_lib as e2e  # pylint: disable=wrong-import-position

# Every control character, DEL, a byte that is no UTF-8, U+2028 and what JSON escapes, in
# pieces that fit in a comm.
HOSTILE = [
    b"a" + bytes(range(0x01, 0x0f)),
    b"b" + bytes(range(0x0f, 0x1d)),
    b"c" + bytes(range(0x1d, 0x20)) + b"\x7f\xff\"\\\xc2\x9b",
    b"d\xe2\x80\xa8 \x1b[31m\xe2\x80\xae",
    "e;'$(`é漢".encode() + b"\xe6\xbc",
]
IS_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u2028\u2029\u200e\u200f\u202a-\u202e"
                            "\u2066-\u2069\ufeff]")


def shown(name):
    """How the man page says that these bytes stand in an output."""
    def escape(data):
        return "".join(f"\\x{byte:02x}" for byte in data)

    text = ""
    for char in name.decode("utf-8", "surrogateescape"):
        raw = char.encode("utf-8", "surrogateescape")
        is_bad = len(raw) == 1 and raw[0] >= 0x80 or IS_UNPRINTABLE.match(char)
        text += escape(raw) if is_bad else char
    return text


def start_hostile():
    """Programs with hostile names, file names and symbols that spin."""
    e2e.start(e2e.build("comms.c"), *(name.hex() for name in HOSTILE), cwd=e2e.temporary())
    with open(e2e.build("spin.c"), "rb") as file:
        program = file.read()
    # Recipe R7: a name in the string table that no compiler would write.
    program = program.replace(b"\0hot_alpha\0", b"\0" + HOSTILE_SYMBOL + b"\0")
    for name in HOSTILE_FILES:
        path = os.path.join(os.fsencode(e2e.temporary()), name)
        with open(path, "wb") as file:
            file.write(program)
        os.chmod(path, 0o755)
        # start() would make text of the path.
        process = subprocess.Popen([path, "60"])  # pylint: disable=consider-using-with
        e2e.at_end(e2e.stop, process)


HOSTILE_SYMBOL = b"\x1bA\x07\"\\\x01\xff\nB"
HOSTILE_FILES = [b"file\n\"\\\x1b]52;c;QQ==\x07", b"file" + bytes(range(0x01, 0x20)) + b"\x7f\xff"]


@e2e.case("FC-095 JSON stays valid with hostile comms, file names and symbols")
def _():
    start_hostile()
    # More than one: a symbol table that is still being read has no names in the first.
    rows = [row for report in e2e.reports("-n", "3", "-d", "0.7") for row in report["rows"]]
    for member, names in (("comm", HOSTILE), ("object", HOSTILE_FILES),
                          ("symbol", [HOSTILE_SYMBOL])):
        found = {row[member] for row in rows}
        for name in names:
            e2e.check(shown(name) in found, f"no row of {member} {shown(name)!r}",
                      sorted(found)[:50])


@e2e.case("FC-095 JSON of hostile names is accepted by jq and json.tool")
def _():
    start_hostile()
    result = e2e.symtop("-b", "--format", "json", "-n", "2", "-d", "0.5")
    e2e.check(result.status == 0, result)
    judges = [[sys.executable, "-m", "json.tool", "--json-lines"]]
    if e2e.shutil.which("jq"):
        judges.append(["jq", "-e", ".rows[0].symbol"])
    for judge in judges:
        judged = subprocess.run(judge, input=result.raw_out, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, check=False)
        e2e.check(judged.returncode == 0, judge, judged.stderr.decode())


@e2e.case("FC-095 JSON is whole when SIGINT cuts the run")
def _():
    start_hostile()
    process = e2e.start_symtop("-b", "--format", "json", "-d", "0.2")
    first = process.stdout.readline()
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    result = e2e.finish(process)
    e2e.check(result.status == 0, result)
    reports = [json.loads(first)] + e2e.parse(result)
    e2e.check([r["sequence"] for r in reports] == sorted({r["sequence"] for r in reports}),
              [r["sequence"] for r in reports])


@e2e.case("FC-080 text reports have no control character, whatever names say")
def _():
    start_hostile()
    for locale in ("C.UTF-8", "C"):
        result = e2e.symtop("-b", "-n", "1", "-d", "1", "-v", env={"LC_ALL": locale})
        e2e.check(result.status == 0, result)
        text = result.raw_out.decode("utf-8")
        found = IS_UNPRINTABLE.search(text.replace("\n", ""))
        e2e.check(not found, f"{locale}: {found!r}")
        e2e.check(shown(HOSTILE[0]) in text, f"{locale}: the name is missing", text[:3000])


# ---- FC-098 ----

def ignore_sigpipe():
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)


def check_quiet_end(process, what):
    result = e2e.finish(process, 5)
    e2e.check(result.status == 141, what, result)
    e2e.check(result.err == "", what, result)


def end_after_line(setup=None):
    for output_format in ("text", "json"):
        process = e2e.start_symtop("-b", "-d", "0.1", "--format", output_format, setup=setup)
        e2e.check(process.stdout.readline(), "no report")
        process.stdout.close()
        process.stdout = None
        check_quiet_end(process, output_format)


@e2e.case("FC-098 ends quietly with 141 when the reader of a pipe goes after a line")
def _():
    end_after_line()


@e2e.case("FC-098 the same with SIGPIPE ignored")
def _():
    end_after_line(ignore_sigpipe)


@e2e.case("FC-098 the same when the reader never reads, long before a report is due")
def _():
    for setup in (None, ignore_sigpipe):
        process = e2e.start_symtop("-b", "-d", "600", setup=setup)
        process.stdout.close()
        process.stdout = None
        check_quiet_end(process, "-d 600 | true")


@e2e.case("FC-098 a pipeline of a shell: | head -1, | true")
def _():
    bash = e2e.need_tool("bash")
    for script in ("$S -b -d 0.1 | head -1 >/dev/null", "$S -b -d 0.1 | true",
                   "trap '' PIPE; $S -b -d 0.1 | head -1 >/dev/null"):
        result = e2e.finish(e2e.start(bash, "-c", f"{script}; echo ${{PIPESTATUS[0]}}",
                                      env={"S": e2e.SYMTOP}, stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE))
        e2e.check(result.out == "141\n" and result.err == "", result)


# ---- FC-099 ----

def formats():
    """All that --format takes. Something runs meanwhile: an empty report may have no bytes."""
    e2e.start(e2e.build("spin.c"), "60")
    result = e2e.symtop("--format", "nonesuch")
    found = re.search(r"there are (.*)", result.err)
    e2e.check(result.status == 2 and found, result)
    return found[1].split(", ")


def check_full(result, reason="No space left on device"):
    e2e.check(result.status == 1, result)
    e2e.check(reason in result.err, result)
    e2e.check(len(result.err.splitlines()) == 1, result)


@e2e.case("FC-099 stdout is full: a message and status 1")
def _():
    for output_format in formats():
        with open("/dev/full", "wb") as full:
            check_full(e2e.symtop("-b", "-d", "0.2", "-n", "1", "--format", output_format,
                                  stdout=full))


@e2e.case("FC-099 -o /dev/full: a message and status 1; the device stays")
def _():
    for output_format in formats():
        check_full(e2e.symtop("-d", "0.2", "-n", "1", "--format", output_format,
                              "-o", "/dev/full"))
    e2e.check(os.stat("/dev/full").st_rdev == os.makedev(1, 7))


@e2e.case("FC-099 help, version and event list to a full disk: status 1")
def _():
    for option in ("--help", "--version"):
        with open("/dev/full", "wb") as full:
            result = e2e.symtop(option, stdout=full)
        e2e.check(result.status == 1 and result.err, result)


def folder_with_old(name):
    folder = e2e.temporary(name)
    os.mkdir(folder)
    path = os.path.join(folder, "report")
    with open(path, "w", encoding="ascii") as file:
        file.write("old\n")
    return folder, path


def check_old_is_kept(folder, path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    e2e.check(text == "old\n", "the old file is gone", text[:300])
    e2e.check(os.listdir(folder) == ["report"], os.listdir(folder))


def limit_files():
    # Less than ulimit -f 1: also what is compressed is longer.
    resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))


@e2e.case("FC-099 file size limit (ulimit -f): a message, status 1, the old file is kept")
def _():
    folder, path = folder_with_old("limited")
    for output_format in formats():
        check_full(e2e.symtop("-d", "0.2", "-n", "1", "--format", output_format, "-o", path,
                              setup=limit_files), "File too large")
        check_old_is_kept(folder, path)
        with open(e2e.temporary("plain"), "wb") as file:
            check_full(e2e.symtop("-d", "0.2", "-n", "1", "--format", output_format,
                                  stdout=file, setup=limit_files), "File too large")


@e2e.case("FC-099 file system becomes full: a message, status 1, the old file is kept")
def _():
    e2e.need_root()
    mount = e2e.temporary("small")
    os.mkdir(mount)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", mount],
                      check=False, stderr=subprocess.DEVNULL).returncode:
        raise e2e.Skip("cannot mount a tmpfs")
    e2e.at_end(lambda: subprocess.run(["umount", mount], check=True))
    folder, path = folder_with_old("small/folder")
    for output_format in ("text", "json"):
        check_full(e2e.symtop("-d", "0.1", "-v", "--format", output_format, "-o", path))
        check_old_is_kept(folder, path)


@e2e.case("FC-099 a good run replaces the old file at its end, with ordinary permissions")
def _():
    folder, path = folder_with_old("good")
    process = e2e.start_symtop("-d", "0.2", "-n", "4", "--format", "json", "-o", path,
                               setup=lambda: os.umask(0o022))
    e2e.check(e2e.wait_for(lambda: len(os.listdir(folder)) == 2), "no temporary file")
    with open(path, encoding="ascii") as file:
        e2e.check(file.read() == "old\n", "the old file went before the end")
    result = e2e.finish(process)
    e2e.check(result.status == 0 and result.out == "" and result.err == "", result)
    with open(path, "rb") as file:
        e2e.check(len([json.loads(line) for line in file]) == 4)
    e2e.check(os.stat(path).st_mode & 0o7777 == 0o644, oct(os.stat(path).st_mode))
    e2e.check(os.listdir(folder) == ["report"], os.listdir(folder))


@e2e.case("FC-099 -o into a folder that does not exist or cannot be written: named, status 1")
def _():
    path = e2e.temporary("nowhere/report")
    result = e2e.symtop("-d", "0.2", "-n", "1", "-o", path)
    e2e.check(result.status == 1 and path in result.err and
              "No such file or directory" in result.err, result)


@e2e.case("FC-099 stdout is closed: a message, status 1; with -o it does not matter")
def _():
    result = e2e.symtop("-b", "-n", "1", "-d", "0.2", setup=lambda: os.close(1))
    e2e.check(result.status == 1 and "stdout is closed" in result.err, result)
    path = e2e.temporary("with-closed-stdout")
    result = e2e.symtop("-b", "-n", "1", "-d", "0.2", "-o", path, setup=lambda: os.close(1))
    e2e.check(result.status == 0 and result.err == "", result)
    with open(path, encoding="utf-8") as file:
        e2e.check(file.read().startswith("# symtop"))


@e2e.case("batch: all standard descriptors closed: nothing is written to a wrong file")
def _():
    path = e2e.temporary("all-closed")

    def close_all():
        for fd in range(3):
            os.close(fd)

    result = e2e.symtop("-b", "-n", "1", "-d", "0.2", "--format", "json", "-o", path,
                        setup=close_all)
    e2e.check(result.status == 0, result)
    with open(path, "rb") as file:
        e2e.check(len([json.loads(line) for line in file]) == 1)


# ---- how long, how often ----

@e2e.case("batch: -n N gives N reports, -d their distance")
def _():
    reports = e2e.reports("-n", "3", "-d", "0.5")
    e2e.check([r["sequence"] for r in reports] == [1, 2, 3], [r["sequence"] for r in reports])
    for report in reports:
        e2e.check(report["refresh_s"] == 0.5, report["refresh_s"])
        e2e.check(0.25 < report["window_s"] < 2 * e2e.SLOW, report["window_s"])
    distance = reports[2]["elapsed_s"] - reports[1]["elapsed_s"]
    e2e.check(0.25 < distance < 2 * e2e.SLOW, distance)


@e2e.case("batch: --duration alone gives one report of all of it")
def _():
    begin = time.monotonic()
    reports = e2e.reports("--duration", "1")
    seconds = time.monotonic() - begin
    e2e.check(len(reports) == 1, len(reports))
    e2e.check(0.8 < reports[0]["window_s"] < 3 * e2e.SLOW, reports[0]["window_s"])
    e2e.check(1 <= seconds < 5 * e2e.SLOW, seconds)


@e2e.case("batch: --duration with -d gives a report each, and ends in time")
def _():
    reports = e2e.reports("--duration", "1.5", "-d", "0.5")
    e2e.check(2 <= len(reports) <= 4, len(reports))
    whole = sum(report["window_s"] for report in reports)
    e2e.check(1 < whole < 4 * e2e.SLOW, whole)


@e2e.case("batch: a wrong option is named and has status 2")
def _():
    for args in (["-n", "0"], ["-d", "0.01"], ["-d", "nan"], ["--duration", "-1"],
                 ["--format", "xml"], ["--no-such"], ["-o"], ["-K", "-U"]):
        result = e2e.symtop("-b", *args)
        e2e.check(result.status == 2 and result.out == "", result)
        e2e.check(result.err.startswith("symtop: "), result)


# ---- signals ----

def start_and_wait(*args):
    """Start it and wait until its events are open."""
    process = e2e.start_symtop("-b", *args)
    e2e.check(e2e.wait_for(lambda: has_events(process.pid)), "events are not opened")
    return process


def has_events(pid):
    try:
        links = [os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd")]
    except OSError:
        return False
    return any("perf_event" in link for link in links)


@e2e.case("batch: SIGINT after the first report: the rest is reported, status 0")
def _():
    process = e2e.start_symtop("-b", "--format", "json", "-d", "0.3")
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    result = e2e.finish(process)
    e2e.check(result.status == 0 and result.err == "", result)
    e2e.parse(result)


@e2e.case("batch: SIGINT before the first report: status 130")
def _():
    for args in (["-d", "600"], ["-d", "600", "-n", "3"]):
        process = start_and_wait(*args)
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        result = e2e.finish(process)
        e2e.check(result.status == 130 and result.err == "", result)


@e2e.case("batch: SIGTERM, SIGHUP and SIGQUIT end it as they end any program, no late report")
def _():
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        process = e2e.start_symtop("-b", "--format", "json", "-d", "0.3",
                                   setup=lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 0)))
        process.stdout.readline()
        process.send_signal(number)
        result = e2e.finish(process)
        e2e.check(result.status == 128 + number and result.err == "", result)
        e2e.parse(result)


@e2e.case("batch: SIGTERM ends it also while nobody reads the pipe that it writes to")
def _():
    for number in (signal.SIGTERM, signal.SIGHUP):
        process = e2e.start_symtop("-b", "--format", "json", "-d", "0.1", "-s", "pid,tid,symbol")
        e2e.check(e2e.wait_for(lambda: e2e.is_pipe_full(process.stdout), 30),
                  "the pipe never gets full")
        process.send_signal(number)
        try:
            code = process.wait(5 * e2e.SLOW)
        except subprocess.TimeoutExpired as error:
            raise e2e.Failed("it waits for the reader") from error
        e2e.check(code == -number, code)


@e2e.case("batch: SIGINT while nobody reads: the report is finished when somebody does")
def _():
    process = e2e.start_symtop("-b", "--format", "json", "-d", "0.1", "-s", "pid,tid,symbol")
    e2e.check(e2e.wait_for(lambda: e2e.is_pipe_full(process.stdout), 30),
              "the pipe never gets full")
    process.send_signal(signal.SIGINT)
    time.sleep(0.3)
    e2e.check(process.poll() is None, process.returncode)
    result = e2e.finish(process)
    e2e.check(result.status == 0, result.status, result.err)
    e2e.check(e2e.parse(result), "no report")


@e2e.case("batch: a signal at any moment of the start ends it")
def _():
    for i in range(10):
        process = e2e.start_symtop("-b", "-d", "600")
        time.sleep(0.003 * i)
        process.send_signal(signal.SIGTERM)
        result = e2e.finish(process)
        e2e.check(result.status == 143 and result.out == "", f"after {3 * i} ms", result)


# ---- what must not matter ----

@e2e.case("batch: stdin closed, empty or full of keys does not matter")
def _():
    def close_stdin():
        os.close(0)

    with open("/dev/zero", "rb") as zero:
        for arguments in ({"setup": close_stdin}, {"stdin": subprocess.DEVNULL}, {"stdin": zero}):
            result = e2e.symtop("-b", "-n", "2", "-d", "0.2", **arguments)
            e2e.check(result.status == 0 and result.err == "", arguments, result)
            e2e.check(result.out.count("# symtop") == 2, result)


TERMS = (None, "", "nonesuch", "dumb")


@e2e.case("FC-001 batch mode works whatever TERM says, without an escape byte")
def _():
    for term in TERMS:
        for args in (["-b"], []):
            result = e2e.symtop(*args, "-n", "1", "-d", "0.2", env={"TERM": term})
            e2e.check(result.status == 0 and result.err == "", f"TERM={term}", result)
            e2e.check(result.out.startswith("# symtop") and b"\x1b" not in result.raw_out,
                      f"TERM={term}", result)


@e2e.case("FC-001 batch mode never looks at terminfo")
def _():
    strace = e2e.need_tool("strace")
    if e2e.SANITIZED:
        raise e2e.Skip("sanitizers and strace exclude each other")
    log = e2e.temporary("strace")
    result = e2e.finish(e2e.start(strace, "-f", "-o", log, "-e", "trace=file", e2e.SYMTOP, "-b",
                                  "-n", "1", "-d", "0.2", env={"TERM": "xterm"},
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE))
    if result.status and "ptrace" in result.err:
        raise e2e.Skip("ptrace(2) is refused here")
    e2e.check(result.status == 0, result)
    with open(log, encoding="utf-8", errors="replace") as file:
        lines = [line for line in file if "terminfo" in line]
    e2e.check(not lines, *lines)


if __name__ == "__main__":
    sys.exit(e2e.run(e2e.need_events))

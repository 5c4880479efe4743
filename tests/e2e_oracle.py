# SPDX-License-Identifier: GPL-2.0-or-later
"""What perf report says of a file, held against what symtop -i says of it, row by row."""

import collections
import functools
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
import e2e_lib as e2e  # pylint: disable=wrong-import-position

NO_SYMBOL = "[no symbol]"
KERNEL = "[kernel]"


def perf(*args, status=0, **arguments):
    """Run perf; its standard output."""
    argv = (e2e.need_tool("perf"), "--buildid-dir", e2e.temporary("no-cache"), *map(str, args))
    result = subprocess.run(argv, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                            timeout=120 * e2e.SLOW, **arguments)
    if result.returncode != status:
        raise e2e.Skip(f"perf {args[0]}: {result.stderr.decode(errors='replace').strip()[:200]}")
    return result.stdout


def demangled(text):
    """perf leaves the parameters away."""
    return subprocess.run(["c++filt"], input=text, stdout=subprocess.PIPE, check=True).stdout


def perf_rows(data):
    """(comm, object, symbol) to samples, as perf report has them."""
    rows = collections.Counter()
    text = perf("report", "-i", data, "--stdio", "--no-children", "-g", "none", "--no-demangle",
                "-F", "overhead,sample,comm,dso,sym", "-t", "\t")
    for line in demangled(text).decode(errors="replace").splitlines():
        fields = [field.strip() for field in line.split("\t")]
        if len(fields) < 5 or not fields[1].isdigit():
            continue
        match = re.match(r"\[(.)\] (.*)$", fields[4])
        level, symbol = match.groups() if match else ("", fields[4])
        name = KERNEL if level == "k" else fields[3]
        if re.match(r"0x[0-9a-f]+$", symbol):
            symbol = NO_SYMBOL
        if name == "[unknown]":
            symbol = "[unknown]"
        symbol = re.sub(r"(?<=.)@+[A-Z]+_[A-Za-z0-9_.]+$", "", symbol)
        name = re.sub(r"^(\[JIT\]) tid (\d+)$", r"\1 \2", name)
        comm = "[exited]" if fields[2] == ":-1" else re.sub(r"^:\d+$", "", fields[2])
        rows[comm, name, symbol] += int(fields[1])
    return rows


def own_rows(report):
    rows = collections.Counter()
    for row in report["rows"]:
        # A module's object is its name for both.
        name = KERNEL if row["level"] == "kernel" else row["object"]
        rows[row["comm"].strip(), name.strip(), row["symbol"].strip()] += row["samples"]
    return rows


class Names:
    """The symbols of a file, or of the kernel: names to addresses."""

    def __init__(self, path):
        self.own, self.debug = collections.defaultdict(set), collections.defaultdict(set)
        if path == KERNEL:
            with open("/proc/kallsyms", "rb") as file:
                self._add(self.own, file.read())
            return
        for option in ("--defined-only", "-D"):
            self._add(self.own, self._output("nm", option, path))
        match = re.search(rb"Build ID: (..)(\S+)", self._output("readelf", "-n", path))
        if match:
            first, rest = (part.decode() for part in match.groups())
            self._add(self.debug, self._output("nm",
                                               f"/usr/lib/debug/.build-id/{first}/{rest}.debug"))

    @staticmethod
    def _output(*argv):
        return subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, check=False).stdout

    @staticmethod
    def _add(names, text):
        for line in demangled(text).decode(errors="replace").splitlines():
            match = re.match(r"([0-9a-f]+) \S ([^\t]+)", line)
            if match:
                names[re.sub(r"(?<=.)@.*", "", match.group(2))].add(int(match.group(1), 16))

    def are_one(self, left, right):
        addresses = [self.own.get(name, set()) | self.debug.get(name, set())
                     for name in (left, right)]
        return bool(addresses[0] & addresses[1])

    def is_debug(self, symbol):
        return symbol in self.debug and symbol not in self.own


@functools.lru_cache(maxsize=None)
def names_of(path):
    """Each file once."""
    return Names(path)


def why_differ(theirs, ours, name, names):
    """Why perf says one and symtop the other, or None; in two goes, the certain first."""
    if names.are_one(theirs, ours):
        return "alias"
    if ours.endswith(("@plt", "[plt]")) and (theirs in ("_init", NO_SYMBOL) or
                                             theirs.endswith("@plt")):
        return "perf has no names for stubs, or numbers them"
    if name == "[vdso]" and theirs == NO_SYMBOL:
        return "perf has the vdso in its cache only"
    return None


def match_rows(only_theirs, only_ours, reason):
    """Take away what reason(theirs, ours) explains; (comm, object, theirs, ours, samples, why)."""
    found = []
    for key in sorted(only_theirs):
        for other in sorted(only_ours):
            nr = min(only_theirs[key], only_ours[other])
            why = nr and key[0] == other[0] and reason(key, other)
            if why:
                found.append((*key, other[2], nr, why))
                only_theirs[key] -= nr
                only_ours[other] -= nr
    return found


def explain(theirs, ours, report):
    """Differences as (comm, object, perf's symbol, ours, samples, why or None)."""
    only_theirs, only_ours = theirs - ours, ours - theirs
    paths = {row["object"]: row["path"] for row in report["rows"]} | {KERNEL: KERNEL}

    def certain(key, other):
        if key[1].startswith("memfd:") and other[1].startswith("[JIT] "):
            return "code of a memfd is generated code"
        if key[1] != other[1]:
            return None
        return why_differ(key[2], other[2], key[1], names_of(paths.get(key[1], key[1])))

    def debug_only(key, other):
        if key[1] == other[1] and names_of(paths.get(key[1], key[1])).is_debug(key[2]):
            return "only the debug file has it"
        return None

    differences = match_rows(only_theirs, only_ours, certain)
    differences += match_rows(only_theirs, only_ours, debug_only)
    differences += [(*key, "", nr, None) for key, nr in only_theirs.items() if nr]
    differences += [(*key[:2], "", key[2], nr, None) for key, nr in only_ours.items() if nr]
    return differences


def nr_samples(data):
    """Of the first event, as perf counts them."""
    return int(re.search(rb"^\s+SAMPLE events:\s+(\d+)", perf("report", "-i", data, "--stats"),
                         re.M).group(1))


def compare(data, *args):
    """Hold -i DATA against perf report; the report."""
    report, = e2e.reports("-i", data, "--idle", *args, limit=60)
    theirs, ours = perf_rows(data), own_rows(report)
    # Control characters in names are shown in another way, and take perf's lines apart.
    odd = {key[0] for key in ours if any("\\x" in part for part in key)} | {
        key[0] for key in theirs if not all(part.isprintable() and "\ufffd" not in part
                                            for part in key)}
    for rows in (theirs, ours):
        for key in [key for key in rows if key[0] in odd]:
            del rows[key]
    differences = explain(theirs, ours, report)
    reasons = collections.Counter()
    for *_, nr, why in differences:
        reasons[why or "NOT EXPLAINED"] += nr
    print(f"# {os.path.basename(data)}: {report['samples']} samples; perf {len(theirs)} rows, symtop "
          f"{len(ours)}; {sum(reasons.values())} samples differ in name: {dict(reasons)}")
    e2e.check(nr_samples(data) == report["samples"] == sum(own_rows(report).values()), "sums",
              nr_samples(data), report["samples"], sum(own_rows(report).values()), report["notes"])
    left = [difference for difference in differences if not difference[-1]]
    e2e.check(not left, "rows that differ from perf report's", *left)
    return report

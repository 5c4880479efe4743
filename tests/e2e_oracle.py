# SPDX-License-Identifier: GPL-2.0-or-later
"""What perf report says of a file, held against what symtop -i says of it, row by row."""

import bisect
import collections
import functools
import os
import re
import subprocess
import sys
import time

sys.dont_write_bytecode = True
import e2e_lib as e2e  # pylint: disable=wrong-import-position

NO_SYMBOL = "[no symbol]"
NO_MAP = "[unknown]"
KERNEL = "[kernel]"
GUESSED = "the task's records were lost, perf guesses"

Row = collections.namedtuple("Row", "event comm object symbol")


def perf(*args, status=0, **arguments):
    """Run perf; its standard output."""
    argv = (e2e.need_tool("perf"), "--buildid-dir", e2e.temporary("no-cache"), *map(str, args))
    result = subprocess.run(argv, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                            timeout=120 * e2e.SLOW, **arguments)
    if result.returncode != status:
        raise e2e.Skip(f"perf {args[0]}: {result.stderr.decode(errors='replace').strip()[:200]}")
    return result.stdout


# ---- rows ----

def demangled(text):
    """As symtop does it: std::ostream stays so."""
    return subprocess.run(["c++filt", "-i"], input=text, stdout=subprocess.PIPE, check=True).stdout


def perf_row(event, fields):
    """A line of perf report in symtop's words."""
    match = re.match(r"\[(.)\] (.*)$", fields[4])
    level, symbol = match.groups() if match else ("", fields[4])
    name = KERNEL if level == "k" else fields[3]
    if re.match(r"0x[0-9a-f]+$", symbol):
        symbol = NO_SYMBOL
    if name == "[unknown]":
        symbol = NO_MAP
    symbol = re.sub(r"(?<=.)@+[A-Z]+_[A-Za-z0-9_.]+$", "", symbol)
    name = re.sub(r"^(\[JIT\]) tid (\d+)$", r"\1 \2", name)
    comm = "[exited]" if fields[2] == ":-1" else re.sub(r"^:\d+$", "", fields[2])
    return Row(event, comm, name, symbol)


def perf_rows(data, by_event=False):
    """Row to samples, as perf report has them; event is "" unless by_event."""
    rows = collections.Counter()
    # Without a width, names of tasks are cut to the longest that a task had in the end.
    text = perf("report", "-i", data, "--stdio", "--no-children", "-g", "none", "--no-demangle",
                "-F", "overhead,sample,comm,dso,sym", "-w", "0,0,32,256", "-t", "\t")
    event = ""
    for line in demangled(text).decode(errors="replace").splitlines():
        match = re.match(r"# Samples: .* of events? '(.*)'$", line)
        if match and by_event:
            event = match.group(1)
        fields = [field.strip() for field in line.split("\t")]
        if len(fields) >= 5 and fields[1].isdigit():
            rows[perf_row(event, fields)] += int(fields[1])
    return rows


def own_rows(report):
    rows = collections.Counter()
    for row in report["rows"]:
        # A module's object is its name for both.
        name = KERNEL if row["level"] == "kernel" else row["object"]
        rows[Row(row["event"], row["comm"].strip(), name.strip(),
                 row["symbol"].strip())] += row["samples"]
    return rows


# ---- why two rows may be the same code ----

class Names:
    """The symbols of a file, or of the kernel: names to [start, end) ranges."""

    def __init__(self, path):
        self.own, self.debug = {}, {}
        if path == KERNEL:
            with open("/proc/kallsyms", "rb") as file:
                self.own = self._ranges(file.read())
            return
        self.own = self._ranges(*(self._output("nm", "-S", option, path)
                                  for option in ("--defined-only", "-D")))
        match = re.search(rb"Build ID: (..)(\S+)", self._output("readelf", "-n", path))
        if match:
            first, rest = (part.decode() for part in match.groups())
            self.debug = self._ranges(self._output(
                "nm", "-S", f"/usr/lib/debug/.build-id/{first}/{rest}.debug"))

    @staticmethod
    def _output(*argv):
        return subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, check=False).stdout

    @staticmethod
    def _ranges(*texts):
        symbols = []
        for line in demangled(b"".join(texts)).decode(errors="replace").splitlines():
            # "A" are no addresses, but versions.
            match = re.match(r"([0-9a-f]+)(?: ([0-9a-f]{16}))? [^Aa\s] ([^\t]+)", line)
            if match:
                start, size, name = match.groups()
                symbols.append((int(start, 16), int(size or "0", 16),
                                re.sub(r"(?<=.)@.*", "", name)))
        symbols.sort()
        ranges = collections.defaultdict(set)
        after = 1 << 64
        for i in range(len(symbols) - 1, -1, -1):
            start, size, name = symbols[i]
            if i + 1 < len(symbols) and symbols[i + 1][0] > start:
                after = symbols[i + 1][0]
            ranges[name].add((start, start + size if size else after))
        return dict(ranges)

    def are_one(self, left, right):
        """Both begin at the same address."""
        starts = [{start for names in (self.own, self.debug) for start, _ in names.get(name, ())}
                  for name in (left, right)]
        return bool(starts[0] & starts[1])

    @functools.cached_property
    def _named(self):
        """Where the file itself has names: ranges that do not touch, by address."""
        merged = []
        for start, end in sorted(set().union(*self.own.values())):
            if merged and start <= merged[-1][1]:
                merged[-1][1] = max(merged[-1][1], end)
            else:
                merged.append([start, end])
        return merged

    def _has_name_throughout(self, start, end):
        i = bisect.bisect(self._named, [start, 1 << 64]) - 1
        return i >= 0 and self._named[i][1] >= end

    def is_debug(self, theirs, ours):
        """Only the debug file knows theirs, and ours is what the file itself has there."""
        if theirs not in self.debug or theirs in self.own:
            return False
        if ours == NO_SYMBOL:
            return any(not self._has_name_throughout(*place) for place in self.debug[theirs])
        return any(start < own_end and own_start < end for start, end in self.debug[theirs]
                   for own_start, own_end in self.own.get(ours, ()))


@functools.lru_cache(maxsize=None)
def _names_as_of(path, _changed):
    return Names(path)


def names_of(path):
    """Each file is read once."""
    try:
        return _names_as_of(path, os.stat(path).st_mtime)
    except OSError:
        return _names_as_of(path, 0)


def why_other_name(theirs, ours, names):
    """Why perf has another name for code of the same object, or None."""
    if names.are_one(theirs.symbol, ours.symbol):
        return "alias"
    if ours.symbol.endswith(("@plt", "[plt]")) and (theirs.symbol in ("_init", NO_SYMBOL) or
                                                    theirs.symbol.endswith("@plt")):
        return "perf has no names for stubs, or numbers them"
    if theirs.object == "[vdso]" and theirs.symbol == NO_SYMBOL:
        return "perf has the vdso in its cache only"
    if names.is_debug(theirs.symbol, ours.symbol):
        return "only the debug file has it"
    return None


class Matching:
    """Pairs of perf's rows and ours that can be of the same samples: as many as there can
    be, equal rows first. It is a flow: what has no name for both may be one function of
    perf's, and a stub of ours another, so a pair is taken apart where that lets more fit."""

    def __init__(self, theirs, ours, reason, others=()):
        """reason(perf's row, ours) says why they are one; so far as comm is the same, or it
        is one of others for perf and "" for us."""
        self.only_theirs, self.only_ours = theirs - ours, ours - theirs
        self.pairs = collections.Counter({(row, row): nr for row, nr in (theirs & ours).items()})
        self._partners = collections.defaultdict(set)
        for row in theirs & ours:
            self._partners[row].add(row)
        self._candidates = collections.defaultdict(list)
        for row in sorted(ours):
            for comm in {row.comm} if row.comm else {"", *others}:
                self._candidates[row.event, comm].append(row)
        self._reason = functools.lru_cache(maxsize=None)(reason)
        for row in sorted(self.only_theirs):
            while self.only_theirs[row] and (path := self._find_path(row)):
                self._add(path)

    def _find_path(self, start):
        """[perf's, ours, perf's, ours ...]: first and last have samples left, the others can
        change partners."""
        paths, seen = collections.deque([[start]]), {start}
        while paths:
            path = paths.popleft()
            for ours in self._candidates[path[-1][:2]]:
                if ("ours", ours) in seen or not (
                        ours == path[-1] or self._reason(path[-1], ours)):
                    continue
                seen.add(("ours", ours))
                if self.only_ours[ours]:
                    return path + [ours]
                for theirs in sorted(self._partners[ours]):
                    if theirs not in seen and self.pairs[theirs, ours]:
                        seen.add(theirs)
                        paths.append(path + [ours, theirs])
        return None

    def _add(self, path):
        nr = min(self.only_theirs[path[0]], self.only_ours[path[-1]],
                 *(self.pairs[path[i + 1], path[i]] for i in range(1, len(path) - 1, 2)))
        self.only_theirs[path[0]] -= nr
        self.only_ours[path[-1]] -= nr
        for i in range(0, len(path), 2):
            self.pairs[path[i], path[i + 1]] += nr
            self._partners[path[i + 1]].add(path[i])
            if i:
                self.pairs[path[i], path[i - 1]] -= nr

    def differences(self):
        """(perf's row, ours, samples, why); what is not explained has one row."""
        found = [(theirs, ours, nr, self._reason(theirs, ours))
                 for (theirs, ours), nr in self.pairs.items() if nr and theirs != ours]
        found += [(row, None, nr, None) for row, nr in self.only_theirs.items() if nr]
        return found + [(None, row, nr, None) for row, nr in self.only_ours.items() if nr]


def guesses(data):
    """comm to samples that perf report names though the task's records were lost. Threads whose
    beginning was lost have no name (perf script says so) until one comes, which perf report
    takes for what it had been all the time. And who was forked while perf read /proc is
    in the file twice; when the fork comes, what was read is of somebody else, for us, and
    for perf only of the first thread."""
    found, nameless = collections.Counter(), collections.Counter()
    was_read, is_forked = set(), set()
    for line in perf("script", "-i", data, "--show-task-events",
                     "-F", "comm,pid,tid,time,event").decode(errors="replace").splitlines():
        match = re.match(r"\s*(.*?)\s+(-?\d+)/(-?\d+) +([0-9.]+): +(.*)", line)
        if not match:
            continue
        comm, pid, tid, moment, what = match.groups()
        fork = re.match(r"PERF_RECORD_FORK\((\d+):(\d+)\)", what)
        if fork and float(moment) == 0:
            was_read.add(fork[1])
        elif fork and fork[1] == fork[2] and fork[1] in was_read:
            is_forked.add(fork[1])
        elif not what.startswith("PERF_RECORD_") and pid in is_forked:
            found[comm] += 1
        if re.match(r":\d+$", comm):
            nameless[tid] += not what.startswith("PERF_RECORD_")
        elif tid in nameless:
            found[comm] += nameless.pop(tid)
    return found


def is_replaced(path, report, data):
    """The file was written to since the recording began."""
    began = os.stat(data).st_mtime - report["elapsed_s"]
    try:
        return os.stat(path).st_mtime > began
    except OSError:
        return False


def explain(theirs, ours, report, data):
    """The differences, each with its reason or None."""
    paths = {row["object"]: row["path"] for row in report["rows"]} | {KERNEL: KERNEL}
    guessed = collections.Counter()
    says_other = any("not those that were recorded" in note for note in report["notes"])

    def same_task(left, right):
        if left.object.startswith("memfd:") and right.object.startswith("[JIT] "):
            return "code of a memfd is generated code" if left.symbol == right.symbol else None
        if left.object != right.object:
            return None
        path = paths.get(left.object, left.object)
        if says_other and right.symbol == NO_SYMBOL and is_replaced(path, report, data):
            return "perf has names of a file that is not the one that was recorded"
        return why_other_name(left, right, names_of(path))

    def reason(left, right):
        if left.comm == right.comm and right.symbol == NO_MAP and left.comm in guessed:
            return GUESSED
        if left.comm == right.comm:
            return same_task(left, right)
        if right.symbol == NO_MAP or left._replace(comm="") == right or same_task(left, right):
            return GUESSED
        return None

    matching = Matching(theirs, ours, reason)
    if not any(nr and (not row.comm or row.symbol == NO_MAP)
               for row, nr in matching.only_ours.items()):
        return matching.differences()
    guessed.update(guesses(data))
    differences = Matching(theirs, ours, reason, set(guessed)).differences()
    used = collections.Counter()
    for left, _, nr, why in differences:
        used.update({left.comm: nr} if why == GUESSED else {})
    return differences if used <= guessed else matching.differences()


# ---- the comparison ----

def nr_samples(data):
    """Of all events, as perf counts them; 0 when it cannot read them."""
    match = re.search(rb"^\s+SAMPLE events:\s+(\d+)", perf("report", "-i", data, "--stats"), re.M)
    return int(match.group(1)) if match else 0


def drop_odd(*tables):
    """Control characters in names are shown in another way, and take perf's lines apart."""
    odd = {row.comm for rows in tables for row in rows
           if any("\\x" in part or not part.isprintable() or "\ufffd" in part for part in row)}
    return [collections.Counter({row: nr for row, nr in rows.items() if row.comm not in odd})
            for rows in tables]


def figures(data, tables, differences):
    """The line of the table for this file."""
    # A caller that was never sampled itself is a row, too.
    theirs, ours = ({row: nr for row, nr in rows.items() if nr} for rows in tables)
    total = max(sum(ours.values()), 1)
    reasons = collections.Counter()
    for *_, nr, why in differences:
        reasons[why or "NOT EXPLAINED"] += nr

    def share(rows, symbol):
        return f"{100 * sum(nr for row, nr in rows.items() if row.symbol == symbol) / total:.2f}%"

    nr_equal = sum(theirs.get(row) == nr for row, nr in ours.items())
    return (f"# {os.path.basename(data)}: rows: perf {len(theirs)}, symtop {len(ours)}, equal "
            f"{nr_equal}; samples: {total}, in other rows {sum(reasons.values())} "
            f"{dict(reasons.most_common())}; unresolved: perf {share(theirs, NO_MAP)}, symtop "
            f"{share(ours, NO_MAP)}; without a name: perf {share(theirs, NO_SYMBOL)}, symtop "
            f"{share(ours, NO_SYMBOL)}")


def is_changed(row, report, since):
    """The file with its names came, went or was written to since then."""
    paths = {row["object"]: row["path"] for row in report["rows"]}
    path = re.sub(r"^\[JIT\] (\d+)$", r"/tmp/perf-\1.map", row.object)
    path = paths.get(path, path)
    try:
        return os.stat(path).st_mtime >= since
    except OSError:
        return path.startswith("/")


def compare_once(data, args, by_event):
    """(the report, what is not explained), and one line on stdout."""
    report, = e2e.reports("-i", data, "--idle", *args, limit=60)
    nr_own = sum(own_rows(report).values())
    tables = drop_odd(perf_rows(data, by_event), own_rows(report))
    differences = explain(*tables, report, data)
    print(figures(data, tables, differences), flush=True)
    e2e.check(nr_samples(data) == report["samples"] == nr_own, "sums", nr_samples(data),
              report["samples"], nr_own, report["notes"])
    return report, [difference for difference in differences if not difference[-1]]


def compare(data, *args, by_event=False):
    """Hold -i DATA against perf report; the report. The file is the same for both, but not
    always the objects it tells of: what changed between the two is asked for again."""
    if by_event:
        args += ("-s", "event,comm,dso,symbol")
    for _ in range(4):
        since = time.time() - 1
        report, left = compare_once(data, args, by_event)
        changed = {row.object for pair in left for row in pair[:2]
                   if row and is_changed(row, report, since)}
        if not changed:
            break
        print(f"# changed meanwhile, once more: {sorted(changed)}", flush=True)
    e2e.check(not left, "rows that differ from perf report's", *left)
    return report

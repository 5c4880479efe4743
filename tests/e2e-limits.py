#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Limits of the system: descriptors, locked memory, sizes of rings; and what symtop
itself uses."""

import os
import re
import resource
import sys
import time

sys.dont_write_bytecode = True
import e2e_lib as e2e  # pylint: disable=wrong-import-position

PAGE = os.sysconf("SC_PAGE_SIZE")
CAP_SYS_RESOURCE = 24


# ---- FC-114 ----

def limit_files(soft, hard):
    def setup():
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return setup


def may_raise_limits():
    with open("/proc/self/status", encoding="ascii", errors="replace") as file:
        mask = int(re.search(r"^CapEff:\s*([0-9a-f]+)", file.read(), re.M)[1], 16)
    return mask >> CAP_SYS_RESOURCE & 1


@e2e.case("FC-114 a soft limit of 8 descriptors is raised to the hard one")
def _():
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    for user in [None] + [e2e.NOBODY] * e2e.is_root():
        e2e.reports("-n", "1", "-d", "0.2", setup=limit_files(8, hard), user=user)


@e2e.case("FC-114 a hard limit that is too low: it works, or says how many are missing")
def _():
    for number in range(4, 16):
        result = e2e.symtop("-b", "-n", "1", "-d", "0.1", "--format", "json",
                            setup=limit_files(number, number))
        if result.status == 0:
            e2e.check(e2e.parse(result), result)
            continue
        e2e.check(result.status == 1 and result.out == "", f"ulimit -n {number}", result)
        # The C library itself may be the first that has no descriptor.
        if "error while loading shared libraries" in result.err:
            continue
        e2e.check("Too many open files" in result.err, f"ulimit -n {number}", result)
        e2e.check(re.search(rf"\b{number}\b( descriptors)? are allowed", result.err) and
                  re.search(r"\d+ (more )?(descriptors )?are needed", result.err) and
                  "ulimit -n" in result.err, f"ulimit -n {number}", result)


@e2e.case("FC-114 a hard limit of 8 is raised too by who may do so")
def _():
    if not may_raise_limits():
        raise e2e.Skip("needs CAP_SYS_RESOURCE")
    e2e.reports("-n", "1", "-d", "0.2", setup=limit_files(8, 8))


# ---- FC-016, FC-017, FC-119 ----

def ring_sizes(pid):
    """Data pages of the mapped rings, the page of each ring's own left out."""
    with open(f"/proc/{pid}/maps", encoding="utf-8", errors="replace") as file:
        lines = [line.split() for line in file if "[perf_event]" in line]
    bounds = [line[0].split("-") for line in lines]
    return sorted((int(end, 16) - int(start, 16)) // PAGE - 1 for start, end in bounds)


def nr_events(pid):
    links = [os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd")]
    return sum("perf_event" in link for link in links)


def start_and_map(*args, **arguments):
    """Start it and wait for its first report: everything is mapped then."""
    process = e2e.start_symtop("-b", "--format", "json", *args, **arguments)
    line = process.stdout.readline()
    if not line:
        raise e2e.Failed(e2e.finish(process))
    return process, e2e.json.loads(line)


@e2e.case("FC-017 ring sizes that are no power of two pages are rounded up with a note")
def _():
    for text, pages, is_noted in (("1", 1, False), ("3", 4, True), ("5", 8, True),
                                  ("1000", 1024, True), (str(5 * PAGE) + "B", 8, True),
                                  (str(64 * PAGE // 1024) + "K", 64, False)):
        process, report = start_and_map("-d", "0.1", "-m", text)
        sizes = ring_sizes(process.pid)
        notes = " ".join(report["notes"])
        e2e.stop(process)
        if "instead of" in notes:
            continue  # less memory may be locked here
        e2e.check(pages in sizes, f"-m {text}", sizes)
        e2e.check(("rounded" in notes) == is_noted, f"-m {text}", notes)


@e2e.case("FC-017 ring sizes that make no sense are refused in a sentence")
def _():
    for text in ("0", "-1", "2147483648", "18446744073709551616", "abc", "", "16X", "4G"):
        result = e2e.symtop("-b", "-n", "1", "-m", text)
        e2e.check(result.status == 2 and result.out == "", result)
        e2e.check("--mmap-pages" in result.err and f"'{text}'" in result.err, result)
        e2e.check("Invalid argument" not in result.err, result)


def limit_locked():
    resource.setrlimit(resource.RLIMIT_MEMLOCK, (64 << 10, 64 << 10))


def start_limited(*args):
    """As an ordinary user that may sample the whole machine and lock little memory."""
    e2e.need_root()
    e2e.set_sysctl("kernel.perf_event_paranoid", 0)
    e2e.set_sysctl("kernel.perf_event_mlock_kb", 516)
    return start_and_map("-d", "0.3", *args, user=e2e.NOBODY, setup=limit_locked)


def check_smaller(process, report):
    """It runs with smaller rings and says what it has and why; no event is left over."""
    notes = [note for note in report["notes"] if "instead of" in note]
    e2e.check(len(notes) == 1, report["notes"])
    said = re.search(r"Rings of (\d+) \+ (\d+) KiB", notes[0])
    e2e.check(said, notes[0])
    e2e.check("perf_event_mlock_kb is 516" in notes[0] and
              "RLIMIT_MEMLOCK (ulimit -l) is 64 KiB" in notes[0], notes[0])
    sizes = ring_sizes(process.pid)
    told = {int(said[1]) * 1024 // PAGE, int(said[2]) * 1024 // PAGE}
    e2e.check(sizes and set(sizes) == told, sizes, notes[0])
    e2e.check(nr_events(process.pid) == len(sizes), nr_events(process.pid), sizes)


@e2e.case("FC-016 rings that may not be locked are made smaller, with a note of both limits")
def _():
    process, report = start_limited("-m", "4M")
    check_smaller(process, report)
    e2e.check(report["own_processes_only"] is False, report["notes"])


@e2e.case("FC-119 a second symtop of the same user gets smaller rings, the first is not disturbed")
def _():
    first, _ = start_limited()
    sizes = ring_sizes(first.pid)
    second, report = start_limited()
    check_smaller(second, report)
    e2e.check(ring_sizes(first.pid) == sizes, sizes, ring_sizes(first.pid))
    for _ in range(2):
        later = e2e.json.loads(first.stdout.readline())
        e2e.check(later["lost"] == 0 and later["lost_metadata"] == 0 and later["samples"] > 0,
                  later)
    e2e.stop(first, e2e.signal.SIGTERM)
    e2e.stop(second, e2e.signal.SIGTERM)
    # What they had is free again.
    third, report = start_limited()
    e2e.check(ring_sizes(third.pid) == sizes, sizes, ring_sizes(third.pid), report["notes"])


@e2e.case("FC-119 when not even the smallest rings can be had: the limits, status 1")
def _():
    e2e.need_root()
    e2e.set_sysctl("kernel.perf_event_paranoid", 0)
    e2e.set_sysctl("kernel.perf_event_mlock_kb", 0)
    result = e2e.symtop("-b", "-n", "1", "-d", "0.2", user=e2e.NOBODY, setup=lambda:
                        resource.setrlimit(resource.RLIMIT_MEMLOCK, (0, 0)))
    e2e.check(result.status == 1 and result.out == "", result)
    e2e.check("perf_event_mlock_kb is 0" in result.err and "RLIMIT_MEMLOCK" in result.err, result)
    e2e.check("Operation not permitted" in result.err, result)


# ---- FC-117 ----

def measure(*args):
    """The last reports of a run, and its true CPU share and memory meanwhile."""
    process, _ = start_and_map("-d", "1", *args)
    for _ in range(2):
        process.stdout.readline()  # names are loaded meanwhile
    begin, before = time.monotonic(), e2e.cpu_seconds(process.pid)
    reports = [e2e.json.loads(process.stdout.readline()) for _ in range(3)]
    share = (e2e.cpu_seconds(process.pid) - before) / (time.monotonic() - begin)
    with open(f"/proc/{process.pid}/status", encoding="utf-8") as file:
        rss = int(re.search(r"^VmRSS:\s*(\d+) kB", file.read(), re.M)[1]) * 1024
    e2e.stop(process)
    return reports, share, rss


@e2e.case("FC-117 its own CPU and memory are small, and told as they are")
def _():
    reports, share, rss = measure()
    told = sum(report["self_cpu"] for report in reports) / len(reports)
    e2e.check(abs(told - share) < 0.05 + share / 2, f"told {told}, measured {share}")
    e2e.check(abs(reports[-1]["self_rss_bytes"] - rss) < 8 << 20, reports[-1]["self_rss_bytes"], rss)
    if not e2e.SANITIZED:
        # The machine may be busy with other things that it has to name.
        e2e.check(min(report["self_cpu"] for report in reports) < 0.25, told)
        e2e.check(rss < 60 << 20, rss)


@e2e.case("FC-117 under a flood of system calls it is not the hottest program, and is named")
def _():
    e2e.need_machine()
    flood = e2e.build("flood.c")
    for _ in range(os.cpu_count() or 1):
        e2e.start(flood, "60")
    reports, share, _ = measure()
    last = reports[-1]
    floods = e2e.share(last, comm="flood")
    own = sum(row["overhead"] for row in last["rows"] if row["comm"].startswith("symtop"))
    e2e.check(floods > 0, last["rows"][:10])
    if not e2e.SANITIZED:
        e2e.check(floods > own, floods, own)
        e2e.check(own < 0.25 and share < 0.25 * (os.cpu_count() or 1), own, share)


if __name__ == "__main__":
    sys.exit(e2e.run(e2e.need_events))

#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Events that cannot be opened: what symtop does without them, and what it says. Sandboxes
(recipe R1), machines without counters, limits of the rate, capabilities, ordinary users."""

import errno
import os
import re
import subprocess
import sys
import time

sys.dont_write_bytecode = True
import e2e_lib as e2e  # pylint: disable=wrong-import-position

FALLBACK = "cpu-clock"


def ordinary():
    """Who has no right to the whole machine, as an argument for symtop()."""
    if e2e.is_root():
        e2e.set_sysctl("kernel.perf_event_paranoid", 2)
        return e2e.NOBODY
    try:
        e2e.need_machine()
    except e2e.Skip:
        return None
    raise e2e.Skip("this user may sample the whole machine")


# ---- FC-004 ----

def is_noted(report):
    return sum(FALLBACK in note for note in report["notes"]) == 1


@e2e.case("FC-004 no hardware counters here: cpu-clock, said once in text and JSON")
def _():
    report = e2e.reports("-n", "1", "-d", "0.3")[0]
    if report["event"] != FALLBACK:
        raise e2e.Skip(f"this machine has {report['event']}")
    e2e.check(is_noted(report), report["notes"])
    result = e2e.symtop("-b", "-n", "3", "-d", "0.2")
    lines = result.out.splitlines()
    e2e.check(sum(line.startswith("# symtop") and FALLBACK in line for line in lines) == 3, result)
    e2e.check(sum("does not work on this machine" in line for line in lines) == 1, result)


def preloaded(code):
    if e2e.SANITIZED:
        raise e2e.Skip("a sanitizer must be the first library")
    library = e2e.build("nocounter.c", "nocounter.so", ["-O1", "-shared", "-fPIC", "-ldl"])
    return {"LD_PRELOAD": library, "NOCOUNTER": str(code)}


NO_COUNTER = (errno.ENOENT, errno.EOPNOTSUPP, errno.ENXIO, errno.ENODEV, errno.EINVAL)


@e2e.case("FC-004 falls back to cpu-clock for every error that means no counter")
def _():
    for code in NO_COUNTER:
        report = e2e.reports("-n", "1", "-d", "0.2", env=preloaded(code))[0]
        e2e.check(report["event"] == FALLBACK and is_noted(report), errno.errorcode[code],
                  report["event"], report["notes"])


@e2e.case("FC-004 an event that the user named is never replaced")
def _():
    for code in NO_COUNTER:
        result = e2e.symtop("-b", "-n", "1", "-d", "0.2", "-e", "cycles", env=preloaded(code))
        e2e.check(result.status == 1 and result.out == "", result)
        e2e.check("cycles" in result.err and os.strerror(code) in result.err, result)


# ---- FC-005, FC-011 ----

def refused(code, *args, **arguments):
    """Run symtop in a sandbox where perf_event_open fails with code."""
    result = e2e.finish(e2e.start(*in_sandbox(code), *args, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, **arguments))
    if result.status == 126:
        raise e2e.Skip(result.err.strip())
    return result


def in_sandbox(code):
    return [e2e.build("secc.c"), str(code), e2e.SYMTOP]


def check_says(result, code, hint):
    e2e.check(result.status == 1, result)
    e2e.check(result.out == "", result)
    e2e.check(os.strerror(code) in result.err, result)
    e2e.check("perf_event_open" in result.err, result)
    e2e.check(re.search(hint, result.err), f"the hint does not match {hint}", result)
    # A fault is said, not told.
    e2e.check(len(result.err) < 1500, result)


def check_no_paranoid_advice(result):
    e2e.check("sysctl kernel.perf_event_paranoid" not in result.err, result)


SANDBOX = "seccomp.*lockdown"
BLOCKED = (errno.EPERM, errno.EACCES, errno.ENOSYS)


@e2e.case("FC-005 blocked by a sandbox as root: says so, and does not blame paranoid")
def _():
    e2e.need_root()
    for code in BLOCKED:
        for output_format in ("text", "json"):
            result = refused(code, "-b", "-n", "1", "-d", "0.2", "--format", output_format)
            check_says(result, code, SANDBOX)
            check_no_paranoid_advice(result)


@e2e.case("FC-005 blocked by a sandbox for an ordinary user: the real error and the call")
def _():
    user = ordinary()
    program = e2e.for_others()
    for code in BLOCKED:
        result = e2e.finish(e2e.start(e2e.build("secc.c"), code, program, "-b", "-n", "1",
                                      user=user, stdout=subprocess.PIPE, stderr=subprocess.PIPE))
        check_says(result, code, SANDBOX)
        check_no_paranoid_advice(result)


@e2e.case("FC-005 blocked by a sandbox: the terminal is not touched")
def _():
    for code in BLOCKED:
        terminal = e2e.Terminal(*in_sandbox(code))
        status = terminal.ended()
        said = bytes(terminal.raw)
        e2e.check(status == 1, status, said)
        e2e.check(b"\x1b" not in said and os.strerror(code).encode() in said, said)
        e2e.check(terminal.is_as_before(), "the terminal is left changed")


HINTS = {errno.ENOMEM: "memory", errno.ENOSPC: "counters", errno.EBUSY: "profiler.*watchdog",
         errno.EMFILE: "ulimit -n"}


@e2e.case("FC-011 an error is named as it is, with event and CPU and the hint that fits")
def _():
    e2e.need_root()
    for code in (errno.ENOMEM, errno.ENOSPC, errno.EBUSY):
        result = refused(code, "-b", "-n", "1", "-d", "0.2")
        check_says(result, code, HINTS[code])
        e2e.check(re.search(r"event cycles:P|event cpu-clock", result.err), result)
        e2e.check(re.search(r"on CPU \d", result.err), result)
        check_no_paranoid_advice(result)
        named = refused(code, "-b", "-n", "1", "-d", "0.2", "-e", FALLBACK, "-C", "0")
        e2e.check("event cpu-clock on CPU 0" in named.err, named)


@e2e.case("FC-011 a failed open is not a wrong option: status 1 with -p and a command too")
def _():
    e2e.need_root()
    spin = e2e.start(e2e.build("spin.c"), "30")
    for args in (["-p", spin.pid], ["-t", spin.pid], ["-u", "0"],
                 ["--", e2e.build("spin.c"), "1"]):
        result = refused(errno.EBUSY, "-b", "-n", "1", "-d", "0.2", *args)
        check_says(result, errno.EBUSY, HINTS[errno.EBUSY])


# ---- FC-007 ----

@e2e.case("FC-007 without rights to the kernel: excluded, marked in JSON and text, shares of user")
def _():
    user = ordinary()
    flood = e2e.start(e2e.build("flood.c"), "60", user=user)
    report = e2e.reports("-p", flood.pid, "-n", "1", "-d", "1", user=user)[0]
    e2e.check(report["kernel_excluded"] is True, report["kernel_excluded"])
    e2e.check(report["samples"] > 0, report["samples"])
    e2e.check(not [row for row in report["rows"] if row["level"] == "kernel"])
    e2e.check(abs(e2e.share(report) - 1) < 0.01, e2e.share(report))
    e2e.check(any("user code only" in note for note in report["notes"]), report["notes"])
    result = e2e.symtop("-b", "-p", flood.pid, "-n", "2", "-d", "0.3", user=user)
    # In each report, not only in the first.
    e2e.check(len(re.findall("^# .*shares are of user samples", result.out, re.M)) == 2, result)


@e2e.case("FC-007 with rights to the kernel: its part is there, and nothing is marked")
def _():
    e2e.need_machine()
    flood = e2e.start(e2e.build("flood.c"), "60")
    report = e2e.reports("-p", flood.pid, "-n", "1", "-d", "1")[0]
    e2e.check(report["kernel_excluded"] is False, report["kernel_excluded"])
    e2e.check(e2e.share(report, level="kernel") > 0.5, e2e.share(report, level="kernel"))
    e2e.check(not any("user code only" in note for note in report["notes"]), report["notes"])


@e2e.case("FC-007 the screen carries the mark too")
def _():
    user = ordinary()
    e2e.start(e2e.build("flood.c"), "60", user=user)
    terminal = e2e.Terminal(e2e.for_others(), user=user, columns=140)
    terminal.wait("flood")
    e2e.check(re.search("user (samples|code|part)? ?only|USER ONLY", terminal.text()),
              terminal.text())
    terminal.send("q")
    e2e.check(terminal.ended() == 0)


# ---- FC-008 ----

@e2e.case("FC-008 a rate above the kernel's limit: lowered, said, and the real one is shown")
def _():
    e2e.need_root()
    e2e.set_sysctl("kernel.perf_event_max_sample_rate", 500)
    e2e.start(e2e.build("spin.c"), "30")
    for args in (["-F", "1000"], [], ["-F", "max"]):
        report = e2e.reports("-n", "1", "-d", "1", *args)[0]
        e2e.check(report["freq_hz"] == 500, args, report["freq_hz"])
        e2e.check(0 < report["samples"] < 3 * 500 * report["cpus_open"] * report["window_s"], args,
                  report["samples"])
        noted = [note for note in report["notes"] if "perf_event_max_sample_rate" in note]
        e2e.check(len(noted) == (0 if "max" in args else 1), args, report["notes"])
    result = e2e.symtop("-b", "-n", "1", "-d", "0.3", "-F", "1000")
    e2e.check(result.status == 0 and " 500 Hz" in result.out.splitlines()[0], result)


# ---- FC-010 ----

def capabilities(pid):
    with open(f"/proc/{pid}/status", encoding="utf-8", errors="replace") as file:
        return [line for line in file if line.startswith("Cap")]


@e2e.case("FC-010 file capability cap_perfmon alone: the whole machine, and it is kept")
def _():
    e2e.need_root()
    e2e.set_sysctl("kernel.perf_event_paranoid", 2)
    program = e2e.temporary("symtop-with-capability")
    e2e.shutil.copy(e2e.SYMTOP, program)
    os.chmod(program, 0o755)
    if subprocess.run([e2e.need_tool("setcap"), "cap_perfmon+ep", program], check=False,
                      stderr=subprocess.DEVNULL).returncode:
        raise e2e.Skip("setcap does not work here")
    before = e2e.start(e2e.build("spin.c", "capbefore"), "60")
    e2e.start(e2e.build("hidden.c"))
    time.sleep(0.2)
    process = e2e.start_symtop("-b", "--format", "json", "-d", "0.5", "-n", "6", program=program,
                               user=e2e.NOBODY)
    first = process.stdout.readline()
    if process.poll() == 126:
        raise e2e.Skip("file capabilities do not work here")
    at_start = capabilities(process.pid)
    after = e2e.start(e2e.build("spin.c", "capafter"), "60")
    time.sleep(1)
    at_end = capabilities(process.pid)
    result = e2e.finish(process)
    e2e.check(result.status == 0 and result.err == "", result)
    result.raw_out = first + result.raw_out
    reports = e2e.parse(result)
    last = reports[-1]
    e2e.check(at_start == at_end, at_start, at_end)
    e2e.check(last["own_processes_only"] is False and last["kernel_excluded"] is False,
              last["notes"])
    for comm in ("capbefore", "hidden", "capafter"):
        e2e.check(e2e.samples(last, comm=comm) > 0, f"no row of {comm}",
                  [(row["comm"], row["symbol"]) for row in last["rows"]][:20])
    # Started later: its file is known from the kernel's records.
    e2e.check(e2e.samples(last, comm="capafter", symbol="hot_alpha") > 0,
              e2e.rows(last, comm="capafter"))
    # Its maps can be read since Linux 6.15 (with CAP_PERFMON): a right name or none.
    named = {row["symbol"] for row in e2e.rows(last, comm="hidden", level="user")}
    e2e.check(named <= {"[unknown]", "main"}, named)
    e2e.check(before.poll() is None and after.poll() is None)


# ---- an ordinary user ----

@e2e.case("ordinary user: own processes and a line that says so and what to do")
def _():
    user = ordinary()
    e2e.start(e2e.build("spin.c", "ownspin"), "60", user=user)
    if e2e.is_root():
        e2e.start(e2e.build("spin.c", "rootspin"), "60")
    for args in ([], ["-a"]):
        report = e2e.reports("-n", "1", "-d", "1", *args, user=user)[0]
        e2e.check(report["own_processes_only"] is True, args, report)
        e2e.check(e2e.samples(report, comm="ownspin", symbol="hot_alpha") > 0, args,
                  report["rows"][:10])
        e2e.check(not e2e.rows(report, comm="rootspin"), args, report["rows"][:10])
        lines = [note for note in report["notes"] if "your own processes" in note]
        e2e.check(len(lines) == 1 and "cap_perfmon" in lines[0], args, report["notes"])
    result = e2e.symtop("-b", "-n", "1", "-d", "0.3", user=user)
    e2e.check(result.status == 0 and "own processes" in result.out, result)


@e2e.case("ordinary user: a process started later is followed too")
def _():
    user = ordinary()
    process = e2e.start_symtop("-b", "--format", "json", "-d", "0.5", "-n", "5", user=user)
    first = process.stdout.readline()
    e2e.start(e2e.build("spin.c", "laterspin"), "60", user=user)
    result = e2e.finish(process)
    result.raw_out = first + result.raw_out
    report = e2e.parse(result)[-1]
    e2e.check(e2e.samples(report, comm="laterspin", symbol="hot_alpha") > 0, report["rows"][:10])


@e2e.case("ordinary user: -u self and -p of an own process work")
def _():
    user = ordinary()
    own = e2e.start(e2e.build("spin.c", "ownspin"), "60", user=user)
    uid = os.getuid() if user is None else user
    for args in (["-u", uid], ["-p", own.pid], ["-t", own.pid]):
        report = e2e.reports("-n", "1", "-d", "0.5", *args, user=user)[0]
        e2e.check(e2e.samples(report, comm="ownspin") > 0, args, report["rows"][:5])


@e2e.case("ordinary user: -p of another user's process: named, the reason, status 1")
def _():
    user = ordinary()
    pid = e2e.start(e2e.build("spin.c"), "60").pid if user is not None else 1
    for args in (["-p", pid], ["-t", pid]):
        result = e2e.symtop("-b", "-n", "1", "-d", "0.3", *args, user=user)
        e2e.check(result.status == 1 and result.out == "", result)
        e2e.check(str(pid) in result.err, "the process is not named", result)
        e2e.check(re.search("Permission denied|Operation not permitted", result.err), result)
        e2e.check(re.search("another user|CAP_PERFMON|root", result.err), result)


@e2e.case("ordinary user: -u of another user: a clear message or an empty report that says so")
def _():
    user = ordinary()
    result = e2e.symtop("-b", "-n", "1", "-d", "0.3", "-u", "0", user=user)
    if result.status == 0:
        e2e.check(re.search("^# (note|warning): .*(right|permi|may not)", result.out, re.M), result)
    else:
        e2e.check(result.status == 1 and re.search("permi|right", result.err), result)


@e2e.case("a process or user that does not exist: named, status 1")
def _():
    for args, named in ((["-p", "2147483647"], "2147483647"), (["-t", "2147483647"], "2147483647"),
                        (["-u", "nobody-is-called-so"], "nobody-is-called-so"),
                        (["-C", "4095"], "4095"), (["--", "/no/such/program"], "/no/such/program")):
        result = e2e.symtop("-b", "-n", "1", "-d", "0.3", *args)
        e2e.check(result.status == 1 and result.out == "" and named in result.err, result)


if __name__ == "__main__":
    sys.exit(e2e.run(e2e.need_events))

#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What is watched: processes, threads, users, CPUs, commands.

-p follows new threads and children and says when all are gone; -t, -u and -C narrow down;
a command is profiled to its end. CPUs that are off, go and return (FC-101, FC-102);
files that are deleted or replaced under a running program (FC-057, FC-058); code
without a file: the vDSO (FC-041) and generated code.
"""

import os
import shutil
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True  # the sources may be read-only
import e2e_lib as e2e  # noqa: E402  pylint: disable=wrong-import-position

HOT = ("hot_alpha", "hot_beta")


# ---- -p ----

def grow(process, what):
    """Have tests/workloads/grow.c start a thread or a child; its id."""
    process.stdin.write(f"{what}\n".encode())
    process.stdin.flush()
    return int(process.stdout.readline())


@e2e.case("-p follows threads and children that are started later, and shows nothing else")
def _():
    e2e.start(e2e.build("spin.c"), "60")
    process = e2e.start(e2e.build("grow.c"), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    first = int(process.stdout.readline())
    batch = e2e.Batch("-d", "0.5", "-p", process.pid, "-s", "pid,tid,comm,symbol")
    report = batch.next()
    e2e.check(e2e.samples(report, symbol="grown_first", tid=first) > 20, report["rows"][:10])
    thread, child = grow(process, "thread"), grow(process, "child")
    reports = [batch.next() for _ in range(3)]
    batch.interrupt()
    newest = reports[-1]
    e2e.check(e2e.samples(newest, symbol="grown_thread", pid=process.pid, tid=thread) > 20,
              newest["rows"][:10])
    e2e.check(e2e.samples(newest, symbol="grown_child", pid=child, comm="grow") > 20,
              newest["rows"][:10])
    pids = {row["pid"] for r in reports for row in r["rows"]}
    e2e.check(pids <= {process.pid, child}, pids)
    e2e.check(not any(r["target_gone"] for r in reports), "said to be gone")


@e2e.case("-p several processes watches each of them")
def _():
    spins = [e2e.start(e2e.build("spin.c"), "60") for _ in range(2)]
    e2e.start(e2e.build("spin.c"), "60")
    report = e2e.settled("-d", "0.7", "-p", ",".join(str(s.pid) for s in spins),
                         "-s", "pid,symbol")
    pids = {row["pid"] for row in report["rows"]}
    e2e.check(pids == {spin.pid for spin in spins}, pids)


@e2e.case("-p in batch mode ends with its target, and the last report says so")
def _():
    spin = e2e.start(e2e.build("spin.c"), "60")
    batch = e2e.Batch("-d", "0.4", "-p", spin.pid)
    e2e.check(not batch.next()["target_gone"], "gone at once")
    e2e.stop(spin)
    reports = batch.rest()
    e2e.check(len(reports) < 12, f"{len(reports)} reports")
    e2e.check([r["target_gone"] for r in reports] == [False] * (len(reports) - 1) + [True],
              [r["target_gone"] for r in reports])
    e2e.check(any("exited" in note for note in reports[-1]["notes"]), reports[-1]["notes"])


@e2e.case("-p goes on while a child of the target lives")
def _():
    process = e2e.start("sh", "-c", "sleep 0.7; \"$@\" & exit", "sh", e2e.build("spin.c"), "1.8")
    reports = e2e.Batch("-d", "0.5", "-p", process.pid).rest()
    e2e.check(process.wait() == 0 and reports[-1]["target_gone"], reports[-1]["notes"])
    print(f"# {[round(r['shown_samples']) for r in reports]}")
    sampled = [r for r in reports if e2e.samples(r, comm="spin", symbol="hot_alpha") > 10]
    e2e.check(len(sampled) > 2, [r["shown_samples"] for r in reports])


@e2e.case("-p on the screen says that the target is gone, and costs no CPU from then on")
def _():
    spin = e2e.start(e2e.build("spin.c"), "60")
    terminal = e2e.Terminal(e2e.SYMTOP, "-p", spin.pid, "-d", "0.5", rows=24, columns=100)
    terminal.wait("hot_alpha")
    e2e.stop(spin)
    terminal.wait(r"\(ended\)|exited|ended")
    terminal.pump(1)
    # What was seen last stays.
    terminal.wait("hot_alpha")
    before = e2e.cpu_seconds(terminal.pid)
    terminal.pump(2)
    used = e2e.cpu_seconds(terminal.pid) - before
    print(f"# {used:.2f} s of CPU in 2 s")
    e2e.check(used < 0.06, f"{used} s of CPU in 2 s")
    terminal.send("q")
    e2e.check(terminal.ended() == 0, "status")


@e2e.case("-p of a process that does not exist is refused with its id")
def _():
    process = e2e.start("true")
    process.wait()
    result = e2e.symtop("-b", "-n", "1", "-p", process.pid)
    e2e.check(result.status == 1 and str(process.pid) in result.err, result)
    e2e.check(result.out == "", result)


# ---- -t, -u, -C ----

@e2e.case("-t watches these threads alone")
def _():
    process = e2e.start(e2e.build("rename.c"), "0.1")
    e2e.check(e2e.wait_for(lambda: len(os.listdir(f"/proc/{process.pid}/task")) == 3), "threads")
    chosen = max(int(tid) for tid in os.listdir(f"/proc/{process.pid}/task"))
    report = e2e.settled("-d", "0.7", "-t", chosen, "-s", "tid,symbol")
    tids = {row["tid"] for row in report["rows"]}
    e2e.check(tids == {chosen}, tids)
    e2e.check(e2e.samples(report, tid=chosen, symbol="thread_hot") > 20, report["rows"][:10])


@e2e.case("-t does not watch a thread that the watched one starts")
def _():
    process = e2e.start(e2e.build("grow.c"), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    first = int(process.stdout.readline())
    batch = e2e.Batch("-d", "0.4", "-t", f"{process.pid},{first}", "-s", "tid,symbol")
    batch.next()
    grow(process, "thread")  # by the main thread
    batch.next()
    report = batch.next()
    batch.interrupt()
    e2e.check(e2e.rows(report, symbol="grown_first"), report["rows"][:10])
    e2e.check(not e2e.rows(report, symbol="grown_thread"), report["rows"][:10])


@e2e.case("-u watches the processes of this user")
def _():
    e2e.need_root()
    e2e.need_machine()
    spin = e2e.for_others(e2e.build("spin.c"))
    e2e.start(spin, "60")
    other = e2e.start(spin, "60", user=e2e.NOBODY)
    batch = e2e.Batch("-d", "0.6", "-u", e2e.NOBODY, "-s", "pid,comm,symbol")
    batch.next()
    later = e2e.start(spin, "60", user=e2e.NOBODY)
    batch.next()
    report = batch.next()
    batch.interrupt()
    for process in (other, later):
        e2e.check(e2e.samples(report, pid=process.pid, symbol=HOT) > 20, report["rows"][:10])
    for row in report["rows"]:
        with open(f"/proc/{row['pid']}/status", encoding="utf-8", errors="replace") as file:
            uid = next(line for line in file if line.startswith("Uid:")).split()[2]
        e2e.check(int(uid) == e2e.NOBODY, row)


@e2e.case("-C watches these CPUs alone")
def _():
    e2e.need_machine()
    cpus = sorted(os.sched_getaffinity(0))
    for cpu in cpus:
        e2e.start(e2e.build("spin.c"), "60", cpu)
    for wanted in (cpus[:1], cpus[-1:]):
        report = e2e.settled("-d", "0.5", "-C", wanted[0], "-s", "cpu,comm,symbol")
        e2e.check(report["cpus_open"] == 1, report["cpus_open"])
        e2e.check({row["cpu"] for row in report["rows"]} == set(wanted), report["rows"][:10])
        e2e.check(e2e.samples(report, comm="spin", symbol=HOT) > 20, report["rows"][:10])
        e2e.check(list(report["busy_cpus"]) == [str(wanted[0])], report["busy_cpus"])
    result = e2e.symtop("-b", "-n", "1", "-C", "8000")
    e2e.check(result.status == 1 and "8000" in result.err, result)


# ---- a command ----

@e2e.case("a command is profiled from its first to its last moment, in one report")
def _():
    report, = e2e.reports("--", e2e.build("spin.c"), "1.5")
    alpha, beta = (e2e.samples(report, comm="spin", symbol=name) for name in HOT)
    print(f"# alpha {alpha} beta {beta} of {report['samples']}, window {report['window_s']:.2f} s")
    e2e.check(abs(alpha / max(alpha + beta, 1) - 100 / 130) < 0.03, f"alpha {alpha} beta {beta}")
    e2e.check(alpha + beta > 0.9 * report["samples"], report["rows"][:10])
    e2e.check(report["window_s"] > 1.4, report["window_s"])
    # Nothing of what was before exec is counted: that is symtop.
    e2e.check({row["comm"] for row in report["rows"]} <= {"spin"}, report["rows"][:10])


@e2e.case("a command's children are watched, its output is passed on")
def _():
    result = e2e.symtop("-b", "--", "sh", "-c", "echo said; \"$@\"; exit 3", "sh",
                        e2e.build("spin.c"), "0.5")
    e2e.check(result.status == 0, result)
    e2e.check(result.out.startswith("said\n"), result)
    e2e.check("hot_alpha" in result.out, result)


@e2e.case("a command that cannot be started: message, status 1, and no report")
def _():
    nothing = e2e.temporary("no-program")
    with open(nothing, "w", encoding="ascii") as file:
        file.write("no program\n")
    for program, reason in ((e2e.temporary("missing"), "No such file or directory"),
                            (nothing, "Permission denied")):
        result = e2e.symtop("-b", "--", program, "argument")
        e2e.check(result.status == 1, result)
        e2e.check(program in result.err and reason in result.err, result)
        e2e.check(result.out == "", result)


@e2e.case("--stay goes on after the command, as long as what it started lives")
def _():
    spin = e2e.build("spin.c")
    script = ("sh", "-c", "\"$@\" & sleep 0.3", "sh", spin, "2")
    reports = e2e.reports("-d", "0.4", "--", *script)
    e2e.check(len(reports) < 4, f"{len(reports)} reports without --stay")
    reports = e2e.reports("-d", "0.4", "--stay", "--", *script)
    sampled = [r for r in reports if e2e.samples(r, comm="spin", symbol="hot_alpha") > 10]
    e2e.check(len(sampled) >= 4, [r["shown_samples"] for r in reports])
    e2e.check(reports[-1]["target_gone"], reports[-1]["notes"])


# ---- CPUs that go ----

def switchable_cpu():
    """A CPU that can be switched off, and its switch, which is on again when the case ends."""
    e2e.need_root()
    e2e.need_machine()
    for cpu in sorted(os.sched_getaffinity(0), reverse=True):
        switch = f"/sys/devices/system/cpu/cpu{cpu}/online"
        if cpu and os.access(switch, os.W_OK):
            e2e.at_end(set_switch, switch, "1")
            return cpu, switch
    raise e2e.Skip("no CPU can be switched off")


def set_switch(switch, value):
    try:
        with open(switch, "w", encoding="ascii") as file:
            file.write(value)
    except OSError as error:
        raise e2e.Skip(f"{switch}: {error.strerror}") from error


@e2e.case("FC-101 a CPU that is off at the start is left out, and said to be")
def _():
    cpu, switch = switchable_cpu()
    nr_cpus = os.sysconf("SC_NPROCESSORS_ONLN")
    set_switch(switch, "0")
    e2e.start(e2e.build("spin.c"), "60")
    report = e2e.settled("-d", "0.7", "-s", "comm,symbol,cpu")
    e2e.check((report["cpus_online"], report["cpus_open"]) == (nr_cpus - 1, nr_cpus - 1),
              f"{report['cpus_online']} online, {report['cpus_open']} open of {nr_cpus}")
    e2e.check(report["cpus"] >= nr_cpus, report["cpus"])
    e2e.check(e2e.samples(report, comm="spin", symbol=HOT) > 20, report["rows"][:10])
    e2e.check(cpu not in {row["cpu"] for row in report["rows"]}, report["rows"][:10])
    text = e2e.symtop("-b", "-d", "0.3", "-n", "1").out
    e2e.check(f"{nr_cpus - 1} of {nr_cpus} CPUs" in text, text[:500])
    result = e2e.symtop("-b", "-n", "1", "-C", cpu)
    e2e.check(result.status == 1 and "not online" in result.err, result)


def samples_by_cpu(report, **wanted):
    counts = {}
    for row in e2e.rows(report, **wanted):
        counts[row["cpu"]] = counts.get(row["cpu"], 0) + row["samples"]
    return counts


@e2e.case("FC-102 a CPU that goes and returns has samples again")
def _():
    cpu, switch = switchable_cpu()
    e2e.start(e2e.build("spin.c", "cpu-spin"), "60", cpu)
    batch = e2e.Batch("-d", "0.5", "-s", "comm,symbol,cpu")
    before = e2e.wait_for(lambda: samples_by_cpu(batch.next(), comm="cpu-spin", symbol=HOT), step=0)
    e2e.check(set(before) == {cpu}, before)
    set_switch(switch, "0")
    time.sleep(2)
    reports = [batch.next() for _ in range(4)]
    while_off = samples_by_cpu(reports[-1], comm="cpu-spin", symbol=HOT)
    e2e.check(while_off and cpu not in while_off, while_off)
    cpu_used = [r["self_cpu"] for r in reports[-2:]]
    e2e.check(min(cpu_used) < 0.3 * e2e.SLOW, f"own CPU time {cpu_used} of a dead ring?")
    set_switch(switch, "1")
    # The kernel moves the program back only when it is told to: so start another.
    e2e.start(e2e.build("spin.c", "cpu-spin"), "60", cpu)

    def returned():
        counts = samples_by_cpu(batch.next(), comm="cpu-spin", symbol=HOT)
        return counts if counts.get(cpu, 0) > 50 else None

    started = time.monotonic()
    counts = e2e.wait_for(returned, limit=8, step=0)
    print(f"# before {before}, off {while_off}, {time.monotonic() - started:.1f} s after its "
          f"return {counts}")
    e2e.check(counts, f"CPU {cpu} never has samples again")
    report = batch.next()
    e2e.check(report["cpus_online"] == report["cpus_open"], report["cpus_open"])
    e2e.check(report["corrupt"] == 0, report["corrupt"])
    alpha, beta = (e2e.samples(report, comm="cpu-spin", symbol=name) for name in HOT)
    e2e.check(abs(alpha / max(alpha + beta, 1) - 100 / 130) < 0.05, f"alpha {alpha} beta {beta}")
    batch.interrupt()


@e2e.case("FC-102 a CPU that goes and returns between two looks has samples again")
def _():
    cpu, switch = switchable_cpu()
    batch = e2e.Batch("-d", "0.5", "-s", "comm,symbol,cpu")
    batch.next()
    for _ in range(3):
        set_switch(switch, "0")
        set_switch(switch, "1")
    e2e.start(e2e.build("spin.c", "cpu-spin"), "60", cpu)

    def returned():
        return samples_by_cpu(batch.next(), comm="cpu-spin", symbol=HOT).get(cpu, 0) > 50

    e2e.check(e2e.wait_for(returned, limit=10, step=0), f"CPU {cpu} never has samples again")
    batch.interrupt()


# ---- files that change under a program ----

def start_copy(name, flags=None):
    """Run a copy of spin.c of that name; the process and the copy's path."""
    program = e2e.build("spin.c", *([f"{name}-original", flags] if flags else []))
    copy = e2e.temporary(name)
    shutil.copy(program, copy)
    return e2e.start(copy, "60"), copy


@e2e.case("FC-057 a program that is deleted before the start has its names")
def _():
    process, copy = start_copy("gone")
    e2e.check(e2e.wait_for(lambda: os.readlink(f"/proc/{process.pid}/exe") == copy), "exec")
    os.unlink(copy)
    for args in (("-p", str(process.pid)), ()):
        if not args:
            e2e.need_machine()
        report = e2e.settled("-d", "1", *args)
        e2e.check(e2e.samples(report, comm="gone", symbol="hot_alpha") > 50, report["rows"][:5])
        row = e2e.rows(report, comm="gone", symbol="hot_alpha")[0]
        e2e.check(row["object"].startswith("gone"), row)


@e2e.case("FC-057 a program that is deleted while it is watched keeps its names")
def _():
    e2e.need_machine()
    batch = e2e.Batch("-d", "0.5")
    batch.next()
    process, copy = start_copy("gone")
    e2e.check(e2e.wait_for(lambda: os.readlink(f"/proc/{process.pid}/exe") == copy), "exec")
    os.unlink(copy)
    batch.next()
    report = batch.next()
    batch.interrupt()
    e2e.check(e2e.samples(report, comm="gone", symbol="hot_alpha") > 50, report["rows"][:5])


@e2e.case("FC-058 of a program that was replaced, old and new processes have their own names")
def _():
    e2e.need_machine()
    first = e2e.build("reuse.c", "old-build", ("-O1", "-g", "-pthread", "-DHOT=old_hot"))
    second = e2e.build("reuse.c", "new-build", ("-O1", "-g", "-pthread", "-DHOT=new_hot"))
    program = e2e.temporary("replaced")
    shutil.copy(first, program)
    old = e2e.start(program, "60000")
    batch = e2e.Batch("-d", "0.5", "-s", "pid,dso,symbol")
    batch.next()
    shutil.copy(second, program + "-new")
    os.rename(program + "-new", program)
    new = e2e.start(program, "60000")
    batch.next()
    report = batch.next()
    batch.interrupt()
    for process, own, other in ((old, "old_hot", "new_hot"), (new, "new_hot", "old_hot")):
        e2e.check(e2e.samples(report, pid=process.pid, symbol=own) > 20,
                  e2e.rows(report, pid=process.pid))
        e2e.check(not e2e.rows(report, pid=process.pid, symbol=other),
                  e2e.rows(report, pid=process.pid))
    # And for one that starts when both are there.
    report = e2e.settled("-d", "0.7", "-s", "pid,dso,symbol")
    for process, own in ((old, "old_hot"), (new, "new_hot")):
        e2e.check(e2e.samples(report, pid=process.pid, symbol=own) > 20,
                  e2e.rows(report, pid=process.pid))


# ---- code without a file ----

@e2e.case("FC-041 the vDSO's functions have names")
def _():
    process = e2e.start(e2e.build("vdso.c"))
    report = e2e.settled("-d", "1", "-p", process.pid)
    vdso = e2e.rows(report, object="[vdso]")
    if not vdso and e2e.share(report, level="kernel") > 0.5:
        raise e2e.Skip("the clock is read by a system call here")
    named = [row for row in vdso if "gettime" in row["symbol"]]
    print(f"# {[(row['symbol'], round(row['overhead'], 3)) for row in vdso]}")
    e2e.check(named and sum(row["overhead"] for row in named) > 0.3, report["rows"][:10])


def check_generated(*args):
    if os.uname().machine != "x86_64":
        raise e2e.Skip("the code is for x86_64")
    process = e2e.start(e2e.build("jit.c"), *args)
    path = f"/tmp/perf-{process.pid}.map"
    e2e.at_end(lambda: os.path.exists(path) and os.unlink(path))
    e2e.check(e2e.wait_for(lambda: os.path.exists(path)), "no map file")
    report = e2e.settled("-d", "1", "-p", process.pid)
    first = e2e.share(report, symbol="jit_first")
    second = e2e.share(report, symbol="jit second name with spaces")
    print(f"# {first:.3f} {second:.3f}")
    e2e.check(first + second > 0.9, report["rows"][:10])
    e2e.check(abs(second / (first + second) - 2 / 3) < 0.04, f"{first} {second}")
    e2e.stop(process, signal.SIGTERM)


@e2e.case("generated code has the names of its map file")
def _():
    check_generated()


@e2e.case("FC-048 generated code that a second thread runs has the names as well")
def _():
    check_generated("thread")


if __name__ == "__main__":
    sys.exit(e2e.run())

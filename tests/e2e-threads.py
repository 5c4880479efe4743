#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Threads, processes that live shortly, and ids that are used again.

A main thread that has ended (FC-107), ids used again (FC-108), processes shorter than a
refresh (FC-110), renamed threads (FC-111), ten thousand threads (FC-113), and that
starting many processes leaves nearly no sample without a place.
"""

import os
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True  # the sources may be read-only
import e2e_lib as e2e  # noqa: E402  pylint: disable=wrong-import-position


def unresolved(reports):
    """The share of all samples at whose address nothing was known to be mapped."""
    total = sum(report["shown_samples"] for report in reports)
    e2e.check(total > 0, "no samples")
    return sum(r["unresolved"] * r["shown_samples"] for r in reports) / total


# ---- FC-107 ----

@e2e.case("FC-107 a process whose main thread ended before the start has its names")
def _():
    e2e.need_machine()
    process = e2e.start(e2e.build("main_exits.c"), "60")
    e2e.check(e2e.wait_for(lambda: e2e.state_of(process.pid) == "Z"), "the main thread goes on")
    report = e2e.settled("-d", "1")
    e2e.check(e2e.samples(report, comm="main_exits", object="main_exits",
                          symbol="survivor_hot") > 100, report["rows"][:10])
    e2e.check(e2e.samples(report, comm="main_exits", level="user", object="[unknown]") == 0,
              e2e.rows(report, comm="main_exits"))


@e2e.case("FC-107 a process whose main thread ends while it is watched keeps its names")
def _():
    e2e.need_machine()
    batch = e2e.Batch("-d", "0.5", "-s", "pid,comm,dso,symbol")
    batch.next()
    process = e2e.start(e2e.build("main_exits.c"), "60")
    e2e.check(e2e.wait_for(lambda: e2e.state_of(process.pid) == "Z"), "the main thread goes on")
    batch.next()
    later = batch.next()  # begins after the main thread ended
    e2e.check(e2e.samples(later, pid=process.pid, comm="main_exits",
                          symbol="survivor_hot") > 50, later["rows"][:10])
    reports = [later] + batch.interrupt()
    e2e.check(e2e.samples(reports, pid=process.pid, level="user", object="[unknown]") == 0,
              e2e.rows(later, pid=process.pid))


@e2e.case("FC-107 -p finds the threads of a process whose main thread has ended")
def _():
    process = e2e.start(e2e.build("main_exits.c"), "60")
    e2e.check(e2e.wait_for(lambda: e2e.state_of(process.pid) == "Z"), "the main thread goes on")
    report = e2e.settled("-d", "1", "-p", process.pid)
    e2e.check(not report["target_gone"], "said to be gone")
    e2e.check(e2e.share(report, symbol="survivor_hot") > 0.8, report["rows"][:10])


# ---- FC-108 ----

def two_programs():
    """Paths of two programs that differ in the name of their hot function only."""
    flags = ("-O1", "-g", "-fno-pie", "-no-pie", "-pthread")
    first = e2e.build("reuse.c", "first", flags + ("-DHOT=hot_first",))
    other = e2e.build("reuse.c", "other", flags + ("-DHOT=hot_other",))
    addresses = [subprocess.run([p, "0"], stdout=subprocess.PIPE, check=True).stdout
                 for p in (first, other)]
    e2e.check(addresses[0] == addresses[1], "the hot functions are at different addresses",
              addresses)
    return first, other


def free_id():
    """An id that no thread has, with some room after it."""
    limit = int(e2e.read_sysctl("kernel.pid_max"))
    for number in range(min(limit, 32768) - 500, 1000, -7):
        if not any(os.path.exists(f"/proc/{number + i}") for i in range(5)):
            return number
    raise e2e.Skip("no id is free")


def keep_last_id():
    """Restore the kernel's place in the ids when the case ends."""
    path = "/proc/sys/kernel/ns_last_pid"
    last = e2e.read_sysctl("kernel.ns_last_pid")
    if last is None or not os.access(path, os.W_OK):
        raise e2e.Skip("kernel.ns_last_pid cannot be written")

    def restore():
        with open(path, "w", encoding="ascii") as file:
            file.write(last)

    e2e.at_end(restore)
    return path


def run_with_pid(path, wanted, *argv):
    """Run a program to its end as that process; false when another one got the id."""
    file = os.open(path, os.O_WRONLY)
    null = os.open(os.devnull, os.O_RDWR)
    try:
        os.write(file, b"%d" % (wanted - 1))
        pid = os.posix_spawn(argv[0], argv, os.environ,
                             file_actions=[(os.POSIX_SPAWN_DUP2, null, 1)])
        if pid != wanted:
            os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    finally:
        os.close(file)
        os.close(null)
    return pid == wanted


def check_not_mixed(reports, **wanted):
    """No sample of one program is under the other's name, and both were sampled."""
    for program, other in (("first", "other"), ("other", "first")):
        e2e.check(e2e.samples(reports, comm=program, object=program,
                              symbol=f"hot_{program}", **wanted) > 20,
                  f"{program} was hardly sampled",
                  [row for r in reports for row in e2e.rows(r, **wanted)])
        for mixed in ({"symbol": f"hot_{other}"}, {"object": other}):
            found = [row for r in reports for row in e2e.rows(r, comm=program, **mixed, **wanted)]
            e2e.check(not found, f"{program} has what is {other}'s", found)


@e2e.case("FC-108 no sample is named after another program that had the process id")
def _():
    e2e.need_machine()
    programs = two_programs()
    path = keep_last_id()
    pid = free_id()
    batch = e2e.Batch("-d", "0.7", "--window", "all", "-s", "pid,comm,dso,symbol")
    batch.next()
    for number in range(20):
        # Another process may be given the id: then once more.
        e2e.check(e2e.wait_for(
            lambda n=number: run_with_pid(path, pid, programs[n % 2], "20"), step=0),
            f"the id {pid} cannot be had")
    final = batch.interrupt()[-1:]
    check_not_mixed(final, pid=pid)


@e2e.case("FC-108 no sample is named after another program that had the thread id")
def _():
    e2e.need_machine()
    programs = two_programs()
    keep_last_id()
    tid = free_id()
    batch = e2e.Batch("-d", "0.7", "--window", "all", "-s", "tid,comm,dso,symbol")
    batch.next()

    def run(program):
        return subprocess.run([program, "20", str(tid)], stdout=subprocess.DEVNULL,
                              check=False).returncode == 0

    for number in range(20):
        e2e.check(e2e.wait_for(lambda n=number: run(programs[n % 2]), step=0),
                  f"the id {tid} cannot be had")
    final = batch.interrupt()[-1:]
    check_not_mixed(final, tid=tid)


# ---- FC-110 ----

@e2e.case("FC-110 400 processes that live 4 ms have names and shares")
def _():
    e2e.need_machine()
    spawn, spin = e2e.build("spawn.c"), e2e.build("spin.c")
    batch = e2e.Batch("-d", "1")
    batch.next()
    result = e2e.finish(e2e.start(spawn, "400", "0", spin, "0.004", stdout=subprocess.PIPE), 60)
    e2e.check(result.out.startswith("400 "), result)
    reports = batch.interrupt()
    alpha = e2e.samples(reports, comm="spin", object="spin", symbol="hot_alpha")
    beta = e2e.samples(reports, comm="spin", object="spin", symbol="hot_beta")
    user = e2e.samples(reports, comm="spin", level="user")
    own = e2e.samples(reports, comm="spin", object="spin")
    unknown = e2e.samples(reports, comm="spin", object="[unknown]")
    figures = f"alpha {alpha} beta {beta} of spin {own} user {user} unknown {unknown}"
    print(f"# {figures}")
    e2e.check(alpha + beta > 400, figures)
    e2e.check(0.72 < alpha / (alpha + beta) < 0.82, figures)
    e2e.check(alpha + beta > 0.95 * own, figures)
    e2e.check(unknown < 0.05 * user, figures)


@e2e.case("FC-110 of 300 new processes a second less than 1 % of the samples has no place")
def _():
    e2e.need_machine()
    spawn, spin = e2e.build("spawn.c"), e2e.build("spin.c")
    batch = e2e.Batch("-d", "1")
    batch.next()
    result = e2e.finish(e2e.start(spawn, "2400", "300", spin, "0.001", stdout=subprocess.PIPE), 60)
    e2e.check(result.out.startswith("2400 "), result)
    reports = batch.interrupt()
    mine = e2e.samples(reports, comm=("spawn", "spin"))
    unknown = e2e.samples(reports, comm=("spawn", "spin"), object="[unknown]")
    print(f"# {result.out.strip()}: unresolved {unresolved(reports):.4%}, of these programs "
          f"{unknown} of {mine}")
    e2e.check(mine > 1000, f"{mine} samples of these programs")
    e2e.check(unknown < 0.01 * mine, f"{unknown} of {mine}")
    e2e.check(unresolved(reports) < 0.01, f"{unresolved(reports):.3%}")
    e2e.check(reports[-1]["lost_metadata"] == 0, f"{reports[-1]['lost_metadata']} records lost")


# ---- FC-111 ----

def renamed(*sort):
    """Reports, by sort, of a process whose threads rename themselves after a second."""
    process = e2e.start(e2e.build("rename.c"), "1")
    batch = e2e.Batch("-d", "0.4", "-p", process.pid, "-s", ",".join(sort))
    reports = [batch.next() for _ in range(4)]
    # Sanitized or on a busy machine it may take longer.
    e2e.wait_for(lambda: reports.append(batch.next()) or any(
        row["comm"].startswith("worker") for row in reports[-1]["rows"]), limit=3, step=0)
    reports.append(batch.next())
    batch.interrupt()
    return process, reports


@e2e.case("FC-111 a renamed thread has its new name from then on")
def _():
    process, reports = renamed("tid", "comm", "symbol")
    hot = e2e.rows(reports[0], symbol="thread_hot")
    e2e.check(hot, reports[0]["rows"])
    e2e.check({row["comm"] for row in hot} == {"rename"}, hot)
    e2e.check(process.pid not in {row["tid"] for row in hot}, hot)
    hot = e2e.rows(reports[-1], symbol="thread_hot")
    e2e.check(sorted(row["comm"] for row in hot) == ["worker-one", "worker-two"], hot)
    e2e.check(len({row["tid"] for row in hot}) == 2, hot)


@e2e.case("FC-111 by process, a renamed thread's samples are under the leader's name")
def _():
    process, reports = renamed("pid", "comm", "symbol")
    for report in reports:
        hot = e2e.rows(report, symbol="thread_hot")
        e2e.check(len(hot) == 1, hot)
        e2e.check((hot[0]["pid"], hot[0]["comm"]) == (process.pid, "rename"), hot)


# ---- FC-113 ----

def start_threads():
    """The workload of FC-113."""
    threads = e2e.start(e2e.build("threads.c"), "10000", "100", stdout=subprocess.PIPE)
    if not threads.stdout.readline().startswith(b"ready"):
        raise e2e.Skip("10,100 threads cannot be started here")
    return threads


def nr_descriptors(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


@e2e.case("FC-113 ten thousand threads: the first report is soon, refreshes are cheap")
def _():
    e2e.need_machine()
    threads = start_threads()
    started = time.monotonic()
    batch = e2e.Batch("-d", "0.5", "-s", "tid,comm,symbol")
    first = batch.next()
    took = time.monotonic() - started
    descriptors = nr_descriptors(batch.pid)
    later = [batch.next() for _ in range(4)]
    batch.interrupt()
    ticks = sorted(report["tick_s"] for report in later)
    print(f"# first report after {took:.2f} s, ticks {ticks} s, {descriptors} descriptors, "
          f"{later[-1]['self_rss_bytes'] >> 20} MB, sweep {first['scan_s']:.3f} s")
    e2e.check(took < 2 * e2e.SLOW, f"the first report took {took:.2f} s")
    e2e.check(ticks[1] < 0.1 * e2e.SLOW, f"ticks took {ticks} s")
    e2e.check(descriptors < 200 + 4 * os.cpu_count(), f"{descriptors} descriptors")
    hot = [row for r in later for row in e2e.rows(r, comm="threads", symbol="turn_hot")]
    e2e.check(len({row["tid"] for row in hot}) > 50, hot[:20])
    e2e.check(threads.pid not in {row["tid"] for row in hot}, hot[:20])


@e2e.case("FC-113 -p with ten thousand threads has no descriptor for each")
def _():
    e2e.need_machine()
    threads = start_threads()
    started = time.monotonic()
    batch = e2e.Batch("-d", "0.5", "-p", threads.pid)
    first = batch.next()
    took = time.monotonic() - started
    descriptors = nr_descriptors(batch.pid)
    report = batch.next()
    batch.interrupt()
    print(f"# first report after {took:.2f} s, {descriptors} descriptors, notes {first['notes']}")
    e2e.check(took < 2 * e2e.SLOW, f"the first report took {took:.2f} s")
    e2e.check(descriptors < 200 + 4 * os.cpu_count(), f"{descriptors} descriptors")
    e2e.check(e2e.share(report, comm="threads") > 0.99, report["rows"][:10])
    e2e.check(e2e.samples(report, symbol="turn_hot") > 100, report["rows"][:10])


if __name__ == "__main__":
    sys.exit(e2e.run())

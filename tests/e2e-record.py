#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What symtop records with -w, W and --flight is read by perf and by symtop itself, says
the same as what was shown meanwhile, and survives whatever ends it."""

import collections
import os
import re
import resource
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
import e2e_lib as e2e  # pylint: disable=wrong-import-position
import e2e_oracle as oracle  # pylint: disable=wrong-import-position


def spin(name="spin"):
    return e2e.start(e2e.build("spin.c", name), "100")


def record(name, *args, seconds=2.0, status=0):
    """symtop -w into a file of that name; its path and the report of the same samples."""
    data = e2e.temporary(name)
    result = e2e.symtop("-b", "--format", "json", "-w", data, "--duration", seconds, "-F", "1999",
                        "--idle", *args, limit=seconds + 30)
    e2e.check(result.status == status, result)
    return data, e2e.parse(result)[-1], result


def is_whole(data):
    """perf reads it without a complaint."""
    result = subprocess.run([e2e.need_tool("perf"), "report", "-i", data, "--stdio"],
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, check=False, timeout=100)
    complaints = [line for line in result.stderr.decode(errors="replace").splitlines()
                  if re.search(r"(?i)error|warning|unknown|failed|fuzzed|out of order|incompatible",
                               line)
                  # What symtop lost or was throttled, it says in the file: rightly so.
                  and not re.search(r"(?i)lost|throttl|addresses|kptr|check IO/CPU", line)]
    e2e.check(result.returncode == 0 and not complaints, *complaints, result.stderr[-2000:])


def total(rows):
    return sum(rows.values())


# ---- the same samples ----

@e2e.case("what -w wrote is what was shown, for perf report and for symtop -i")
def _():
    e2e.need_machine()
    spin()
    data, shown, result = record("plain.data")
    is_whole(data)
    report = oracle.compare(data)
    e2e.check(shown["samples"] == report["samples"], shown["samples"], report["samples"])
    for symbol in ("hot_alpha", "hot_beta"):
        nr = [e2e.samples(r, comm="spin", symbol=symbol) for r in (shown, report)]
        e2e.check(nr[0] == nr[1] > 0, symbol, nr)
    e2e.check(report["unresolved"] <= shown["unresolved"] + 0.002,
              report["unresolved"], shown["unresolved"])
    e2e.check(re.search(r"recorded .*B to .*plain\.data", result.err), result.err)
    e2e.check(os.stat(data).st_mode & 0o777 == 0o600, oct(os.stat(data).st_mode))


@e2e.case("call chains are in the file")
def _():
    e2e.need_machine()
    e2e.start(e2e.build("spin.c", "spin-frames", ("-O0", "-g", "-fno-omit-frame-pointer",
                                                  "-pthread")), "100")
    data, _, _ = record("chains.data", "-g")
    is_whole(data)
    report = oracle.compare(data, "--no-children")
    report, = e2e.reports("-i", data)
    main, = e2e.rows(report, comm="spin-frames", symbol="main")
    e2e.check(main["children"] > 0.95 * e2e.share(report, comm="spin-frames", level="user"),
              main)


@e2e.case("programs that come and go while it records have their names in the file")
def _():
    e2e.need_machine()
    data = e2e.temporary("churn.data")
    batch = e2e.Batch("-w", data, "-d", "0.5", "-F", "1999", "--idle")
    batch.next()
    library = e2e.build("library.c", "library.so", ("-O1", "-g", "-shared", "-fPIC"))
    chain, program = e2e.build("exec_chain.c"), e2e.build("spin.c")
    deadline = time.monotonic() + 3
    while time.monotonic() < deadline:
        subprocess.run([chain, "4", library, program, "0.01"], stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    batch.interrupt()
    is_whole(data)
    report = oracle.compare(data)
    e2e.check(report["unresolved"] < 0.005, report["unresolved"])


@e2e.case("another profiler that asks for build ids does not spoil the maps")
def _():
    e2e.need_machine()
    other = e2e.start(e2e.need_tool("perf"), "record", "-q", "-a", "--buildid-mmap", "-F", "49",
                      "-o", e2e.temporary("other.data"), stderr=subprocess.DEVNULL)
    time.sleep(1)
    data = e2e.temporary("beside.data")
    batch = e2e.Batch("-w", data, "-d", "0.5", "-F", "1999", "--idle")
    batch.next()
    chain, program = e2e.build("exec_chain.c"), e2e.build("spin.c")
    library = e2e.build("library.c", "library.so", ("-O1", "-g", "-shared", "-fPIC"))
    deadline = time.monotonic() + 2
    while time.monotonic() < deadline:
        subprocess.run([chain, "4", library, program, "0.02"], stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    e2e.check(other.poll() is None, "perf record still runs")
    shown = batch.interrupt()[-1]
    e2e.check(shown["unresolved"] < 0.02 and not shown["corrupt"], shown["unresolved"],
              shown["corrupt"])
    is_whole(data)
    report, = e2e.reports("-i", data, "--idle")
    e2e.check(e2e.share(report, comm="spin", symbol="hot_alpha") > 0, report["rows"][:10])
    e2e.check(report["unresolved"] < 0.02, report["unresolved"])


@e2e.case("several events are told apart by perf, too")
def _():
    e2e.need_machine()
    spin()
    data, shown, _ = record("events.data", "-e", "cpu-clock", "-e", "page-faults", "-s", "event")
    is_whole(data)
    stats = oracle.perf("report", "-i", data, "--stats").decode()
    numbers = collections.Counter()
    for event, number in re.findall(r"^(?!Aggregated)(\S+) stats:\n(?:.*\n)*?\s+SAMPLE events:\s+(\d+)", stats,
                                    re.M):
        numbers[event] = int(number)
    e2e.check(sum(numbers.values()) == shown["samples"] > 0, stats, shown["samples"])
    report, = e2e.reports("-i", data, "--idle", "-s", "event")
    names = {event["name"] for event in report["events"] if event["samples"]}
    e2e.check(names == {event["name"] for event in shown["events"] if event["samples"]}, names)


@e2e.case("of one process alone, also of one that was there before")
def _():
    e2e.need_events()
    process = spin()
    time.sleep(0.3)
    data, shown, _ = record("process.data", "-p", process.pid)
    is_whole(data)
    report = oracle.compare(data)
    e2e.check(shown["samples"] == report["samples"] > 0, shown["samples"], report["samples"])
    e2e.check(e2e.share(report, comm="spin", symbol="hot_alpha") > 0, report["rows"][:10])


@e2e.case("of a command, from its first instruction on")
def _():
    e2e.need_events()
    data = e2e.temporary("command.data")
    result = e2e.symtop("-b", "--format", "json", "-w", data, "--idle", "--",
                        e2e.build("spin.c"), "1")
    e2e.check(result.status == 0, result)
    shown = e2e.parse(result)[-1]
    is_whole(data)
    report = oracle.compare(data)
    e2e.check(shown["samples"] == report["samples"] > 0, shown["samples"], report["samples"])


@e2e.case("the header tells host, kernel, command line and CPUs; build ids are in it")
def _():
    e2e.need_machine()
    spin()
    data, _, _ = record("header.data")
    header = oracle.perf("report", "-i", data, "--header-only").decode(errors="replace")
    for regex in (rf"hostname : {re.escape(os.uname().nodename)}",
                  rf"os release : {re.escape(os.uname().release)}",
                  rf"arch : {os.uname().machine}", r"nrcpus online : \d+",
                  r"cmdline : .*symtop.* -w .*header\.data", r"event : name = "):
        e2e.check(re.search(regex, header), regex, header)
    ids = oracle.perf("buildid-list", "-i", data).decode()
    e2e.check(re.search(r"^[0-9a-f]{40} .*/spin$", ids, re.M), ids)
    e2e.check(re.search(r"^[0-9a-f]{40} \[kernel\.kallsyms\]", ids, re.M), ids)
    e2e.check("compressed" not in header, header)


@e2e.case("perf script and perf diff read it")
def _():
    e2e.need_machine()
    spin()
    first, _, _ = record("first.data", seconds=1)
    second, shown, _ = record("second.data", seconds=1)
    lines = oracle.perf("script", "-i", second, "-F", "comm,tid,time,ip,sym").decode(
        errors="replace").splitlines()
    e2e.check(sum(bool(re.search(r"\S", line)) for line in lines) == shown["samples"],
              len(lines), shown["samples"])
    diff = oracle.perf("diff", first, second).decode(errors="replace")
    e2e.check(re.search(r"hot_alpha", diff), diff[:3000])


# ---- what ends it ----

@e2e.case("kill -9 leaves a file that perf and symtop read")
def _():
    e2e.need_machine()
    spin()
    data = e2e.temporary("killed.data")
    batch = e2e.Batch("-w", data, "-d", "0.5", "-F", "1999")
    for _ in range(5):
        batch.next()
    e2e.stop(batch.process)
    is_whole(data)
    report, = e2e.reports("-i", data, "--idle")
    e2e.check(report["samples"] > 1000, report["samples"])
    e2e.check(e2e.share(report, comm="spin", symbol="hot_alpha") > 0, report["rows"][:10])
    e2e.check(report["samples"] == oracle.nr_samples(data), report["samples"])


@e2e.case("a full disk ends the recording with a message, and not the view")
def _():
    e2e.need_machine()
    spin()
    data = e2e.temporary("full.data")
    limit = 400000

    def small_files():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    process = e2e.start_symtop("-b", "-w", data, "-d", "0.5", "-n", "6", "-F", "4000", "--idle",
                               "--format", "json", setup=small_files)
    result = e2e.finish(process, limit=30)
    reports = e2e.parse(result)
    e2e.check(len(reports) == 6 and result.status == 1, result.status, result.err, len(reports))
    e2e.check("full.data" in result.err and "File too large" in result.err, result.err)
    e2e.check("File too large" in reports[-1]["recording"]["trouble"], reports[-1]["recording"])
    is_whole(data)
    report, = e2e.reports("-i", data, "--idle")
    e2e.check(report["samples"] > 0, report["samples"])


@e2e.case("what cannot be written to is refused at once")
def _():
    e2e.need_events()
    fifo = e2e.temporary("fifo")
    os.mkfifo(fifo)
    for path in (fifo, e2e.temporary(), "/nowhere/x.data", "/dev/null", "/proc/x"):
        result = e2e.symtop("-b", "-w", path, "--duration", "1")
        e2e.check(result.status == 1 and path.rstrip("/") in result.err and not result.out, result)
    for args in (["-i", "/nowhere", "-w", "x"], ["-b", "--flight", "3"], ["--flight", "0"],
                 ["-i", "/nowhere", "--flight", "3"]):
        result = e2e.symtop("-b", *args)
        e2e.check(result.status == 2, args, result)


@e2e.case("a recording that is there already is kept as FILE.old")
def _():
    e2e.need_machine()
    data, _, _ = record("again.data", seconds=0.5)
    with open(data, "rb") as file:
        content = file.read()
    record("again.data", seconds=0.5)
    with open(data + ".old", "rb") as file:
        e2e.check(file.read() == content, "the first recording")


# ---- from the screen ----

def is_recording_of(data, least=100):
    is_whole(data)
    report, = e2e.reports("-i", data, "--idle")
    e2e.check(report["samples"] >= least, report["samples"])
    return report


@e2e.case("W starts and stops a recording; the header and messages tell")
def _():
    e2e.need_machine()
    spin()
    data = e2e.temporary("key.data")
    terminal = e2e.Terminal(e2e.SYMTOP, "-F", "1999", "-d", "0.5", rows=30, columns=120)
    terminal.wait(r"hot_alpha")
    terminal.send("W")
    terminal.wait(r"(?i)record to")
    terminal.send("\x15" + data + "\r")
    terminal.wait(r"recording to")
    terminal.wait(r"rec +\d")
    terminal.pump(1.5)
    terminal.send("W")
    terminal.wait(r"recorded .*B to")
    report = is_recording_of(data, 1000)
    e2e.check(e2e.share(report, comm="spin", symbol="hot_alpha") > 0, report["rows"][:10])
    oracle.compare(data)
    terminal.send("q")
    e2e.check(terminal.ended() == 0, "status")


@e2e.case("quitting completes the recording")
def _():
    e2e.need_machine()
    spin()
    data = e2e.temporary("quit.data")
    terminal = e2e.Terminal(e2e.SYMTOP, "-F", "1999", "-w", data, rows=30, columns=120)
    terminal.wait(r"hot_alpha")
    terminal.pump(1)
    terminal.send("q")
    e2e.check(terminal.ended() == 0, "status")
    is_recording_of(data, 500)
    header = oracle.perf("report", "-i", data, "--header-only").decode(errors="replace")
    e2e.check("cmdline : " in header, header)


@e2e.case("a flight recorder writes the last seconds when asked, again and again")
def _():
    e2e.need_machine()
    data = e2e.temporary(f"flight-{time.monotonic_ns()}.data")
    process = spin()
    batch = e2e.Batch("--flight", "2", "-w", data, "-d", "0.5", "-F", "1999", "--idle")
    for _ in range(7):
        batch.next()
    e2e.check(not os.path.exists(data), "nothing is written until then")
    batch.process.send_signal(signal.SIGUSR2)
    e2e.check(e2e.wait_for(lambda: batch.next()["recording"]["path"] == data, limit=10), "written")
    batch.next()
    report = is_recording_of(data, 1000)
    e2e.check(1.0 < report["elapsed_s"] < 3.2, report["elapsed_s"])
    e2e.check(e2e.share(report, comm="spin", symbol="hot_alpha") > 0, report["rows"][:10])
    e2e.check(report["unresolved"] < 0.005, report["unresolved"])
    oracle.compare(data)
    e2e.stop(process)
    for _ in range(8):
        batch.next()
    batch.process.send_signal(signal.SIGUSR2)
    e2e.check(e2e.wait_for(lambda: os.path.exists(data + ".old"), limit=10), "again")
    for _ in range(3):
        batch.next()
    report = is_recording_of(data)
    e2e.check(not e2e.share(report, comm="spin"), "it ended more than 2 seconds before")
    batch.interrupt()


if __name__ == "__main__":
    sys.exit(e2e.run(lambda: e2e.need_tool("perf")))

#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A recording shows what was recorded: -i FILE has the rows of perf report of the same
file, line by line, in each form that perf record writes; and files that are no such
recording, or only the beginning of one, end in a message."""

import os
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
import e2e_lib as e2e  # pylint: disable=wrong-import-position
from e2e_oracle import NO_SYMBOL, compare, nr_samples, perf  # pylint: disable=wrong-import-position


# ---- recording ----

def churn(seconds):
    """What a build does: programs that start, load libraries and end, all the time."""
    deadline = time.monotonic() + seconds
    library = e2e.build("library.c", "library.so", ("-O1", "-g", "-shared", "-fPIC"))
    chain, spin = e2e.build("exec_chain.c"), e2e.build("spin.c")
    while time.monotonic() < deadline:
        subprocess.run([chain, "4", library, spin, "0.01"], stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        subprocess.run(["/bin/sh", "-c", "ls / | wc; id; true"], stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)


def record(name, *args, seconds=2.0, workload=None, end=signal.SIGINT):
    """perf record into a file of that name, which is kept for other cases."""
    data = e2e.temporary(name)
    if os.path.exists(data):
        return data
    e2e.need_machine()
    argv = [e2e.need_tool("perf"), "record", "-q", "-a", "-F", "1999", *args]
    with open(data if "-" in args else os.devnull, "wb") as out:
        process = e2e.start(*argv, *(() if "-" in args else ("-o", data)), stdout=out,
                            stderr=subprocess.PIPE)
        time.sleep(0.5)
        if workload:
            workload(seconds)
        else:
            time.sleep(seconds)
        process.send_signal(end)
        error = process.communicate(timeout=60 * e2e.SLOW)[1].decode(errors="replace")
    if not os.path.exists(data) or not os.path.getsize(data):
        raise e2e.Skip(f"perf record: {error.strip()[:200]}")
    return data


def with_spin(seconds):
    spin = e2e.start(e2e.build("spin.c"), "60")
    time.sleep(seconds)
    e2e.stop(spin)


def with_chains(seconds):
    spin = e2e.start(e2e.build("spin.c", "spin-frames",
                               ("-O0", "-g", "-fno-omit-frame-pointer", "-pthread")), "60")
    time.sleep(seconds)
    e2e.stop(spin)


# ---- the oracle ----

@e2e.case("a recording of the whole machine has the rows of perf report")
def _():
    report = compare(record("spin.data", workload=with_spin))
    e2e.check(report["target"] == "spin.data" and report["target_gone"], report["target"])
    e2e.check(e2e.share(report, comm="spin", symbol="hot_alpha") >
              e2e.share(report, comm="spin", symbol="hot_beta") > 0, report["rows"][:10])


@e2e.case("a recording with call chains has them, and a children column")
def _():
    data = record("chains.data", "-g", workload=with_chains)
    compare(data, "--no-children")
    report, = e2e.reports("-i", data)
    main, = e2e.rows(report, comm="spin-frames", symbol="main")
    total = e2e.share(report, comm="spin-frames", level="user")
    e2e.check(main["children"] > 0.95 * total, main, total)


@e2e.case("programs that come and go have the names they had at the time")
def _():
    compare(record("churn.data", workload=churn, seconds=3))


@e2e.case("compressed records are read")
def _():
    compare(record("zstd.data", "-z", workload=with_spin))


@e2e.case("what came out of a pipe is read")
def _():
    compare(record("pipe.data", "-o", "-", workload=with_spin))


@e2e.case("build ids in the maps' records identify the objects")
def _():
    compare(record("buildid.data", "--buildid-mmap", workload=with_spin))


@e2e.case("a period that is not in the samples is that of the event")
def _():
    data = e2e.temporary("period.data")
    e2e.need_machine()
    perf("record", "-q", "-a", "-e", "cpu-clock", "-c", "1000000", "-o", data, "--", "sleep", "1")
    report = compare(data)
    e2e.check(report["base_period"] == 1000000 * report["samples"], report["base_period"])


@e2e.case("several events are told apart")
def _():
    data = e2e.temporary("events.data")
    e2e.need_machine()
    perf("record", "-q", "-a", "-e", "cpu-clock", "-e", "page-faults", "-c", "1000", "-o", data, "--",
         e2e.build("spin.c"), "0.5")
    report, = e2e.reports("-i", data, "--idle", "-s", "event")
    names = {event["name"] for event in report["events"]}
    e2e.check(len(names) == 2 and any("page-faults" in name for name in names), names)
    e2e.check(report["samples"] == nr_samples(data), report["samples"], nr_samples(data))


# ---- slots, options ----

@e2e.case("-d and -n ask for slots of the recording's time")
def _():
    data = record("spin.data", workload=with_spin)
    whole, = e2e.reports("-i", data, "--idle")
    reports = e2e.reports("-i", data, "--idle", "-d", "0.5")
    e2e.check(len(reports) >= 4, len(reports))
    e2e.check(sum(report["samples"] for report in reports) == whole["samples"],
              [report["samples"] for report in reports], whole["samples"])
    e2e.check(all(report["window_s"] <= 0.501 for report in reports),
              [report["window_s"] for report in reports])
    e2e.check([report["target_gone"] for report in reports] == [False] * (len(reports) - 1) + [True],
              "only the last one is at the end of the file")
    first, second = e2e.reports("-i", data, "--idle", "-d", "0.5", "-n", "2")
    e2e.check((first["rows"], second["rows"]) == (reports[0]["rows"], reports[1]["rows"]),
              "the same slots each time")


@e2e.case("--speed 1 takes as long as it took, --speed max does not")
def _():
    data = record("spin.data", workload=with_spin)
    begin = time.monotonic()
    report, = e2e.reports("-i", data)
    fast = time.monotonic() - begin
    begin = time.monotonic()
    reports = e2e.reports("-i", data, "--speed", "2", "-d", "0.2")
    slow = time.monotonic() - begin
    print(f"# {report['elapsed_s']:.1f} s recorded; max {fast:.2f} s, --speed 2 {slow:.2f} s")
    e2e.check(slow > report["elapsed_s"] / 2 * 0.9, slow, report["elapsed_s"])
    e2e.check(fast < slow or fast < 5 * e2e.SLOW, fast, slow)
    e2e.check(reports[-1]["target_gone"], reports[-1]["target"])


@e2e.case("options about sampling are refused with -i")
def _():
    for args in (["-a"], ["-p", "1"], ["-e", "cycles"], ["-F", "99"], ["-g"], ["--", "true"]):
        result = e2e.symtop("-b", "-i", "/nowhere", *args)
        e2e.check(result.status == 2 and "-i" in result.err, result)
    result = e2e.symtop("-b", "--speed", "1")
    e2e.check(result.status == 2 and "-i" in result.err, result)


@e2e.case("the screen shows a recording to its end, and answers keys there")
def _():
    data = record("spin.data", workload=with_spin)
    terminal = e2e.Terminal(e2e.SYMTOP, "-i", data, rows=30, columns=120)
    terminal.wait(r"end of spin\.data")
    terminal.wait(r"hot_alpha")
    terminal.send("?")
    terminal.wait(r"(?i)help|keys")
    terminal.send("\x1b")
    terminal.pump(0.5)
    terminal.send("q")
    e2e.check(terminal.ended() == 0, "status")


@e2e.case("no rights are needed to show a recording")
def _():
    e2e.need_root()
    data = record("spin.data", workload=with_spin)
    copy = e2e.temporary("spin-others.data")
    with open(data, "rb") as source, open(copy, "wb") as target:
        target.write(source.read())
    os.chmod(copy, 0o644)
    report, = e2e.reports("-i", copy, "--idle", user=e2e.NOBODY)
    whole, = e2e.reports("-i", data, "--idle")
    e2e.check(report["samples"] == whole["samples"], report["samples"], whole["samples"])


# ---- names ----

@e2e.case("a file that is not the one that was recorded gives no names")
def _():
    program = e2e.temporary("changed")
    with open(e2e.build("spin.c"), "rb") as source, open(program, "wb") as target:
        target.write(source.read())
    os.chmod(program, 0o755)

    def with_changed(seconds):
        changed = e2e.start(program, "60")
        time.sleep(seconds)
        e2e.stop(changed)

    data = record("changed.data", seconds=1, workload=with_changed)
    report, = e2e.reports("-i", data)
    e2e.check(e2e.share(report, comm="changed", symbol="hot_alpha") > 0, report["rows"][:10])
    os.unlink(program)
    e2e.build("fib.c", "changed")
    report, = e2e.reports("-i", data)
    names = {row["symbol"] for row in e2e.rows(report, comm="changed", level="user",
                                               object="changed")}
    e2e.check(names == {NO_SYMBOL}, names)
    e2e.check(any("not those that were recorded" in note for note in report["notes"]),
              report["notes"])


def edited(data, name, edit):
    with open(data, "rb") as file:
        content = bytearray(file.read())
    copy = e2e.temporary(name)
    with open(copy, "wb") as file:
        file.write(edit(content) or content)
    return copy


@e2e.case("a recording of another kernel has no kernel names")
def _():
    data = record("spin.data", workload=with_spin)

    def other_kernel(content):
        at = content.find(b"[kernel.kallsyms]_")
        # MMAP: pid, tid, addr, len, pgoff, name.
        content[at - 8:at] = (int.from_bytes(content[at - 8:at], sys.byteorder) +
                              0x200000).to_bytes(8, sys.byteorder)

    report, = e2e.reports("-i", edited(data, "kernel.data", other_kernel))
    names = {row["symbol"] for row in report["rows"] if row["level"] == "kernel"}
    e2e.check(names <= {NO_SYMBOL}, names)
    e2e.check(any("no kernel names" in note for note in report["notes"]), report["notes"])


# ---- files that are none, or not whole ----

@e2e.case("what is no recording ends in a message that names it")
def _():
    for name, content in (("empty.data", b""), ("text.data", b"hello\n" * 100),
                          ("swapped.data", b"2ELIFREP" + bytes(200)),
                          ("old.data", b"PERFFILE" + bytes(200)),
                          ("header.data", b"PERFILE2" + (104).to_bytes(8, sys.byteorder))):
        path = e2e.temporary(name)
        with open(path, "wb") as file:
            file.write(content)
        result = e2e.symtop("-b", "-i", path)
        e2e.check(result.status == 1 and path in result.err and not result.out, result)
    fifo = e2e.temporary("fifo.data")
    os.mkfifo(fifo)
    for path in (fifo, "/", "/nowhere", "/dev/null"):
        result = e2e.symtop("-b", "-i", path)
        e2e.check(result.status == 1 and path in result.err and not result.out, result)


@e2e.case("a recording that was cut is shown as far as it goes")
def _():
    data = record("spin.data", workload=with_spin)
    whole, = e2e.reports("-i", data, "--idle")
    size = os.path.getsize(data)
    cut = edited(data, "cut.data", lambda content: content[:size * 6 // 10 | 1])
    report, = e2e.reports("-i", cut, "--idle")
    e2e.check(0 < report["samples"] < whole["samples"], report["samples"], whole["samples"])
    e2e.check(any("cut" in note and "%" in note for note in report["notes"]), report["notes"])


@e2e.case("a recorder that was killed leaves a recording that can be shown")
def _():
    data = record("killed.data", "-m", "16", workload=with_spin, end=signal.SIGKILL)
    report, = e2e.reports("-i", data, "--idle")
    e2e.check(report["samples"] > 0, report)
    e2e.check(any("did not end properly" in note for note in report["notes"]), report["notes"])
    e2e.check(e2e.share(report, comm="spin", symbol="hot_alpha") > 0, report["rows"][:10])


@e2e.case("a record of impossible size ends the recording with a message")
def _():
    data = record("spin.data", workload=with_spin)

    def corrupt(content):
        start = int.from_bytes(content[40:48], sys.byteorder)
        at, end = start, len(content) // 2
        while at < end:
            at += int.from_bytes(content[at + 6:at + 8], sys.byteorder)
        content[at + 6:at + 8] = b"\x04\x00"

    report, = e2e.reports("-i", edited(data, "corrupt.data", corrupt), "--idle")
    e2e.check(report["samples"] > 0, report)
    e2e.check(any("corrupt at byte" in note for note in report["notes"]), report["notes"])


if __name__ == "__main__":
    sys.exit(e2e.run(lambda: e2e.need_tool("perf")))

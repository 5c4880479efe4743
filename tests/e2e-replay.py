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


# ---- workloads ----

def run(*argv):
    """A program that may fail, with nothing to read and nowhere to write to."""
    subprocess.run([str(arg) for arg in argv], stdin=subprocess.DEVNULL,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)


def again_and_again(*commands):
    """A workload: these commands, in turn."""
    def workload(seconds):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            for command in commands:
                run(*(part() if callable(part) else part for part in command))
    return workload


def until_end(*command):
    """A workload: a program that is ended after some time."""
    def workload(seconds):
        process = e2e.start(*(part() if callable(part) else part for part in command))
        time.sleep(seconds)
        e2e.stop(process)
    return workload


def spin():
    return e2e.build("spin.c")


def spin_frames():
    return e2e.build("spin.c", "spin-frames", ("-O0", "-g", "-fno-omit-frame-pointer",
                                               "-pthread"))


def library():
    return e2e.build("library.c", "library.so", ("-O1", "-g", "-shared", "-fPIC"))


def with_jit(seconds):
    """It lives for as long as the case: nobody believes the map file of who is gone."""
    if os.uname().machine != "x86_64":
        raise e2e.Skip("the code is for x86_64")
    process = e2e.start(e2e.build("jit.c"))
    path = f"/tmp/perf-{process.pid}.map"
    e2e.at_end(lambda: os.path.exists(path) and os.unlink(path))
    e2e.check(e2e.wait_for(lambda: os.path.exists(path)), "no map file")
    time.sleep(seconds)


with_spin = until_end(spin, "60")
with_chains = until_end(spin_frames, "60")
with_threads = again_and_again((lambda: e2e.build("thread_churn.c"), "0.5", spin, "0.01"))
# What a build does: programs that start, load libraries and end, all the time.
with_churn = again_and_again(
    (lambda: e2e.build("exec_chain.c"), "4", library, spin, "0.01"),
    ("/bin/sh", "-c", "ls / | wc; id; true"))
with_compiler = again_and_again(
    ("cc", "-O1", "-c", "-o", "/dev/null",
     os.path.join(e2e.SRCDIR, "tests", "workloads", "spin.c")))
with_scripts = again_and_again(
    ("/bin/sh", "-c", "for i in 1 2 3; do echo $i | sed s/1/2/ | (read x; cat /dev/null); done"),
    (sys.executable, "-c", "import json, threading\n"
     "threads = [threading.Thread(target=sorted, args=(range(100000),)) for _ in range(4)]\n"
     "[t.start() for t in threads]; [t.join() for t in threads]"))
with_system_calls = again_and_again(
    ("dd", "if=/dev/zero", "of=/dev/null", "bs=64", "count=300000"),
    ("dd", "if=/dev/urandom", "of=/dev/null", "bs=65536", "count=100"))


# ---- recording ----

def start_perf(data, *args):
    """perf record that records: a machine of thousands of processes keeps it busy before."""
    control, ack = os.pipe(), os.pipe()
    with open(data if "-" in args else os.devnull, "wb") as out:
        process = e2e.start(e2e.need_tool("perf"), "record", "-q", "-F", "1999",
                            f"--control=fd:{control[0]},{ack[1]}",
                            *(() if "-" in args else ("-o", data)), *args,
                            pass_fds=(control[0], ack[1]), stdout=out, stderr=subprocess.PIPE)
    os.close(control[0])
    os.close(ack[1])
    # It ends with them.
    e2e.at_end(os.close, control[1])
    e2e.at_end(os.close, ack[0])
    os.write(control[1], b"ping\n")
    if os.read(ack[0], 16)[:4] != b"ack\n":
        error = process.communicate(timeout=60)[1].decode(errors="replace")
        raise e2e.Skip(f"perf record: {error.strip()[:200]}")
    return process


def record(name, *args, seconds=1.0, workload=None, whole=True, end=signal.SIGINT):
    """perf record into a file of that name, which is kept for other cases; of the whole
    machine, or of what args say."""
    data = e2e.temporary(name)
    if os.path.exists(data):
        if e2e.attempt == 1:
            return data
        os.unlink(data)
    e2e.need_machine()
    for _ in range(5):
        process = start_perf(data, *(["-a"] if whole else []), *args)
        (workload or time.sleep)(seconds)
        process.send_signal(end)
        error = process.communicate(timeout=60 * e2e.SLOW)[1].decode(errors="replace")
        if process.returncode in (0, -end) and (end == signal.SIGKILL or nr_samples(data)):
            return data
        # While somebody else samples, the kernel (6.18) marks what is no build id as one, which
        # ends perf record by a buffer overflow, and gives page faults the id of their events.
        print(f"# perf record failed, once more: {error.strip()[-60:]}", flush=True)
        os.unlink(data)
    raise e2e.Skip("perf record fails again and again")


def record_process(name):
    process = e2e.start(spin())
    return record(name, "-p", str(process.pid), whole=False)


def record_command(name):
    """From its first instruction on, with what it starts."""
    data = e2e.temporary(name)
    e2e.need_machine()
    perf("record", "-q", "-F", "1999", "-o", data, "--", e2e.build("exec_chain.c"), "30",
         library(), spin(), "0.01")
    return data


def record_own(name):
    """By symtop itself."""
    data = e2e.temporary(name)
    e2e.need_machine()
    batch = e2e.Batch("-w", data, "-d", "0.5", "-F", "1999")
    batch.next()
    with_churn(1.0)
    batch.interrupt()
    return data


# ---- the oracle ----

# What it is, the name of the recording, who makes it.
TABLE = (
    ("the whole machine with a loop", "spin.data", lambda name: record(name, workload=with_spin)),
    ("call chains", "chains.data", lambda name: record(name, "-g", workload=with_chains)),
    ("programs that come and go", "churn.data", lambda name: record(name, workload=with_churn)),
    ("threads that come and go and rename themselves", "threads.data",
     lambda name: record(name, workload=with_threads)),
    ("generated code with a map file", "jit.data", lambda name: record(name, workload=with_jit)),
    ("a compiler", "compiler.data", lambda name: record(name, workload=with_compiler)),
    ("scripts", "scripts.data", lambda name: record(name, workload=with_scripts)),
    ("system calls", "calls.data", lambda name: record(name, workload=with_system_calls)),
    ("one process", "process.data", record_process),
    ("a command", "command.data", record_command),
    ("compressed records", "zstd.data", lambda name: record(name, "-z", workload=with_churn)),
    ("what came out of a pipe", "pipe.data",
     lambda name: record(name, "-o", "-", workload=with_churn)),
    ("maps with build ids", "buildid.data",
     lambda name: record(name, "--buildid-mmap", workload=with_churn)),
    ("what is left where records were lost", "lost.data",
     lambda name: record(name, "-m", "1", "-F", "9999", workload=with_threads)),
    ("what symtop -w wrote", "own.data", record_own),
)


def add_rows():
    """A case for each row of the table."""
    def add(fact, name, make):
        e2e.case(f"-i has the rows of perf report: {fact}")(lambda: compare(make(name)))

    for row in TABLE:
        add(*row)


add_rows()


@e2e.case("-i has the rows of perf report: several events")
def _():
    # The kernel (6.18) gives samples of page faults the time and the id that they have for somebody
    # else who samples them, too; minor faults are sampled by few.
    data = record("events.data", "-e", "cpu-clock,task-clock,minor-faults", workload=with_churn)
    report = compare(data, by_event=True)
    names = {event["name"] for event in report["events"] if event["samples"]}
    e2e.check(len(names) == 3, names)


@e2e.case("the shares in a recording are those of the program")
def _():
    report, = e2e.reports("-i", record("spin.data", workload=with_spin), "--idle")
    e2e.check(report["target"] == "spin.data" and report["target_gone"], report["target"])
    e2e.check(e2e.share(report, comm="spin", symbol="hot_alpha") >
              e2e.share(report, comm="spin", symbol="hot_beta") > 0, report["rows"][:10])


@e2e.case("a recording with call chains has a children column")
def _():
    report, = e2e.reports("-i", record("chains.data", "-g", workload=with_chains))
    main, = e2e.rows(report, path=spin_frames(), symbol="main")
    total = e2e.share(report, path=spin_frames())
    e2e.check(main["children"] > 0.95 * total, main, total)


@e2e.case("generated code has the names of its map file")
def _():
    data = record("jit-names.data", workload=with_jit, seconds=0.5)
    # Another attempt would be with another process.
    e2e.at_end(os.unlink, data)
    report, = e2e.reports("-i", data)
    total = e2e.share(report, comm="jit", level="user")
    named = e2e.share(report, comm="jit", symbol=("jit_first", "jit second name with spaces"))
    e2e.check(named > 0.9 * total > 0, named, total)


@e2e.case("a period that is not in the samples is that of the event")
def _():
    data = e2e.temporary("period.data")
    e2e.need_machine()
    perf("record", "-q", "-a", "-e", "cpu-clock", "-c", "1000000", "-o", data, "--", "sleep", "1")
    report = compare(data)
    e2e.check(report["base_period"] == 1000000 * report["samples"], report["base_period"])


# ---- slots, options ----

@e2e.case("-d and -n ask for slots of the recording's time")
def _():
    data = record("spin.data", workload=with_spin)
    whole, = e2e.reports("-i", data, "--idle")
    reports = e2e.reports("-i", data, "--idle", "-d", "0.2")
    e2e.check(len(reports) >= 4, len(reports))
    e2e.check(sum(report["samples"] for report in reports) == whole["samples"],
              [report["samples"] for report in reports], whole["samples"])
    e2e.check(all(report["window_s"] <= 0.201 for report in reports),
              [report["window_s"] for report in reports])
    gone = [report["target_gone"] for report in reports]
    e2e.check(gone == [False] * (len(reports) - 1) + [True],
              "only the last one is at the end of the file")
    first, second = e2e.reports("-i", data, "--idle", "-d", "0.2", "-n", "2")
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


def middle_sample(content):
    """Where the middle one of the samples is."""
    at, size = (int.from_bytes(content[i:i + 8], sys.byteorder) for i in (40, 48))
    end, samples = at + size, []
    while at < end:
        if int.from_bytes(content[at:at + 4], sys.byteorder) == 9:
            samples.append(at)
        at += int.from_bytes(content[at + 6:at + 8], sys.byteorder)
    return samples[len(samples) // 2]


@e2e.case("a recording that was cut is shown as far as it goes")
def _():
    data = record("spin.data", workload=with_spin)
    whole, = e2e.reports("-i", data, "--idle")
    cut = edited(data, "cut.data", lambda content: content[:middle_sample(content) + 9])
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
        at = middle_sample(content)
        content[at + 6:at + 8] = b"\x04\x00"

    report, = e2e.reports("-i", edited(data, "corrupt.data", corrupt), "--idle")
    e2e.check(report["samples"] > 0, report)
    e2e.check(any("corrupt at byte" in note for note in report["notes"]), report["notes"])


if __name__ == "__main__":
    sys.exit(e2e.run(lambda: e2e.need_tool("perf")))

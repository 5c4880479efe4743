#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The start, and the terminal: types of terminals, programs that start meanwhile,
signals, stop and resume, sizes. Whatever happens, the terminal is as it was."""

import os
import random
import re
import resource
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
import e2e_lib as e2e  # pylint: disable=wrong-import-position

# A row of the table.
ROW = r"^[> ] *\d+\.\d+% "


def no_core():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def start_screen(*args, term="xterm", **arguments):
    """symtop on a terminal, with rows on it."""
    terminal = e2e.Terminal(e2e.SYMTOP, *args, env={"TERM": term}, setup=no_core, **arguments)
    terminal.wait(ROW)
    return terminal


def check_restored(terminal, what=""):
    e2e.check(terminal.is_as_before(), what, "the terminal's attributes are changed",
              terminal.attributes, terminal.get_attributes())
    e2e.check(not terminal.is_alternate(), what, "the alternate screen is on",
              bytes(terminal.raw[-300:]))
    e2e.check(not terminal.is_cursor_hidden(), what, "the cursor is hidden",
              bytes(terminal.raw[-300:]))


def wait_drawn(terminal, rows):
    """Wait for a picture of so many rows: the line of keys is its last."""
    deadline = time.monotonic() + 10 * e2e.SLOW
    while "Quit" not in terminal.lines()[rows - 1] or "OVERHEAD" not in terminal.text():
        e2e.check(time.monotonic() < deadline, f"no picture of {rows} rows", terminal.text())
        terminal.read(0.1)


# ---- FC-001 ----

@e2e.case("FC-001 a terminal type that cannot be used: one line, status 1, nothing is changed")
def _():
    for term in (None, "", "nonesuch", "dumb"):
        terminal = e2e.Terminal(e2e.SYMTOP, env={"TERM": term})
        status = terminal.ended()
        said = bytes(terminal.raw)
        e2e.check(status == 1, f"TERM={term}: status {status}", said)
        e2e.check(b"\x1b" not in said, f"TERM={term}", said)
        lines = said.decode().splitlines()
        e2e.check(len(lines) == 1, f"TERM={term}", lines)
        e2e.check("-b" in lines[0] and "TERM" in lines[0], f"TERM={term}", lines)
        e2e.check(not term or term in lines[0], f"TERM={term}", lines)
        e2e.check(terminal.is_as_before(), f"TERM={term}: attributes are changed")


@e2e.case("FC-001 a terminal type with control characters is not sent to the terminal")
def _():
    terminal = e2e.Terminal(e2e.SYMTOP, env={"TERM": "x\x1b]0;y\x07z"})
    status = terminal.ended()
    e2e.check(status == 1 and b"\x1b" not in terminal.raw and b"\x07" not in terminal.raw, status,
              bytes(terminal.raw))


# ---- FC-002 ----

def is_nameless(row):
    return row["level"] == "user" and (
        row["unresolved"] or row["comm"] != "startspin" or
        row["object"] == "startspin" and row["symbol"].startswith(("0x", "[")))


def nameless(report, pids):
    """Which of the processes were sampled more than twice, and which of those lack a name.

    A sample or two may be from between fork and exec, in the code of a parent that was
    not known yet. A pid that some other program had is not looked at.
    """
    rows = {pid: [] for pid in pids}
    for row in report["rows"]:
        if row["pid"] in rows and row["comm"] in ("startspin", "launch", ""):
            rows[row["pid"]].append(row)
    often = [pid for pid in pids if sum(row["samples"] for row in rows[pid]) > 2]
    return often, [pid for pid in often
                   if sum(row["samples"] for row in rows[pid] if is_nameless(row)) > 2]


@e2e.case("FC-002 programs that start while symtop starts have their names")
def _():
    e2e.need_machine()
    spin = e2e.build("spin.c", "startspin")
    nr_before = 20
    for _ in range(2):
        # Nice: what is tested is the order of things, not who gets the CPUs.
        launch = e2e.start(e2e.build("launch.c"), "60", "20", spin, "1",
                           stdout=subprocess.PIPE, setup=lambda: os.nice(19))
        pids = [int(launch.stdout.readline()) for _ in range(nr_before)]
        report = e2e.reports("--duration", "2", "-s", "pid,comm,dso,symbol")[-1]
        pids += [int(line) for line in e2e.finish(launch).out.split()]
        # Those before may end while /proc is read, before it is their turn.
        often, bad = nameless(report, pids[nr_before:])
        e2e.check(len(often) > 10, f"only {len(often)} were sampled")
        e2e.check(not bad, f"{len(bad)} of {len(often)} lack names", *e2e.rows(report, pid=bad)[:5])
        hot = e2e.samples(report, pid=often, symbol={"hot_alpha", "hot_beta"})
        user = e2e.samples(report, pid=often, level="user", comm="startspin")
        e2e.check(hot > 0.8 * user, f"{hot} of {user} samples are in hot_*")


@e2e.case("FC-002 events are switched on before /proc is read")
def _():
    e2e.need_machine()
    strace = e2e.need_tool("strace")
    if e2e.SANITIZED:
        raise e2e.Skip("sanitizers and strace exclude each other")
    log = e2e.temporary("strace")
    result = e2e.finish(e2e.start(strace, "-f", "-o", log, "-e", "trace=openat,open,ioctl",
                                  e2e.SYMTOP, "-b", "-n", "1", "-d", "0.3",
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE), 30)
    if result.status and "ptrace" in result.err:
        raise e2e.Skip("ptrace(2) is refused here")
    e2e.check(result.status == 0, result)
    with open(log, encoding="utf-8", errors="replace") as file:
        lines = list(file)
    enabled = [i for i, line in enumerate(lines) if "PERF_EVENT_IOC_ENABLE" in line]
    read = [i for i, line in enumerate(lines) if re.search(r'"/proc/\d+|"/proc"', line)]
    e2e.check(enabled and read, f"{len(enabled)} enabled, {len(read)} read")
    e2e.check(enabled[-1] < read[0], lines[read[0]], lines[enabled[-1]])


# ---- FC-082 ----

ASKING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
FAULTS = (signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL)


def check_ends_by(number, terminal, what=""):
    what = f"{signal.Signals(number).name} {what}"
    os.kill(terminal.pid, number)
    status = terminal.ended()
    e2e.check(status == 128 + number, f"{what}: status {status}", bytes(terminal.raw[-300:]))
    check_restored(terminal, what)


@e2e.case("FC-082 signals that ask it to end: the terminal is restored, the status tells")
def _():
    for number in ASKING:
        terminal = start_screen()
        e2e.check(terminal.is_alternate() and terminal.is_cursor_hidden(), bytes(terminal.raw[:300]))
        check_ends_by(number, terminal)


@e2e.case("FC-082 signals of a crash: the terminal is restored, the status tells")
def _():
    if e2e.SANITIZED:
        raise e2e.Skip("a sanitizer handles them")
    for number in FAULTS:
        check_ends_by(number, start_screen())


@e2e.case("FC-082 the same at any moment of the start")
def _():
    seed = random.randrange(1 << 32)
    moments = random.Random(seed)
    numbers = ASKING + (() if e2e.SANITIZED else FAULTS[:2])
    for number in numbers:
        for _ in range(4):
            terminal = e2e.Terminal(e2e.SYMTOP, env={"TERM": "xterm"}, setup=no_core)
            moment = moments.uniform(0, 0.15)
            terminal.pump(moment)
            check_ends_by(number, terminal, f"after {moment * 1000:.1f} ms (seed {seed})")


@e2e.case("FC-082 q, F10, ^C and the end of a command leave the terminal as it was, status 0")
def _():
    for key in ("q", "\x1b[21~", "\x03"):
        terminal = start_screen()
        terminal.send(key)
        status = terminal.ended()
        e2e.check(status == 0, f"{key!r}: status {status}")
        check_restored(terminal, repr(key))
    terminal = e2e.Terminal(e2e.SYMTOP, "--", e2e.build("spin.c"), "0.5", env={"TERM": "xterm"})
    status = terminal.ended()
    e2e.check(status == 0, f"command: status {status}")
    check_restored(terminal, "command")


@e2e.case("FC-082 the terminal goes away (hang-up): it ends")
def _():
    terminal = start_screen()
    os.close(terminal.master)
    terminal.master = os.open("/dev/null", os.O_RDWR)
    try:
        code = terminal.process.wait(10 * e2e.SLOW)
    except subprocess.TimeoutExpired as error:
        raise e2e.Failed("still runs", e2e.state_of(terminal.pid)) from error
    e2e.check(code in (-signal.SIGHUP, 1), code)


@e2e.case("FC-082 a failed start after the screen is open says why on the restored screen")
def _():
    terminal = e2e.Terminal(e2e.SYMTOP, "--", "/no/such/program", env={"TERM": "xterm"})
    status = terminal.ended()
    e2e.check(status == 1, status, bytes(terminal.raw))
    check_restored(terminal)
    e2e.check(b"/no/such/program: No such file" in terminal.raw.rpartition(b"\x1b[?1049l")[2],
              bytes(terminal.raw[-500:]))


# ---- FC-083 ----

class Shell:
    """A shell with job control on a terminal. wait() looks at what was sent since the last
    type()."""

    def __init__(self, *argv):
        self.terminal = e2e.Terminal(*argv, columns=100, setup=no_core, env={
            "TERM": "xterm", "PS1": "ready> ", "ENV": None, "HOME": e2e.temporary(),
            "HISTFILE": None, "S": e2e.SYMTOP})
        self.mark = 0
        self.wait(rb"ready> $")

    def wait(self, regex, limit=10):
        deadline = time.monotonic() + limit * e2e.SLOW
        while not re.search(regex, self.terminal.raw[self.mark:]):
            if time.monotonic() > deadline:
                raise e2e.Failed(f"never sends {regex!r}",
                                 bytes(self.terminal.raw[self.mark:][-1500:]))
            self.terminal.read(0.1)

    def type(self, text):
        self.mark = len(self.terminal.raw)
        self.terminal.send(text)

    def attributes(self):
        """What the shell's commands get."""
        self.type("stty -g | sed s/^/got:/\n")
        self.wait(rb"[\r\n]got:[0-9a-f:]+\r")
        found = re.search(rb"[\r\n]got:([0-9a-f:]+)", self.terminal.raw[self.mark:])[1]
        self.wait(rb"ready> $")
        return found

    def job(self):
        """The pid of its symtop."""
        with open(f"/proc/{self.terminal.pid}/task/{self.terminal.pid}/children",
                  encoding="ascii") as file:
            return int(file.read().split()[0])


def stop_and_resume(*shell_argv):
    shell = Shell(*shell_argv)
    terminal = shell.terminal
    before = shell.attributes()
    shell.type("$S -d 0.3\n")
    shell.wait(rb"OVERHEAD")
    pid = shell.job()
    shell.type("\x1a")
    shell.wait(rb"ready> $")
    e2e.check(e2e.wait_for(lambda: e2e.state_of(pid) == "T"), e2e.state_of(pid))
    e2e.check(not terminal.is_alternate() and not terminal.is_cursor_hidden(),
              bytes(terminal.raw[-300:]))
    e2e.check(shell.attributes() == before, "the stopped symtop left the terminal changed")
    terminal.resize(30, 90)
    shell.type("fg\n")
    shell.wait(rb"\x1b\[\?1049h")
    wait_drawn(terminal, 30)
    shell.type("q")
    shell.wait(rb"ready> $")
    e2e.check(not terminal.is_alternate() and not terminal.is_cursor_hidden(),
              bytes(terminal.raw[-300:]))
    e2e.check(shell.attributes() == before, "the terminal is left changed")
    shell.type("exit\n")
    e2e.check(terminal.ended() == 0)


@e2e.case("FC-083 ^Z under bash: the prompt is usable; fg draws the new size")
def _():
    stop_and_resume(e2e.need_tool("bash"), "--norc", "--noprofile", "-i")


@e2e.case("FC-083 ^Z under dash")
def _():
    stop_and_resume(e2e.need_tool("dash"), "-i")


@e2e.case("FC-083 SIGSTOP and SIGCONT from outside: it goes on")
def _():
    terminal = start_screen("-d", "0.3")
    os.kill(terminal.pid, signal.SIGSTOP)
    e2e.check(e2e.wait_for(lambda: e2e.state_of(terminal.pid) == "T"))
    terminal.resize(20, 70)
    terminal.pump(0.5)
    os.kill(terminal.pid, signal.SIGCONT)
    wait_drawn(terminal, 20)
    terminal.send("q")
    e2e.check(terminal.ended() == 0)
    check_restored(terminal)


@e2e.case("FC-083 started in the background it neither takes keys nor spins")
def _():
    shell = Shell(e2e.need_tool("bash"), "--norc", "--noprofile", "-i")
    before = shell.attributes()
    shell.type("$S &\n")
    shell.wait(rb"ready> $")
    time.sleep(0.5)
    pid = shell.job()
    used = e2e.cpu_seconds(pid)
    e2e.check(shell.attributes() == before, "the terminal is changed")
    shell.terminal.pump(0.5)
    e2e.check(e2e.cpu_seconds(pid) - used < 0.2 * e2e.SLOW, e2e.cpu_seconds(pid) - used)
    e2e.check(e2e.state_of(pid) == "T", e2e.state_of(pid))
    shell.type("fg\n")
    shell.wait(rb"OVERHEAD")
    shell.type("q")
    shell.wait(rb"ready> $")
    e2e.check(shell.attributes() == before, "the terminal is left changed")


# ---- FC-089, FC-090 ----

SIZES = ((1, 1), (2, 5), (3, 10), (10, 38), (24, 1), (1, 200), (0, 0), (500, 300))


@e2e.case("FC-089 very small windows: q quits at every size, also when it starts there")
def _():
    for rows, columns in SIZES:
        terminal = e2e.Terminal(e2e.SYMTOP, env={"TERM": "xterm"}, rows=max(rows, 1),
                                columns=max(columns, 1))
        terminal.resize(rows, columns)
        e2e.check(e2e.wait_for(lambda: terminal.read(0.05) and terminal.is_alternate()),
                  f"{rows}x{columns}", bytes(terminal.raw))
        terminal.pump(0.1)
        terminal.send("q")
        status = terminal.ended()
        e2e.check(status == 0, f"{rows}x{columns}: status {status}", bytes(terminal.raw[-300:]))
        check_restored(terminal, f"{rows}x{columns}")


@e2e.case("FC-089 it recovers when the window becomes large again")
def _():
    terminal = start_screen("-d", "0.3", term="linux")
    for rows, columns in SIZES + ((24, 80), (1, 1), (30, 100)):
        terminal.resize(rows, columns)
        terminal.pump(0.1)
        e2e.check(terminal.process.poll() is None, f"{rows}x{columns}: it ended")
    wait_drawn(terminal, 30)
    terminal.resize(1, 1)
    terminal.send("q")
    e2e.check(terminal.ended() == 0)
    check_restored(terminal)


@e2e.case("FC-090 a storm of resizes: it lives, and the last size is drawn")
def _():
    e2e.start(e2e.build("flood.c"), "60")
    terminal = start_screen("-d", "0.1", term="linux")
    seed = random.randrange(1 << 32)
    sizes = random.Random(seed)
    for _ in range(60):
        terminal.resize(sizes.randint(1, 100), sizes.randint(1, 200))
        terminal.pump(0.005)
        e2e.check(terminal.process.poll() is None, f"it ended (seed {seed})")
    terminal.resize(24, 80)
    wait_drawn(terminal, 24)
    terminal.send("q")
    e2e.check(terminal.ended() == 0)
    check_restored(terminal)


if __name__ == "__main__":
    sys.exit(e2e.run(e2e.need_events))

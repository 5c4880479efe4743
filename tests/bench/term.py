#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Run a program in a terminal of its own and measure it.

usage: term.py [OPTION]... -- COMMAND [ARGUMENT]...

  --label TABLE ROW PROGRAM  what the measurements are called
  --size ROWSxCOLUMNS        of the terminal (40x140)
  --until METRIC=REGEX       seconds from exec to the first screen that matches; may be
                             repeated; the run ends when all have matched
  --limit SECONDS            ... or after this time (120)
  --warm SECONDS             then wait so long (0)
  --window SECONDS           and measure its CPU share and output for so long
  --percent METRIC=REGEX     in the window, the mean over its screens of the percentage
                             that the first group of REGEX matches; 0 where a screen has
                             rows, but not this; may be repeated
  --rss-at SECONDS           the resident memory at this time; may be repeated

Prints one JSON object a measurement. All CPU times are of the whole process, its ended
threads and awaited children included. The program is ended with q, SIGTERM if it stays,
SIGKILL if it still stays, and whatever it started with SIGKILL.

The exit status is 1 when the program ended by itself before everything was measured. A
screen that never matched is a result: null.
"""

import argparse
import ctypes
import errno
import fcntl
import json
import os
import pty
import re
import select
import shlex
import signal
import struct
import sys
import termios
import time

import pyte

TICKS = os.sysconf("SC_CLK_TCK")
PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
LIBC = ctypes.CDLL(None, use_errno=True)

# A row of any profiler's table begins with its share; figures in a header do not.
ROW = re.compile(r"^\W*\d+\.\d+%", re.MULTILINE)


class EndedEarly(Exception):
    """The program ended by itself."""


class Screen:
    """What the terminal shows."""

    def __init__(self, rows, columns):
        self.columns = columns
        self.screen = pyte.Screen(columns, rows)
        self.stream = pyte.ByteStream(self.screen)
        self.lines = [""] * rows

    def feed(self, data):
        self.stream.feed(data)

    def text(self):
        # Only changed lines: this must not cost what is measured beside it.
        for row in self.screen.dirty:
            line = self.screen.buffer[row]
            self.lines[row] = "".join(line[x].data for x in range(self.columns))
        self.screen.dirty.clear()
        return "\n".join(self.lines)


class Program:
    """A program in a terminal."""

    def __init__(self, command, rows, columns):
        self.screen = Screen(rows, columns)
        self.nr_bytes = 0
        status, child_status = os.pipe()
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            self._exec(command, rows, columns, child_status)
        os.close(child_status)
        said = b""
        # The descriptor closes when exec succeeds.
        while part := os.read(status, 4096):
            said += part
        os.close(status)
        if len(said) != 8:
            os.waitpid(self.pid, 0)
            self.pid = 0
            raise EndedEarly(f"{command[0]}: {said[8:].decode(errors='replace')}")
        self.start = struct.unpack("q", said)[0] / 1e9
        os.set_blocking(self.fd, False)

    @staticmethod
    def _exec(command, rows, columns, status):
        """In the child. Says when it called exec, and why that failed if it did."""
        try:
            # Should we be killed, the kernel ends it.
            LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            signal.signal(signal.SIGPIPE, signal.SIG_DFL)
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
            for name in ("LINES", "COLUMNS", "NO_COLOR", "PAGER"):
                os.environ.pop(name, None)
            # What pyte understands; xterm's terminfo has sequences that it does not.
            os.environ.update(TERM="linux", LC_ALL="C.UTF-8")
            os.write(status, struct.pack("q", time.monotonic_ns()))
            os.execvp(command[0], command)
        except OSError as error:
            os.write(status, os.strerror(error.errno).encode())
        finally:
            os._exit(127)

    def elapsed(self):
        return time.monotonic() - self.start

    def pump(self, timeout):
        """Wait for output at most timeout; True when the screen got some."""
        if not select.select([self.fd], [], [], max(timeout, 0))[0]:
            return False
        try:
            data = os.read(self.fd, 1 << 16)
        except BlockingIOError:
            return False
        except OSError as error:
            if error.errno != errno.EIO:
                raise
            data = b""
        if not data:
            raise EndedEarly(f"ended by itself after {self.elapsed():.1f} s")
        self.nr_bytes += len(data)
        self.screen.feed(data)
        return True

    def cpu_seconds(self):
        with open(f"/proc/{self.pid}/stat", encoding="utf-8", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
        return sum(int(field) for field in fields[11:15]) / TICKS

    def memory(self, name):
        """A figure of /proc/PID/status in bytes."""
        with open(f"/proc/{self.pid}/status", encoding="utf-8", errors="replace") as file:
            match = re.search(rf"^{name}:\s+(\d+) kB$", file.read(), re.MULTILINE)
        if not match:
            raise EndedEarly("has ended by itself")
        return int(match[1]) * 1024

    def _gone(self, seconds):
        """Wait so long for its end, reading on so that it never waits for us."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if os.waitpid(self.pid, os.WNOHANG)[0]:
                self.pid = 0
                return True
            try:
                self.pump(0.01)
            except (EndedEarly, OSError):
                time.sleep(0.01)
        return False

    def quit(self):
        """Press q; the seconds until its end, None when it stayed."""
        start = time.monotonic()
        try:
            os.write(self.fd, b"q")
        except OSError:
            pass
        return time.monotonic() - start if self._gone(5) else None

    def end(self):
        """End it if it still runs, and what it started."""
        if self.pid:
            os.kill(self.pid, signal.SIGTERM)
            if not self._gone(2):
                os.kill(self.pid, signal.SIGKILL)
                os.waitpid(self.pid, 0)
                self.pid = 0
        end_orphans()


def end_orphans():
    """Kill what the program left: as subreaper we are its parent now."""
    me = os.getpid()
    while True:
        try:
            if os.waitpid(-1, os.WNOHANG)[0]:
                continue
        except ChildProcessError:
            return
        with open(f"/proc/{me}/task/{me}/children", encoding="ascii") as file:
            for pid in file.read().split():
                os.kill(int(pid), signal.SIGKILL)
        time.sleep(0.01)


class Run:
    """The measurements of one run."""

    def __init__(self, options, program):
        self.options = options
        self.program = program
        self.results = []

    def add(self, metric, value, unit):
        self.results.append((metric, value, unit))

    def until(self):
        """Wait for the screens that were asked for."""
        program = self.program
        missing = list(self.options.until)
        fresh = True
        while missing and program.elapsed() < self.options.limit:
            seen = program.elapsed()
            if fresh:
                text = program.screen.text()
                for metric, regex in [(m, r) for m, r in missing if r.search(text)]:
                    self.add(metric, seen, "s")
                    missing.remove((metric, regex))
            if missing:
                fresh = program.pump(min(0.1, self.options.limit - program.elapsed()))
        for metric, _ in missing:
            print(f"term.py: {metric}: not seen in {self.options.limit:g} s", file=sys.stderr)
            self.add(metric, None, "s")
        if missing:
            show(program.screen)
        if self.options.until:
            self.add("cpu_until_then", program.cpu_seconds(), "s")

    def wait(self, until):
        while (left := until - self.program.elapsed()) > 0:
            self.program.pump(left)

    def window(self):
        """Measure for the window; looks at the screen each second if it must."""
        program, options = self.program, self.options
        begin = program.elapsed() + options.warm
        end = begin + options.window
        looks = [begin + i for i in range(int(options.window) + 1)] if options.percent else []
        events = [(begin, "begin", None), (end, "end", None)]
        events += [(at, "look", None) for at in looks]
        events += [(at, "rss", at) for at in options.rss_at if at <= end]
        percents = {metric: [] for metric, _ in options.percent}
        for at, what, argument in sorted(events, key=lambda event: event[0]):
            self.wait(at)
            if what == "begin":
                first = (program.elapsed(), program.cpu_seconds(), program.nr_bytes)
            elif what == "look":
                self.look(percents)
            elif what == "rss":
                self.add(f"rss_at_{argument:g}_s", program.memory("VmRSS"), "B")
        seconds = program.elapsed() - first[0]
        self.add("own_cpu", (program.cpu_seconds() - first[1]) / seconds, "CPU")
        self.add("output", (program.nr_bytes - first[2]) / seconds, "B/s")
        self.add("rss_at_end", program.memory("VmRSS"), "B")
        for metric, values in percents.items():
            self.add(metric, sum(values) / len(values) / 100 if values else None, "share")

    def look(self, percents):
        text = self.program.screen.text()
        if not ROW.search(text):
            return
        for metric, regex in self.options.percent:
            match = regex.search(text)
            percents[metric].append(float(match[1]) if match else 0.0)

    def all(self):
        self.until()
        if self.options.window:
            self.window()
        self.add("peak_rss", self.program.memory("VmHWM"), "B")
        self.add("quit", self.program.quit(), "s")


def show(screen):
    """The last screen, for whoever must find out what went wrong."""
    text = screen.text()
    lines = [line.rstrip() for line in text.split("\n") if line.strip()]
    for line in lines[:12]:
        print(f"term.py: | {line}", file=sys.stderr)


def named_regex(text):
    metric, equals, regex = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError("METRIC=REGEX")
    try:
        return metric, re.compile(regex, re.MULTILINE)
    except re.error as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def parse():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--label", nargs=3, default=("", "", ""))
    parser.add_argument("--size", default="40x140")
    parser.add_argument("--until", type=named_regex, action="append", default=[])
    parser.add_argument("--limit", type=float, default=120)
    parser.add_argument("--warm", type=float, default=0)
    parser.add_argument("--window", type=float, default=0)
    parser.add_argument("--percent", type=named_regex, action="append", default=[])
    parser.add_argument("--rss-at", type=float, action="append", default=[])
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()
    try:
        options.rows, options.columns = map(int, options.size.split("x"))
    except ValueError:
        parser.error("--size ROWSxCOLUMNS")
    return options


def end_on_signals():
    def leave(number, _frame):
        for other in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
            signal.signal(other, signal.SIG_IGN)
        sys.exit(128 + number)

    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, leave)


def main():
    options = parse()
    program = None
    status = 0
    end_on_signals()
    LIBC.prctl(PR_SET_CHILD_SUBREAPER, 1)
    try:
        program = Program(options.command, options.rows, options.columns)
        run = Run(options, program)
        run.all()
        table, row, name = options.label
        for metric, value, unit in run.results:
            print(json.dumps({"table": table, "row": row, "program": name, "metric": metric,
                              "value": value, "unit": unit,
                              "command": shlex.join(options.command)}))
    except EndedEarly as error:
        print(f"term.py: {shlex.join(options.command)}: {error}", file=sys.stderr)
        if program:
            show(program.screen)
        status = 1
    finally:
        if program:
            program.end()
    return status


if __name__ == "__main__":
    sys.exit(main())

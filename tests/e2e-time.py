#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Looking back: while paused the screen steps through the time of a recording and of what was
collected live; a baseline tells what changed."""

import os
import re
import sys
import time

sys.dont_write_bytecode = True
import e2e_lib as e2e  # pylint: disable=wrong-import-position
from e2e_oracle import perf  # pylint: disable=wrong-import-position

LEFT, RIGHT = "\x1b[D", "\x1b[C"
SIZE = {"rows": 30, "columns": 120}


def two_halves():
    """A recording of two seconds of spin, then two of fib; kept for other cases."""
    data = e2e.temporary("halves.data")
    if not os.path.exists(data):
        e2e.need_events()
        perf("record", "-q", "-B", "-e", "cpu-clock", "-F", "999", "-o", data + ".part", "--",
             "/bin/sh", "-c", f"{e2e.build('spin.c')} 2; timeout 2 {e2e.build('fib.c')}; true")
        os.rename(data + ".part", data)
    return data


def replay(*args):
    """A screen at the end of the recording."""
    data = two_halves()
    terminal = e2e.Terminal(e2e.SYMTOP, "-i", data, "-d", "0.25", "--window", "0.5",
                            "--comms", "spin,fib", *args, **SIZE)
    terminal.wait(r"end of halves\.data")
    return terminal


def table(terminal):
    """The lines below the titles."""
    lines = terminal.lines()
    title = next(i for i, line in enumerate(lines) if "OVERHEAD" in line)
    return "\n".join(lines[title + 1:-1])


def wait_without(terminal, name):
    """Wait until the table has no such name; lines above it are drawn before."""
    def is_over():
        terminal.read(0.02)
        return name not in table(terminal)

    e2e.check(e2e.wait_for(is_over), f"{name} stays", terminal.text())


def moment(terminal):
    """Seconds into the file, and of how many."""
    match = terminal.wait(r"at ([0-9.]+) s of ([0-9.]+) s")
    return float(match[1]), float(match[2])


def step(terminal, key):
    """Press it; the moment there."""
    before = terminal.lines()[0]

    def stepped():
        terminal.read(0.02)
        return terminal.lines()[0] != before and re.search(r"at [0-9.]+ s of", terminal.lines()[0])

    terminal.send(key)
    e2e.check(e2e.wait_for(stepped), "no step", terminal.text())
    terminal.pump(0.05)
    return moment(terminal)[0]


def leave(terminal):
    terminal.send("q")
    e2e.check(terminal.ended() == 0, "status")


@e2e.case("steps go over the whole of a recording that was read at full speed")
def _():
    terminal = replay()
    terminal.wait(r"fib +fib +\[\.\] fib$")
    wait_without(terminal, "hot_alpha")
    terminal.send(" ")
    terminal.wait("PAUSED")
    last = step(terminal, LEFT)
    e2e.check("fib" in table(terminal), terminal.text())
    seen = [last]
    while "hot_alpha" not in table(terminal):
        seen.append(step(terminal, LEFT))
        e2e.check(len(seen) < 30, seen, terminal.text())
    first = step(terminal, "{")
    terminal.wait("hot_alpha")
    wait_without(terminal, " fib ")
    e2e.check(first <= 0.3 and all(a - b < 0.3 for a, b in zip(seen, seen[1:])), first, seen)
    e2e.check(2 < last <= moment(terminal)[1], last, terminal.text())
    terminal.send(LEFT)
    terminal.wait("there is nothing older")
    step(terminal, "}")
    terminal.wait(r"fib +fib +\[\.\] fib$")
    terminal.send(RIGHT)
    terminal.wait("there is nothing newer")
    terminal.send(" ")
    terminal.wait("refresh 0.25 s")
    e2e.check("PAUSED" not in terminal.text(), terminal.text())
    leave(terminal)


@e2e.case("filters and windows work at a moment that was stepped to")
def _():
    terminal = replay("--filter", "symbol!=fib")
    terminal.send(" {")
    terminal.wait("hot_alpha")
    terminal.send("\\" + "\x7f" * 20 + "symbol=hot_beta\r")
    terminal.wait("filter: symbol=hot_beta")
    terminal.wait("hot_beta$")
    wait_without(terminal, "hot_alpha")
    moment(terminal)
    leave(terminal)


@e2e.case("a baseline compares one time of a recording with another")
def _():
    terminal = replay()
    terminal.send(" {")
    terminal.wait("hot_alpha")
    terminal.send("b")
    terminal.wait(r"% +0\.00 +spin .*hot_alpha")
    terminal.send(" ")
    terminal.wait(r"% +new +fib .*fib$")
    terminal.wait(r"baseline at 0\.[0-9] s of [0-9.]+ s, [0-9]+ rows? of it gone")
    leave(terminal)


@e2e.case("while a recording is shown at its speed it can be paused and gone back in")
def _():
    data = two_halves()
    terminal = e2e.Terminal(e2e.SYMTOP, "-i", data, "-d", "0.25", "--window", "0.5", "--speed",
                            "1", "--comms", "spin,fib", **SIZE)
    terminal.wait("hot_alpha")
    terminal.wait(r"fib$")
    terminal.send(" ")
    terminal.wait("PAUSED")
    held = table(terminal)
    terminal.pump(0.7)
    e2e.check(table(terminal) == held, held, terminal.text())
    terminal.send("{")
    terminal.wait("hot_alpha")
    terminal.send(" ")
    terminal.wait(r"end of halves\.data", limit=20)
    terminal.wait(r"fib$")
    leave(terminal)


# ---- live, with names of their own: others may run the same programs ----

def live(*args):
    e2e.need_machine()
    return e2e.Terminal(e2e.SYMTOP, "-d", "0.3", "--window", "0.6", *args, **SIZE)


@e2e.case("live, one looks back at what has ended")
def _():
    terminal = live("--comms", "spin-time")
    process = e2e.start(e2e.build("spin.c", "spin-time"))
    terminal.wait("hot_alpha")
    terminal.pump(1)
    e2e.stop(process)
    wait_without(terminal, "hot_alpha")
    terminal.pump(0.5)
    terminal.send(" ")
    deadline = time.monotonic() + 10 * e2e.SLOW
    while "hot_alpha" not in table(terminal):
        terminal.send(LEFT)
        terminal.pump(0.1)
        e2e.check(time.monotonic() < deadline, terminal.text())
    terminal.wait(r"window 0\.60 s ending [0-9.]+ s ago")
    terminal.send(" ")
    terminal.wait("refresh 0.30 s")
    wait_without(terminal, "hot_alpha")
    leave(terminal)


@e2e.case("a baseline shows what starts as new, what takes over as more, what ended as gone")
def _():
    terminal = live("--comms", "spin-time,fib-time")
    fib = e2e.start(e2e.build("fib.c", "fib-time"))
    terminal.wait(r"fib$")
    terminal.pump(1)
    terminal.send("b")
    terminal.wait("baseline")
    e2e.start(e2e.build("spin.c", "spin-time"))
    terminal.wait(r"% +new +spin-time .*hot_alpha")
    terminal.wait(r"% +-[0-9.]+ +fib-time .*fib$")
    terminal.send("b")
    terminal.wait("the baseline was dropped")
    terminal.pump(1)
    terminal.send("b")
    terminal.wait(r"% +(0\.00|[-+]0\..*) +spin-time .*hot_alpha")
    e2e.stop(fib)
    terminal.wait(r"% +\+[0-9]{1,2}\.[0-9]+ +spin-time .*hot_alpha")
    terminal.wait(r"[0-9]+ rows? of it gone")
    terminal.send(">")
    terminal.wait(r"\u0394.\s|DELTAv")
    leave(terminal)


if __name__ == "__main__":
    sys.exit(e2e.run(e2e.need_events))

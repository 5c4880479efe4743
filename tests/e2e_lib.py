# SPDX-License-Identifier: GPL-2.0-or-later
"""What the end-to-end tests share: running symtop, a terminal, workloads, TAP.

A test file declares its cases and runs them:

    import sys
    sys.dont_write_bytecode = True  # the sources may be read-only
    import e2e_lib as e2e

    @e2e.case("FC-001 the fact that is tested")
    def _():
        report = e2e.reports("-n", "1", "-d", "0.5")[-1]
        e2e.check(report["samples"] > 0, f"no samples: {report}")

    if __name__ == "__main__":
        sys.exit(e2e.run(e2e.need_events))

A case fails by check() or any exception, and raises Skip where this machine cannot do
it. What a case started or changed is undone when it ends, however it ends.
"""

import atexit
import contextlib
import ctypes
import fcntl
import json
import os
import platform
import queue
import re
import select
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
import traceback

try:
    import pyte
except ImportError:
    pyte = None

SRCDIR = os.path.abspath(os.environ.get("srcdir", os.path.join(os.path.dirname(__file__), "..")))
BUILDDIR = os.path.abspath(os.environ.get("builddir", "."))
SYMTOP = os.path.join(BUILDDIR, "symtop")
NOBODY = 65534

LIBC = ctypes.CDLL(None, use_errno=True)
PR_SET_PDEATHSIG = 1


def _is_sanitized():
    with open(SYMTOP, "rb") as file:
        text = file.read()
    return b"__asan_init" in text or b"__tsan_init" in text


SANITIZED = os.path.exists(SYMTOP) and _is_sanitized()
# Limits against hanging are multiplied by it; measurements do not use it.
SLOW = 5 if SANITIZED else 1
# Seconds; a case that waits for longer waits for ever.
CASE_LIMIT = 120


# ---- cases ----

class Skip(Exception):
    """This machine or user cannot do it."""


class Failed(Exception):
    """A fact does not hold."""


# Of the case that runs, from 1 on: what is kept for later cases is made anew for the second.
attempt = 1

_cases = []
_undo = contextlib.ExitStack()
_temporary = None


def case(fact):
    """Declare the function as the case that shows the fact."""
    def add(function):
        _cases.append((fact, function))
        return function
    return add


def check(condition, *details):
    """Fail the case unless condition holds; details are printed with it."""
    if not condition:
        raise Failed("\n".join(str(detail) for detail in details))


def at_end(function, *args):
    """Call it when the case ends; the last one first."""
    _undo.callback(function, *args)


def _print_details(text):
    for line in text.splitlines():
        shown = "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in line)
        print(f"#   {shown[:2000]}")


def _attempt(function):
    """(passed, TAP suffix, details) of one run of a case, whatever it raises."""
    try:
        try:
            signal.alarm(CASE_LIMIT * SLOW)
            function()
        finally:
            signal.alarm(0)
            _undo.close()
    except Skip as skip:
        return True, f" # SKIP {skip}", ""
    except Failed as failed:
        return False, "", str(failed)
    except Exception:  # pylint: disable=broad-exception-caught
        return False, "", traceback.format_exc()
    return True, "", ""


def _run_case(number, fact, function):
    """True unless it failed, which is said of what failed twice: these tests watch the whole
    machine, and what else it does meanwhile is not theirs. A first failure is printed too."""
    global attempt  # pylint: disable=global-statement
    begin = time.monotonic()
    attempt = 1
    ok, suffix, details = _attempt(function)
    if not ok:
        print("# failed once, is tried again:", flush=True)
        _print_details(details)
        attempt = 2
        ok, suffix, details = _attempt(function)
    print(f"{'ok' if ok else 'not ok'} {number} - {fact}{suffix}", flush=True)
    _print_details(f"{time.monotonic() - begin:.1f} s\n{details}")
    return ok


def _missing(need):
    """Why nothing can run; None."""
    if not os.path.exists(SYMTOP):
        return f"{SYMTOP} is not built"
    try:
        if need:
            need()
    except Skip as skip:
        return str(skip)
    return None


def run(need=None):
    """Run the cases whose fact contains an argument, all without one; none when need()
    raises Skip. The exit status."""
    if os.environ.get("SYMTOP_NO_E2E"):
        print("1..0 # SKIP end-to-end tests are left out (SYMTOP_NO_E2E)")
        return 0
    def leave(number, _frame):
        for other in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
            signal.signal(other, signal.SIG_IGN)
        sys.exit(128 + number)

    def give_up(_number, _frame):
        raise Failed(f"does not end within {CASE_LIMIT * SLOW} s")

    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, leave)
    signal.signal(signal.SIGALRM, give_up)
    missing = _missing(need)
    if missing:
        print(f"1..0 # SKIP {missing}")
        return 0
    wanted = sys.argv[1:]
    chosen = [(f, c) for f, c in _cases if not wanted or any(w in f for w in wanted)]
    failed = sum(not _run_case(i + 1, *chosen[i]) for i in range(len(chosen)))
    print(f"1..{len(chosen)}", flush=True)
    return 1 if failed else 0


def temporary(name=""):
    """A path in a folder that everyone can enter and that goes when the test ends."""
    global _temporary  # pylint: disable=global-statement
    if not _temporary:
        _temporary = tempfile.mkdtemp(prefix="symtop-e2e-")
        os.chmod(_temporary, 0o755)
        atexit.register(shutil.rmtree, _temporary, True)
    return os.path.join(_temporary, name)


# ---- what this machine can do ----

def is_root():
    return os.geteuid() == 0


def need_root():
    if not is_root():
        raise Skip("needs root")


def _can_sample(pid, cpu):
    numbers = {"x86_64": 298, "aarch64": 241, "riscv64": 241, "ppc64le": 319, "s390x": 331}
    number = numbers.get(platform.machine())
    if number is None:
        raise Skip("the number of perf_event_open(2) is not known here")
    # A cpu-clock event (type 1, config 0), disabled, without the kernel and hypervisor.
    attr = struct.pack("IIQQQQQ", 1, 128, 0, 1000000, 0, 0, 1 | 1 << 5 | 1 << 6)
    fd = LIBC.syscall(number, attr.ljust(128, b"\0"), pid, cpu, -1, ctypes.c_ulong(8))
    if fd >= 0:
        os.close(fd)
    return fd >= 0


def need_machine():
    """Skip unless whole CPUs may be sampled."""
    if not _can_sample(-1, min(os.sched_getaffinity(0))):
        raise Skip("perf_event_open(2) of the whole machine is refused here")


def need_events():
    """Skip unless at least own processes may be sampled."""
    if not _can_sample(0, -1):
        raise Skip("perf_event_open(2) is refused here")


def need_tool(name):
    path = shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
    if not path:
        raise Skip(f"{name} is not installed")
    return path


def read_sysctl(name):
    try:
        with open("/proc/sys/" + name.replace(".", "/"), encoding="ascii") as file:
            return file.read().strip()
    except OSError:
        return None


def set_sysctl(name, value):
    """Until the case ends."""
    old = read_sysctl(name)
    path = "/proc/sys/" + name.replace(".", "/")

    def write(text):
        with open(path, "w", encoding="ascii") as file:
            file.write(str(text))

    if old is None:
        raise Skip(f"{name} does not exist here")
    if old == str(value):
        return
    at_end(write, old)
    try:
        write(value)
    except OSError as error:
        raise Skip(f"{name}: {error.strerror}") from error


# ---- processes ----

def _child_setup(extra):
    def setup():
        # Should we be killed, the kernel ends it.
        LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        # Python ignores it, and what is ignored stays so in the program.
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        if extra:
            extra()
    return setup


def _environment(env):
    """The tests' own plus env, where None removes."""
    whole = dict(os.environ)
    for name in ("LINES", "COLUMNS", "NO_COLOR"):
        whole.pop(name, None)
    for name, value in (env or {}).items():
        if value is None:
            whole.pop(name, None)
        else:
            whole[name] = value
    return whole


def _identity(user):
    """Arguments of Popen to be that user; None: as we are."""
    return {} if user is None else {"user": user, "group": user, "extra_groups": []}


def start(*argv, user=None, env=None, setup=None, **arguments):
    """Start a program until the case ends; setup() runs in the child before exec."""
    arguments.setdefault("stdin", subprocess.DEVNULL)
    arguments.setdefault("stdout", subprocess.DEVNULL)
    # Who reads a line must not have taken what communicate() looks for.
    arguments.setdefault("bufsize", 0)
    process = subprocess.Popen(  # pylint: disable=consider-using-with
        [str(arg) for arg in argv], env=_environment(env), preexec_fn=_child_setup(setup),
        **_identity(user), **arguments)
    at_end(stop, process)
    return process


def stop(process, number=signal.SIGKILL):
    """End what start() started, if it still runs."""
    if process.poll() is None:
        process.send_signal(signal.SIGCONT)
        process.send_signal(number)
        try:
            process.wait(10 * SLOW)
        except subprocess.TimeoutExpired as error:
            process.kill()
            process.wait()
            raise Failed(f"{signal.Signals(number).name} does not end it") from error
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe:
            pipe.close()


def for_others(program=None):
    """The path of a copy that every user can run."""
    copy = temporary("symtop" if program is None else os.path.basename(program))
    if not os.path.exists(copy):
        shutil.copy(program or SYMTOP, copy)
        os.chmod(copy, 0o755)
    return copy


class Result:
    """How a run of a program ended: status as a shell has it, out and err as text."""

    def __init__(self, argv, status, out, err):
        self.argv = argv
        self.status = status
        self.raw_out, self.raw_err = out or b"", err or b""
        self.out = self.raw_out.decode(errors="replace")
        self.err = self.raw_err.decode(errors="replace")

    def __str__(self):
        return (f"{shlex.join(self.argv)}: status {self.status}\n"
                f"stdout: {self.out[:1500]!r}\nstderr: {self.err[:1500]!r}")


def shell_status(code):
    """subprocess says -9 where a shell says 137."""
    return 128 - code if code < 0 else code


def finish(process, limit=20):
    """Wait for the end of what start() started."""
    try:
        out, err = process.communicate(timeout=limit * SLOW)
    except subprocess.TimeoutExpired as error:
        process.kill()
        out, err = process.communicate()
        raise Failed(f"still runs after {limit * SLOW} s",
                     Result(process.args, -1, out, err)) from error
    return Result(process.args, shell_status(process.returncode), out, err)


def start_symtop(*args, program=None, **arguments):
    """symtop with pipes for its stdout and stderr."""
    arguments.setdefault("stdout", subprocess.PIPE)
    arguments.setdefault("stderr", subprocess.PIPE)
    if program is None:
        program = SYMTOP if arguments.get("user") is None else for_others()
    return start(program, *args, **arguments)


def symtop(*args, limit=20, **arguments):
    """Run symtop to its end; a Result."""
    return finish(start_symtop(*args, **arguments), limit)


# ---- JSON reports ----

def parse(result):
    """The reports of a run with --format json; each line must be one."""
    check(result.raw_out == b"" or result.raw_out.endswith(b"\n"), "the last line is cut")
    return [parse_line(line) for line in result.raw_out.split(b"\n")[:-1]]


def parse_line(line):
    """One report."""
    try:
        # Python takes NaN and raw control characters if it is not told otherwise.
        return json.loads(line.decode("utf-8"), strict=True, parse_constant=_no_constant)
    except ValueError as error:
        at = getattr(error, "pos", getattr(error, "start", 0))
        raise Failed(f"no JSON: {error}", repr(line[max(at - 100, 0):at + 100])) from error


def _no_constant(name):
    raise ValueError(f"{name} is no JSON")


def reports(*args, **arguments):
    """Run symtop in batch mode, which must succeed; its reports."""
    result = symtop("-b", "--format", "json", *args, **arguments)
    check(result.status == 0, result)
    parsed = parse(result)
    check(parsed, "no report", result)
    return parsed


class Batch:
    """symtop in batch mode whose JSON reports are taken one by one.

    A thread reads them as they come: symtop leaves reports out while nobody reads.
    """

    def __init__(self, *args, **arguments):
        self.process = start_symtop("-b", "--format", "json", *args, **arguments)
        self.pid = self.process.pid
        self._lines = queue.Queue()
        threading.Thread(target=self._read, args=(os.dup(self.process.stdout.fileno()),),
                         daemon=True).start()

    def _read(self, fd):
        with open(fd, "rb") as file:
            for line in file:
                self._lines.put(line)
        self._lines.put(None)

    def next(self, limit=20):
        """The next report; None when there are no more."""
        try:
            line = self._lines.get(timeout=limit * SLOW)
        except queue.Empty:
            raise Failed(f"no report within {limit * SLOW} s") from None
        if line is None:
            self._lines.put(None)
            return None
        check(line.endswith(b"\n"), "the last line is cut")
        return parse_line(line)

    def rest(self, limit=20):
        """Wait for its end, which must be good; the reports that were not taken."""
        reports_left = []
        while (report := self.next(limit)) is not None:
            reports_left.append(report)
        result = finish(self.process, limit)
        check(result.status == 0, result)
        return reports_left

    def interrupt(self, limit=20):
        """End it with SIGINT; the reports that were not taken, with that of the rest."""
        self.process.send_signal(signal.SIGINT)
        return self.rest(limit)


def settled(*args, **arguments):
    """A report of a run in which the names of all but a rest have been looked up."""
    batch = Batch(*args, **arguments)
    # Sanitized, or with a large program just sampled, the first may be too early.
    for _ in range(10):
        report = batch.next()
        if report is None or report["pending"] < 0.001:
            break
    check(report, "it ended before its names were there")
    batch.interrupt()
    return report


def rows(report, **wanted):
    """The rows where each member has this value, or one of these in a set or list."""
    def has(row, name, value):
        return row[name] in value if isinstance(value, (set, list, tuple)) else row[name] == value
    return [row for row in report["rows"] if all(has(row, n, v) for n, v in wanted.items())]


def share(report, **wanted):
    """The overhead of these rows together, 0 to 1."""
    return sum(row["overhead"] for row in rows(report, **wanted))


def samples(report_or_reports, **wanted):
    """The samples of these rows together, over all reports."""
    if isinstance(report_or_reports, dict):
        report_or_reports = [report_or_reports]
    return sum(row["samples"] for report in report_or_reports for row in rows(report, **wanted))


# ---- workloads ----

def build(source, name=None, flags=("-O1", "-g", "-fno-omit-frame-pointer", "-pthread"),
          compiler=None):
    """Compile tests/workloads/SOURCE; the path of the program. Once for a name."""
    compiler = shlex.split(compiler or os.environ.get("CC") or "cc")
    program = temporary(name or os.path.splitext(os.path.basename(source))[0])
    if os.path.exists(program):
        return program
    need_tool(compiler[0])
    result = subprocess.run(
        [*compiler, "-std=gnu11", *flags, "-o", program,
         os.path.join(SRCDIR, "tests", "workloads", source)],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    check(result.returncode == 0, f"{source} does not compile", result.stdout.decode())
    return program


def is_pipe_full(pipe):
    """Whether who writes to it all the time waits for the reader, who is us."""
    def waiting():
        return struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, b"\0" * 4))[0]

    before = waiting()
    time.sleep(0.5 * SLOW)
    return before > 0 and waiting() == before


def wait_for(condition, limit=10, step=0.02):
    """What condition() returns, as soon as it is true; falsy after limit."""
    deadline = time.monotonic() + limit * SLOW
    while True:
        value = condition()
        if value or time.monotonic() >= deadline:
            return value
        time.sleep(step)


def state_of(pid):
    """The letter of /proc/PID/stat; "" when it is gone."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0].decode()
    except OSError:
        return ""


def cpu_seconds(pid):
    """User and system time of a process and its awaited children."""
    with open(f"/proc/{pid}/stat", "rb") as file:
        fields = file.read().rpartition(b")")[2].split()
    return sum(int(field) for field in fields[11:15]) / os.sysconf("SC_CLK_TCK")


# ---- a terminal ----

def _emulator(rows, columns):
    """pyte's screen and stream, with what TERM=xterm has and pyte lacks."""
    class Screen(pyte.Screen):
        """Scrolls without the cursor, and repeats characters."""

        last = " "

        def _scroll(self, change, count):
            x, y = self.cursor.x, self.cursor.y
            self.cursor.y = self.margins.top if self.margins else 0
            change(count or 1)
            self.cursor.x, self.cursor.y = x, y

        def scroll_up(self, count=1):
            self._scroll(self.delete_lines, count)

        def scroll_down(self, count=1):
            self._scroll(self.insert_lines, count)

        def draw(self, data):
            self.last = data[-1:] or self.last
            super().draw(data)

        def repeat(self, count=1):
            self.draw(self.last * (count or 1))

    class Stream(pyte.ByteStream):
        """Knows the sequences for it."""

        csi = {**pyte.ByteStream.csi, "S": "scroll_up", "T": "scroll_down", "b": "repeat"}
        events = pyte.ByteStream.events | {"scroll_up", "scroll_down", "repeat"}

    screen = Screen(columns, rows)
    return screen, Stream(screen)


class Terminal:
    """A program in a terminal of its own, as leader of its session (recipe R2).

    What the terminal shows is kept by a terminal emulator that understands TERM=linux and
    xterm; raw has every byte that was sent to it.
    """

    def __init__(self, *argv, rows=24, columns=80, env=None, user=None, setup=None):
        if not pyte:
            raise Skip("the Python module pyte is not installed")
        self.raw = bytearray()
        self.screen, self.stream = _emulator(rows, columns)
        self.master, self.slave = os.openpty()
        at_end(self._close)
        if user is not None:
            os.fchown(self.slave, user, -1)
        self.resize(rows, columns)
        self.attributes = self.get_attributes()

        def own_terminal():
            os.setsid()
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)
            if setup:
                setup()

        # The slave stays open here: the terminal outlives the program, as a user's does.
        self.process = start(*argv, user=user, env={"TERM": "linux", **(env or {})},
                             setup=own_terminal, stdin=self.slave, stdout=self.slave,
                             stderr=self.slave)
        self.pid = self.process.pid

    def _close(self):
        os.close(self.master)
        os.close(self.slave)

    def get_attributes(self):
        return termios.tcgetattr(self.slave)

    def is_as_before(self):
        """The terminal has the attributes that it had before the program ran."""
        return self.get_attributes() == self.attributes

    def resize(self, rows, columns):
        """Also tells the emulator; the kernel tells the program."""
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        if rows and columns:
            self.screen.resize(rows, columns)

    def read(self, timeout=0):
        """Take what the program wrote; waits at most timeout for something."""
        got = False
        while select.select([self.master], [], [], 0 if got else max(timeout, 0))[0]:
            data = os.read(self.master, 1 << 16)
            self.raw += data
            self.stream.feed(data)
            got = True
        return got

    def pump(self, seconds):
        """Read for so long."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            self.read(left)

    def send(self, keys):
        os.write(self.master, keys.encode() if isinstance(keys, str) else keys)

    def lines(self):
        return [line.rstrip() for line in self.screen.display]

    def text(self):
        return "\n".join(self.lines())

    def wait(self, regex, limit=10):
        """Wait until the screen's text matches; the match. Fails after limit."""
        deadline = time.monotonic() + limit * SLOW
        while True:
            match = re.search(regex, self.text(), re.MULTILINE)
            if match:
                return match
            left = deadline - time.monotonic()
            ended = self.process.poll() is not None
            if not self.read(min(left, 0.1)) and (left <= 0 or ended):
                raise Failed(f"the screen never shows {regex!r}"
                             f"{'; the program ended' if ended else ''}", self.text())

    def ended(self, limit=10):
        """Wait for its end, reading on; the status as a shell has it."""
        deadline = time.monotonic() + limit * SLOW
        while self.process.poll() is None:
            if time.monotonic() > deadline:
                raise Failed(f"still runs after {limit * SLOW} s", self.text())
            self.read(0.02)
        self.read(0.05)
        return shell_status(self.process.returncode)

    def is_alternate(self):
        """The alternate screen is on, by the bytes sent (TERM=xterm and the like)."""
        return self.raw.rfind(b"\x1b[?1049h") > self.raw.rfind(b"\x1b[?1049l")

    def is_cursor_hidden(self):
        shown = max(self.raw.rfind(b"\x1b[?25h"), self.raw.rfind(b"\x1b[?12l\x1b[?25h"),
                    self.raw.rfind(b"\x1b[?12;25h"))
        return self.raw.rfind(b"\x1b[?25l") > shown

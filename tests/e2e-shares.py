#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The numbers are true: shares against workloads whose shares are known, and against perf.

Shares of functions, live and in batch mode; call chains and the children column, with
recursion (FC-078) and a caller of a function that never returns (FC-074).
"""

import os
import re
import shlex
import subprocess
import sys

sys.dont_write_bytecode = True  # the sources may be read-only
import e2e_lib as e2e  # noqa: E402  pylint: disable=wrong-import-position

ALPHA = 100 / 130  # of a spin's rounds


def check_spin(alpha, beta, room=0.03):
    """Within two or three points of 77:23."""
    print(f"# hot_alpha {alpha:.4f} hot_beta {beta:.4f}")
    e2e.check(alpha + beta > 0, "no samples of spin")
    e2e.check(abs(alpha / (alpha + beta) - ALPHA) < room, f"{alpha} and {beta}")


@e2e.case("spin is 77:23 in a batch report of the process")
def _():
    spin = e2e.start(e2e.build("spin.c"), "60")
    report = e2e.settled("-d", "2", "-p", spin.pid)
    check_spin(e2e.share(report, symbol="hot_alpha"), e2e.share(report, symbol="hot_beta"))
    # Nothing else of weight runs in it.
    e2e.check(e2e.share(report, comm="spin") > 0.99, report["rows"][:10])
    e2e.check(e2e.share(report, symbol=("hot_alpha", "hot_beta")) > 0.9, report["rows"][:10])


@e2e.case("the rows of a report sum to all that is not idle")
def _():
    e2e.need_machine()
    e2e.start(e2e.build("spin.c"), "60")
    for report in e2e.reports("-d", "0.7", "-n", "2"):
        total = sum(row["overhead"] for row in report["rows"])
        e2e.check(abs(total - 1) < 0.001, f"overheads sum to {total}")
        counted = sum(row["samples"] for row in report["rows"])
        e2e.check(abs(counted - report["shown_samples"]) < 1,
                  f"{counted} in rows of {report['shown_samples']}")
        e2e.check(all(row["overhead"] >= 0 for row in report["rows"]), "a negative share")


@e2e.case("spin is 77:23 on the screen")
def _():
    spin = e2e.start(e2e.build("spin.c"), "60")
    terminal = e2e.Terminal(e2e.SYMTOP, "-p", spin.pid, "-d", "1", rows=30, columns=120)
    terminal.pump(2.5)
    shares = {}
    for name in ("hot_alpha", "hot_beta"):
        match = terminal.wait(rf"^.*?(\d+\.\d+)%.*\b{name}\b")
        shares[name] = float(match.group(1)) / 100
    terminal.send("q")
    e2e.check(terminal.ended() == 0, "status")
    check_spin(shares["hot_alpha"], shares["hot_beta"])


def perf_shares(perf, data):
    """(comm, dso, symbol) to share of all samples, as perf report has it."""
    result = subprocess.run(
        [perf, "report", "-i", data, "--stdio", "--no-children", "-F", "overhead,comm,dso,symbol",
         "-t", "\t", "--percent-limit", "0.5"],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    e2e.check(result.returncode == 0, result.stderr.decode(errors="replace"))
    shares = {}
    for line in result.stdout.decode(errors="replace").splitlines():
        fields = [field.strip() for field in line.split("\t")]
        match = re.match(r"(\d+\.\d+)%$", fields[0])
        if not match or len(fields) < 4:
            continue
        symbol = re.sub(r"^\[[.k]\]\s*", "", fields[3])
        key = (fields[1], fields[2], symbol)
        shares[key] = shares.get(key, 0) + float(match.group(1)) / 100
    return shares


@e2e.case("shares are those of perf report for the same seconds")
def _():
    e2e.need_machine()
    perf = e2e.need_tool("perf")
    programs = [e2e.start(e2e.build(name), "60") for name in ("spin.c", "flood.c")]
    data = e2e.temporary("perf.data")
    # The same event and rate for both: perf's default differs where there are counters.
    batch = e2e.start_symtop("-b", "--format", "json", "-e", "cpu-clock", "--idle", "--duration",
                             "4")
    recorded = subprocess.run(
        [perf, "record", "-q", "-a", "-F", "4000", "-e", "cpu-clock", "-o", data, "--", "sleep",
         "4"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        check=False)
    reports = e2e.parse(e2e.finish(batch))
    if recorded.returncode:
        raise e2e.Skip(f"perf record: {recorded.stdout.decode(errors='replace').strip()[:200]}")
    theirs = perf_shares(perf, data)
    report, = reports
    compared = 0
    for (comm, dso, symbol), share in sorted(theirs.items(), key=lambda item: -item[1]):
        if comm not in ("spin", "flood") or share < 0.02:
            continue
        if dso.startswith("[kernel"):
            ours = e2e.share(report, comm=comm, level="kernel", symbol=symbol)
        else:
            ours = e2e.share(report, comm=comm, object=dso, symbol=symbol)
        print(f"# {comm} {symbol}: perf {share:.3f} symtop {ours:.3f}")
        if symbol.startswith("0x"):
            continue  # no symbol: shown in another way
        compared += 1
        e2e.check(abs(ours - share) < 0.03, f"{comm} {dso} {symbol}: perf {share:.3f}, "
                  f"symtop {ours:.3f}")
    e2e.check(compared >= 2, sorted(theirs.items(), key=lambda item: -item[1])[:10],
              [program.pid for program in programs])


# ---- call chains ----

# Without optimization all functions have a frame, leaves as well.
FRAMES = ("-O0", "-g", "-fno-omit-frame-pointer", "-pthread")


@e2e.case("-g: main's children column is close to all of the process")
def _():
    spin = e2e.start(e2e.build("spin.c", "spin-frames", FRAMES), "60")
    report = e2e.settled("-g", "-d", "2", "-p", spin.pid)
    main = e2e.rows(report, symbol="main")
    e2e.check(len(main) == 1, report["rows"][:10])
    print(f"# main: children {main[0]['children']:.3f}, itself {main[0]['overhead']:.3f}")
    e2e.check(main[0]["children"] > 0.95, main)
    e2e.check(main[0]["overhead"] < 0.05, main)
    for row in report["rows"]:
        e2e.check(row["overhead"] - 1e-9 <= row["children"] <= 1, row)
    check_spin(*(e2e.rows(report, symbol=name)[0]["children"] for name in
                 ("hot_alpha", "hot_beta")))
    alpha = e2e.rows(report, symbol="hot_alpha")[0]
    e2e.check(alpha["chains"][0]["frames"][:2] == ["hot_alpha", "main"], alpha["chains"][:3])
    # Chains are parts of the row.
    counted = sum(chain["samples"] for chain in alpha["chains"])
    e2e.check(abs(counted - alpha["samples"]) < 0.5 + 0.01 * alpha["samples"],
              f"{counted} in chains of {alpha['samples']}")


@e2e.case("without -g there is no children column, with --no-children neither")
def _():
    spin = e2e.start(e2e.build("spin.c"), "60")
    for args in ((), ("-g", "--no-children")):
        report = e2e.settled(*args, "-d", "0.5", "-p", spin.pid)
        e2e.check(report["rows"], "no rows")
        e2e.check(all("children" not in row for row in report["rows"]), report["rows"][0])
        e2e.check(not args or e2e.rows(report, symbol="hot_alpha")[0]["chains"], "no chains")


@e2e.case("FC-078 a recursive function counts once per sample")
def _():
    fib = e2e.start(e2e.build("fib.c", flags=FRAMES))
    report = e2e.settled("-g", "-d", "2", "-p", fib.pid)
    row = e2e.rows(report, symbol="fib")
    e2e.check(len(row) == 1, report["rows"][:10])
    print(f"# fib: children {row[0]['children']:.4f}, itself {row[0]['overhead']:.4f}")
    e2e.check(0.95 < row[0]["children"] <= 1, row[0]["children"])
    e2e.check(row[0]["overhead"] <= row[0]["children"], row[0]["overhead"])
    deepest = max(chain["frames"].count("fib") for chain in row[0]["chains"])
    e2e.check(deepest > 5, f"chains have at most {deepest} times fib")
    main = e2e.rows(report, symbol="main")
    e2e.check(main and 0.9 < main[0]["children"] <= 1, main)
    e2e.check(all(0 <= r["overhead"] <= 1 and 0 <= r["children"] <= 1 for r in report["rows"]),
              "a share outside of 0 to 1")


@e2e.case("FC-078 a report without a sample has neither NaN nor -0.0")
def _():
    sleeper = e2e.start("sleep", "60")
    for args in (("-g",), ("--percentage", "relative"), ("-K",)):
        # parse() takes no NaN.
        result = e2e.symtop("-b", "--format", "json", "-d", "0.3", "-n", "1", "-p", sleeper.pid,
                            *args)
        report, = e2e.parse(result)
        e2e.check(not report["rows"], report["rows"])
        e2e.check(not re.search(r"-0(\.0*)?[,}\]]", result.out), result)
        result = e2e.symtop("-b", "-d", "0.3", "-n", "1", "-p", sleeper.pid, *args)
        e2e.check(result.status == 0, result)
        e2e.check(not re.search(r"(?i)\bnan\b|\binf\b|-0\.0", result.out), result)


def build_noreturn():
    """One program of two files, whose functions have no gap between them."""
    compiler = shlex.split(os.environ.get("CC") or "cc")
    e2e.need_tool(compiler[0])
    program = e2e.temporary("noreturn")
    sources = [os.path.join(e2e.SRCDIR, "tests", "workloads", name) for name in
               ("noreturn.c", "noreturn_callee.c")]
    result = subprocess.run(
        [*compiler, "-std=gnu11", *FRAMES, "-falign-functions=1", "-o", program, *sources],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    e2e.check(result.returncode == 0, result.stdout.decode())
    return program


@e2e.case("FC-074 the caller of a function that never returns is not the next one in memory")
def _():
    process = e2e.start(build_noreturn())
    report = e2e.settled("-g", "-d", "1.5", "-p", process.pid)
    caller = e2e.rows(report, symbol="true_caller")
    e2e.check(caller and caller[0]["children"] > 0.9, report["rows"][:10])
    e2e.check(not e2e.rows(report, symbol="innocent_next"),
              e2e.rows(report, symbol="innocent_next"))
    burn = e2e.rows(report, symbol="burn")[0]
    e2e.check(burn["chains"][0]["frames"][:4] ==
              ["burn", "never_returns", "true_caller", "main"], burn["chains"][:3])
    for row in report["rows"]:
        for chain in row["chains"]:
            wrong = [frame for frame in chain["frames"] if frame.startswith("__pfx_")]
            e2e.check(not wrong, chain)


if __name__ == "__main__":
    sys.exit(e2e.run())

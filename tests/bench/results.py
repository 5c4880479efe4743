#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Write measurements down and print them as tables.

usage: results.py machine FILE
       results.py shares FILE ROW SYMTOP-JSON SYMTOP-COMMAND PERF-REPORT PERF-COMMAND
       results.py add FILE TABLE ROW PROGRAM COMMAND
       results.py table FILE TABLE TITLE

FILE has one JSON object a measurement: table, row, program, metric, value, unit, command.
A value is null when the thing did not happen.

machine  appends what this machine is, and prints it.
shares   appends how both divided the samples of tests/workloads/spin. PERF-REPORT is
         from "perf report --stdio -F sample,comm,sym -t ;"; either may be empty: not run.
add      appends what stands in standard input: lines "metric;value;unit". A value may
         be empty: it did not happen. ROW or PROGRAM "-": it stands in the lines, before
         the metric (the program first).
table    prints a table: the median of each measurement with its extremes, and each
         further program against the first: as ratio, for shares as difference. Many
         programs stand below one another, few beside one another.
"""

import json
import os
import re
import statistics
import subprocess
import sys

UNITS = {
    "s": (1, "s"),
    "B": (1e-6, "MB"),
    "B/s": (1e-3, "kB/s"),
    "CPU": (100, "% CPU"),
    "ms": (1, "ms"),
    "ns": (1, "ns"),
    "1/s": (1e-3, "k/s"),
    "share": (100, "%"),
    "": (1, ""),
}

# More programs than that are the rows of a table, not its columns.
MAX_COLUMNS = 3

# spin's rounds in hot_alpha and in all.
SPIN_ALPHA, SPIN_ALL = 100000, 130000


def append(path, table, row, program, metric, value, unit, command=""):
    with open(path, "a", encoding="utf-8") as file:
        print(json.dumps({"table": table, "row": row, "program": program, "metric": metric,
                          "value": value, "unit": unit, "command": command}), file=file)


def first_match(path, regex):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            match = re.search(regex, file.read(), re.MULTILINE)
    except OSError:
        return None
    return match[1] if match else None


def output_of(*command):
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              stdin=subprocess.DEVNULL, timeout=10, check=False)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.decode(errors="replace").strip().split("\n")[0] or None


def machine(path):
    memory_kb = first_match("/proc/meminfo", r"^MemTotal:\s+(\d+) kB")
    facts = {
        "cpus": len(os.sched_getaffinity(0)),
        "model": first_match("/proc/cpuinfo", r"^(?:model name|cpu model|Processor)\s*: (.*)"),
        "memory_gb": round(int(memory_kb) / 1e6, 1) if memory_kb else None,
        "kernel": os.uname().release,
        "virtualization": output_of("systemd-detect-virt"),
        "processes": sum(name.isdigit() for name in os.listdir("/proc")),
        "load": os.getloadavg()[0],
        "paranoid": first_match("/proc/sys/kernel/perf_event_paranoid", r"^(.*)$"),
        "cycles_event": os.path.exists("/sys/bus/event_source/devices/cpu")
                        or os.path.exists("/sys/bus/event_source/devices/cpu_core"),
        "perf": output_of("perf", "--version"),
        "symtop": output_of(os.path.join(os.path.dirname(path), "symtop"), "--version"),
    }
    facts = {name: "unknown" if value is None else value for name, value in facts.items()}
    for name, value in facts.items():
        append(path, "machine", "", "", name, value, "")
        print(f"{name:<16}{value}")


def symtop_spin(path):
    """Samples of hot_alpha, of hot_beta, of all in the last report."""
    with open(path, encoding="utf-8") as file:
        report = json.loads(file.read().strip().split("\n")[-1])
    rows = [(row["samples"], row["comm"], row["symbol"]) for row in report["rows"]]
    return spin_samples(rows)


def perf_spin(path):
    rows = []
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            fields = [field.strip() for field in line.split(";", 2)]
            if len(fields) == 3 and fields[0].isdigit():
                rows.append((int(fields[0]), fields[1], re.sub(r"^\[.\] ", "", fields[2])))
    return spin_samples(rows)


def spin_samples(rows):
    """The idle task is left out: symtop hides it, perf report counts it."""
    rows = [row for row in rows if not row[1].startswith("swapper")]
    alpha, beta = [sum(nr for nr, comm, symbol in rows if comm == "spin" and symbol == name)
                   for name in ("hot_alpha", "hot_beta")]
    return alpha, beta, sum(nr for nr, _, _ in rows)


def shares(path, row, symtop_path, symtop_command, perf_path, perf_command):
    ratio = "alpha_of_alpha_and_beta"
    for program, file, command, read in (
            ("symtop", symtop_path, symtop_command, symtop_spin),
            ("perf record", perf_path, perf_command, perf_spin)):
        if not file:
            continue
        alpha, beta, total = read(file)
        if not alpha + beta:
            sys.exit(f"results.py: {program}: no sample of spin")
        append(path, "shares", row, program, ratio, alpha / (alpha + beta), "share", command)
        append(path, "shares", row, program, "alpha_of_all", alpha / total, "share", command)
        append(path, "shares", row, program, "beta_of_all", beta / total, "share", command)
        append(path, "shares", row, program, "samples", total, "", command)
    append(path, "shares", row, "by design", ratio, SPIN_ALPHA / SPIN_ALL, "share")


def add(path, name, row, program, command):
    for line in sys.stdin:
        fields = line.rstrip("\n").split(";")
        line_program = fields.pop(0) if program == "-" else program
        line_row = fields.pop(0) if row == "-" else row
        metric, value, unit = fields
        append(path, name, line_row, line_program, metric, float(value) if value else None, unit,
               command)


def number(value, unit):
    """Three significant digits, never an exponent; shares are compared by points."""
    if unit == "" and value == int(value):
        return f"{value:.0f}"
    if unit == "share":
        return f"{value:.2f}"
    for digits in (3, 2, 1):
        if abs(value) < 10 ** (3 - digits):
            return f"{value:.{digits}f}"
    return f"{value:.0f}"


def median(values):
    """A run in which it did not happen took longer than any other."""
    middle = statistics.median_low([float("inf") if v is None else v for v in values])
    return None if middle == float("inf") else middle


def cell(values, unit):
    factor, name = UNITS[unit]
    middle = median(values)
    if middle is None:
        return "not seen"
    text = f"{number(middle * factor, unit)} {name}".rstrip()
    if len(set(values)) > 1:
        known = [value * factor for value in values if value is not None]
        most = "never" if None in values else number(max(known), unit)
        text += f" ({number(min(known), unit)}-{most})"
    return text


def against(values, base, unit):
    mine, first = median(values), median(base)
    if mine is None or first is None:
        return ""
    if unit == "share":
        return f"{(mine - first) * 100:+.2f} points"
    return f"x {number(mine / first, 'ratio')}" if first else ""


def print_lines(lines):
    widths = [max(len(line[i]) for line in lines if len(line) > 1) for i in range(len(lines[0]))]
    for line in lines:
        if len(line) == 1:
            print(line[0])
        else:
            print("  ".join(text.ljust(width) for text, width in zip(line, widths)).rstrip())


def columns(cells, programs):
    """Lines of a table with a column for each program."""
    base = programs[0]
    lines = [["", *programs, *(f"{program} to {base}" for program in programs[1:])]]
    for row, metrics in cells.items():
        lines.append([row])
        for metric, (unit, values) in metrics.items():
            lines.append(["  " + metric.replace("_", " "),
                          *(cell(values[p], unit) if p in values else "-" for p in programs),
                          *(against(values[p], values[base], unit)
                            if p in values and base in values else "" for p in programs[1:])])
    return lines


def rows(cells, programs):
    """Lines of a table with a row for each program."""
    base = programs[0]
    names = list(dict.fromkeys(metric for metrics in cells.values() for metric in metrics))
    lines = [["", *(name.replace("_", " ") for name in names)]]
    for row, metrics in cells.items():
        lines.append([row])
        for program in programs:
            if not any(program in values for _, values in metrics.values()):
                continue
            line = ["  " + program]
            for name in names:
                unit, values = metrics.get(name, ("", {}))
                text = cell(values[program], unit) if program in values else "-"
                if unit and program != base and program in values and base in values:
                    text += " " + against(values[program], values[base], unit)
                line.append(text)
            lines.append(line)
    return lines


def table(path, name, title):
    with open(path, encoding="utf-8") as file:
        measured = [m for m in map(json.loads, file) if m["table"] == name]
    print(f"\n{name}: {title}")
    if not measured:
        print("  nothing was measured")
        return
    programs = list(dict.fromkeys(m["program"] for m in measured))
    cells = {}
    for m in measured:
        metrics = cells.setdefault(m["row"], {})
        unit, of_program = metrics.setdefault(m["metric"], (m["unit"], {}))
        of_program.setdefault(m["program"], []).append(m["value"])
    base = "symtop" if "symtop" in programs else programs[0]
    programs.remove(base)
    programs.insert(0, base)
    print_lines((columns if len(programs) <= MAX_COLUMNS else rows)(cells, programs))


def main():
    commands = {"machine": (machine, 1), "shares": (shares, 6),
                "add": (add, 5), "table": (table, 3)}
    command, nr = commands.get(sys.argv[1] if len(sys.argv) > 1 else "", (None, 0))
    if not command or len(sys.argv) != nr + 2:
        sys.exit(__doc__)
    command(*sys.argv[2:])


if __name__ == "__main__":
    main()

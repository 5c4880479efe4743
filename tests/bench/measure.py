#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Run a program and print what it cost or did: lines "metric;value;unit".

usage: measure.py cpu COMMAND...
       measure.py sweep SYMTOP [OPTION]...
       measure.py synthesize WORKERS TIMES
       measure.py lost SYMTOP-JSON|PERF-DATA SECONDS

cpu         its own CPU seconds each second, what it started and awaited included.
sweep       how long symtop takes to read all of /proc.
synthesize  the same for "perf bench internals synthesize".
lost        samples a second and what was lost, of a report of symtop or of perf record.
"""

import json
import os
import re
import signal
import subprocess
import sys
import time


def line(metric, value, unit):
    print(f"{metric};{'' if value is None else format(value, '.6f')};{unit}")


def run(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, check=False)
    if done.returncode:
        sys.exit(f"measure.py: {' '.join(command[:6])}: exit status {done.returncode}")
    return done.stdout.decode(errors="replace")


def cpu(*command):
    start = time.monotonic()
    pid = os.spawnvp(os.P_NOWAIT, command[0], command)
    signal.signal(signal.SIGTERM, lambda *_: os.kill(pid, signal.SIGTERM))
    _, status, usage = os.wait4(pid, 0)
    seconds = time.monotonic() - start
    if status:
        sys.exit(f"measure.py: {command[0]}: exit status {os.waitstatus_to_exitcode(status)}")
    line("own_cpu", (usage.ru_utime + usage.ru_stime) / seconds, "CPU")
    line("peak_rss", usage.ru_maxrss * 1024, "B")


def sweep(*command):
    command = [*command, "-b", "-d", "0.5", "--format", "json", "--rows", "1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL) as process:
        signal.signal(signal.SIGTERM, lambda *_: process.terminate())
        report = {}
        for text in process.stdout:
            report = json.loads(text)
            if report["scan_finished"]:
                break
        process.send_signal(signal.SIGTERM)
        process.stdout.read()
        process.wait()
    if not report.get("scan_finished"):
        sys.exit("measure.py: symtop ended before its sweep")
    line("sweep", report["scan_s"], "s")


def synthesize(workers, times):
    text = run("perf", "bench", "internals", "synthesize", "-t", "-m", workers, "-M", workers,
               "-I", times)
    match = re.search(r"Average synthesis took: ([\d.]+) usec", text)
    line("sweep", float(match[1]) / 1e6 if match else None, "s")


def lost_samples(path):
    text = run("perf", "script", "-i", path, "--show-lost-events", "-F", "comm")
    return sum(map(int, re.findall(r"PERF_RECORD_LOST.*\blost (\d+)", text)))


def lost(path, seconds):
    if path.endswith(".json"):
        with open(path, encoding="utf-8") as file:
            report = json.loads(file.read().strip().split("\n")[-1])
        line("samples", report["samples_per_s"], "1/s")
        line("lost", report["lost"] + report["overwritten"], "")
        line("throttled", report["throttled"], "")
        return
    text = run("perf", "report", "-i", path, "--stats")
    figures = {}
    for name, number in re.findall(r"^\s*(\w+) events:\s+(\d+)", text, re.MULTILINE):
        figures.setdefault(name, int(number))
    line("samples", figures.get("SAMPLE", 0) / float(seconds), "1/s")
    line("lost", lost_samples(path) if "LOST" in figures or "LOST_SAMPLES" in figures else 0, "")
    line("throttled", figures.get("THROTTLE", 0), "")


def main():
    commands = {"cpu": cpu, "sweep": sweep, "synthesize": synthesize, "lost": lost}
    if len(sys.argv) < 3 or sys.argv[1] not in commands:
        sys.exit(__doc__)
    commands[sys.argv[1]](*sys.argv[2:])


if __name__ == "__main__":
    main()

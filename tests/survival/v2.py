#!/usr/bin/env python3
"""cgroup v2 for real, whatever the host has: a guest kernel (user-mode-linux, a program) with the memory controller on
v2 alone makes some runs of survival.py's, which are judged here by the same verdicts; one below an ancestor's
memory.high; and the unit test of the kernel's events. Prints a line each; status 1 when one failed."""

import json
import os
import shlex
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True

import dumps  # noqa: E402
import harness  # noqa: E402
import survival  # noqa: E402

KERNEL = "linux.uml"
GUEST = os.path.join(os.path.dirname(os.path.abspath(__file__)), "v2_guest.sh")
MEMORY = "512M"
SECONDS_EACH = 80  # a run in the guest, on a busy machine
HIGH = 100 << 20


def command_of(tools, work, name, pattern):
    """A run as harness.Harness.run makes it."""
    folder = os.path.join(work, name)
    os.mkdir(folder)
    shared = "/run/shared"  # on hostfs a mapping would not be shared
    values = {"LD_PRELOAD": tools.library, "HEAPPROF_DUMP_DIR": folder, "HEAPPROF_LOG": "info"}
    values.update(survival.PATTERNS[pattern][1])
    return [tools.witness, shared, str(harness.LIMIT), folder,
            "bash", tools.memcg, "-r", os.path.join(work, name + ".ending"), str(harness.LIMIT),
            "env", *(f"{key}={value}" for key, value in values.items()),
            tools.grow, shared, pattern, "1", "3"]


def boot(work, runs):
    with open(os.path.join(work, "runs"), "w", encoding="utf-8") as f:
        for name, command in runs.items():
            f.write(f"{name} {shlex.join(command)}\n")
    arguments = [KERNEL, f"mem={MEMORY}", "rootfstype=hostfs", "rootflags=/", "ro", f"init={GUEST}", f"WORK={work}",
                 "con=null", "con0=fd:0,fd:1", "quiet", "panic=-1"]
    try:
        return subprocess.run(arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, errors="replace", timeout=SECONDS_EACH * len(runs), check=False).stdout
    except subprocess.TimeoutExpired as e:
        return (e.stdout or b"").decode(errors="replace") + f"\n(ended after {e.timeout:.0f} s)"


def read(work, file):
    try:
        with open(os.path.join(work, file), encoding="utf-8", errors="replace") as f:
            return f.read()
    except OSError:
        return ""


def judge_killed(tools, work, name, pattern):
    ending = dict(word.split("=") for word in read(work, name + ".ending").split()[1:])
    run = harness.Run(os.path.join(work, name), json.loads(read(work, name + ".out").splitlines()[-1]),
                      {key: int(value) for key, value in ending.items()}, read(work, name + ".err"))
    v = survival.judge_ours(run, pattern, survival.PATTERNS[pattern][0], tools.command)
    if "cgroup v2" not in run.log:
        v.blame(f"not watched by cgroup v2: {run.log.strip()}")
    return f"{v.reason}, {v.coverage:.0%} of what was in use at 95 %, {v.files} files at most", v.problems


def judge_high(work, name):
    """Above memory.high the kernel puts a process to sleep at every page: the dumps must come below it (G23)."""
    found, _ = dumps.list_ours(os.path.join(work, name))
    if not found or found[-1].reason != "limit95":
        return "", [f"dumps: {[dump.name for dump in found]}; {read(work, name + '.err').strip()}"]
    in_use = dumps.in_use_of_ours(found[-1])
    # The rest of it are the test's own tools.
    problems = [] if 0.75 * HIGH <= in_use <= HIGH else [f"it holds {in_use} bytes"]
    return f"limit95 of memory.high, {in_use / HIGH:.0%} of it in use", problems


def judge_events(work, name):
    text = read(work, name + ".out") + read(work, name + ".err")
    good = "[       OK ] test_v2_memory_events_wake" in text  # the others are the host's business
    return "memory.events wakes the guard" if good else "", [] if good else [text]


def main():
    p = harness.parser(__doc__.splitlines()[0])
    p.add_argument("--unit", required=True, type=os.path.abspath, help="the unit test of the kernel's events")
    p.add_argument("--patterns", default="chunks,huge,threads,fork", help="comma-separated")
    tools = p.parse_args()
    if shutil.which(KERNEL) is None:
        harness.skip(f"there is no {KERNEL} (Debian: user-mode-linux)")
    failed = False
    with harness.Harness(tools) as h:
        runs = {pattern: command_of(tools, h.root, pattern, pattern) for pattern in tools.patterns.split(",")}
        runs["high-chunks"] = command_of(tools, h.root, "high-chunks", "chunks")
        runs["events"] = [tools.unit]
        said = boot(h.root, runs)
        if not read(h.root, "events.status"):
            print(said)
            print("FAILED: the guest did not come to its end")
            return 1
        for name in runs:
            if name == "events":
                line, problems = judge_events(h.root, name)
            elif name.startswith("high-"):
                line, problems = judge_high(h.root, name)
            else:
                line, problems = judge_killed(tools, h.root, name, name)
            print(f"cgroup v2, {name}: {line}", flush=True)
            for problem in problems:
                print(f"FAILED: {name}: {problem}", flush=True)
            failed = failed or bool(problems)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

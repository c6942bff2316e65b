#!/usr/bin/env python3
"""The race with the kernel's OOM killer: every growth pattern of grow.c, many times, each in a real 128 MiB
memory cgroup until the kernel kills it. Each kill must leave a dump

- that is whole: gunzip, `heapprof check` and go's pprof take it without a word, and so every other dump there;
- whose bytes in use (by pprof) are 85 % or more of what the program itself counted when the cgroup's usage last
  passed 95 % of the limit (witness.c says how exact that is);
- whose first function is the culprit;

and never more than HEAPPROF_KEEP files, but for the one, of each process, that has just come when the kernel kills or
somebody looks: the oldest goes once the newest is there; nor a temporary one. Prints a Markdown table; status 1 when a
run failed.
With --baselines, runs under jemalloc's own triggers and a poller, in the same table, unjudged."""

import json
import os
import statistics
import sys

sys.dont_write_bytecode = True

import dumps  # noqa: E402
import harness  # noqa: E402

KEEP = 10
COVERAGE = 0.85

# pattern: (culprit, settings under heapprof)
PATTERNS = {
    "chunks": ("leak_chunk", {}),
    "small": ("leak_object", {}),
    "huge": ("leak_table", {}),
    "spike": ("leak_table", {}),  # CASES.md, G14
    "realloc": ("leak_buffer", {}),
    "threads": ("leak_of_thread", {}),
    "lazy": ("leak_pool", {}),
    "slow": ("leak_object", {}),
    "churn": ("leak_core", {}),
    "fork": ("leak_session", {}),
    "prefork": ("leak_session", {"HEAPPROF_SAMPLE": "16K"}),  # CASES.md, G18; 15 MB each, a sample each 16 KiB
    "burst": ("leak_share", {}),
    "outside": ("leak_object", {}),
    "starved": ("leak_chunk", {}),
    "late": ("leak_late", {"MALLOC_CONF": "dirty_decay_ms:0,muzzy_decay_ms:0"}),  # freed pages go back at once
    "stacks": ("leak_leaf", {"HEAPPROF_SAMPLE": "8K"}),  # CASES.md, G15
}


# How many processes of a pattern may have put a dump there just now, and not have made room yet.
PUBLISHERS = {"fork": 4, "prefork": 8}


class Verdict:
    """What is to be said of one run. `problems` is empty when it kept the promise."""

    def __init__(self):
        self.problems = []
        self.whole = False
        self.coverage = 0.0
        self.coverage_at_end = 0.0
        self.first = ""
        self.is_culprit = False
        self.reason = "none"
        self.files = 0  # the most there were at once
        self.files_left = 0
        self.partial = 0  # what is no dump: temporary files

    def blame(self, problem):
        self.problems.append(problem)


def judge_ours(run, pattern, culprit, command):
    v = Verdict()
    found, others = dumps.list_ours(run.folder)
    v.files_left, v.partial = len(found), len(others)
    v.files = max(run.seen["files_max"], v.files_left)
    if not run.was_killed:
        v.blame(f"not killed by the kernel: {run.ending} {run.log.strip()}")
    if v.files > KEEP + PUBLISHERS.get(pattern, 1):
        v.blame(f"{v.files} files at once, {v.files_left} left")
    if others:
        v.blame(f"left behind: {others}")
    mine = [dump for dump in found if dump.pid == run.seen["pid"]]
    if not mine:
        v.blame(f"no dump of the process that was killed; there are {[dump.name for dump in found]}")
        return v
    last = mine[-1]
    v.reason = last.reason
    try:
        for dump in found:
            dumps.check_ours(command, dump)
        fill(v, run, dumps.in_use_of_ours(last), dumps.first_of_ours(command, last), culprit)
    except dumps.Unsound as e:
        v.blame(f"not whole: {e}")
    return v


def judge_theirs(run, culprit, program):
    v = Verdict()
    found = dumps.list_theirs(run.folder)
    v.files_left = len(found)
    v.files = max(run.seen["files_max"], v.files_left)
    mine = [dump for dump in found if dump.pid == run.seen["pid"]]
    if not mine:
        v.blame("no dump")
        return v
    v.reason = mine[-1].reason
    try:
        profile = dumps.JemallocProfile(mine[-1])
        fill(v, run, profile.in_use(), profile.first(program), culprit)
    except dumps.Unsound as e:
        v.blame(f"not whole: {e}")
    return v


def fill(v, run, in_use, first, culprit):
    """The dump is whole: what it says."""
    v.whole = True
    v.first = first
    v.is_culprit = first == culprit
    v.coverage = in_use / max(run.seen["in_use_after"], 1)
    v.coverage_at_end = in_use / max(run.seen["in_use_at_end"], 1)
    if not v.is_culprit:
        v.blame(f"first is {first}, not {culprit}")
    if run.seen["crossings"] == 0:
        v.blame("the witness saw no crossing")
    elif v.coverage < COVERAGE:
        v.blame(f"covers {v.coverage:.1%} of {run.seen['in_use_after']} bytes")


def run_pattern(h, way, pattern, runs, seconds):
    culprit, settings = PATTERNS[pattern]
    rows = []
    for seed in range(1, runs + 1):
        run = h.run(pattern, seed=seed, seconds=seconds, way=way, settings=settings if way == "heapprof" else {})
        if way == "heapprof":
            v = judge_ours(run, pattern, culprit, h.tools.command)
        else:
            v = judge_theirs(run, culprit, h.tools.grow)
        for problem in v.problems if way == "heapprof" else []:
            print(f"FAILED: {pattern}, seed {seed}: {problem}", flush=True)
        h.forget(run, bool(v.problems) and way == "heapprof")
        rows.append({"way": way, "pattern": pattern, "seed": seed, "oom_kills": run.ending["oom_kill"], **vars(v), **run.seen})
    return rows


def percent(share):
    return f"{100 * share:.0f} %"


def reasons(rows):
    """Of the last dumps, how often each; jemalloc's are mere numbers."""
    if rows[0]["way"] != "heapprof":
        return f"none {sum(row['reason'] == 'none' for row in rows)}"
    counts = {}
    for row in rows:
        counts[row["reason"]] = counts.get(row["reason"], 0) + 1
    return ", ".join(f"{name} {n}" for name, n in sorted(counts.items(), key=lambda item: -item[1]))


def table_row(rows):
    runs = len(rows)
    coverages = [row["coverage"] for row in rows]
    cells = [rows[0]["way"], rows[0]["pattern"], str(runs), f"{sum(row['whole'] for row in rows)}/{runs}",
             f"{percent(statistics.median(coverages))} / {percent(min(coverages))}",
             f"{sum(row['is_culprit'] for row in rows)}/{runs}", str(max(row["files"] for row in rows)),
             str(sum(row["partial"] > 0 for row in rows)), reasons(rows)]
    return "| " + " | ".join(cells) + " |"


TABLE_HEAD = """\
| way | pattern | runs | last dump whole | its coverage, median / least | culprit first | files, at most | \
runs with partial files | last dump |
|---|---|---|---|---|---|---|---|---|"""


def main():
    p = harness.parser(__doc__.splitlines()[0])
    p.add_argument("--runs", type=int, default=20, help="of each pattern")
    p.add_argument("--seconds", type=float, default=8.0, help="how long a slow leak takes")
    p.add_argument("--patterns", default=",".join(PATTERNS), help="comma-separated")
    p.add_argument("--baselines", type=int, default=0, metavar="RUNS", help="of jemalloc's triggers and a poller")
    p.add_argument("--json", metavar="FILE", help="what was seen of every run")
    tools = p.parse_args()
    ways = {"heapprof": tools.runs, **dict.fromkeys(harness.BASELINES, tools.baselines)}
    everything = []
    with harness.Harness(tools) as h:
        print(TABLE_HEAD, flush=True)
        for way, pattern in ((way, pattern) for way in ways for pattern in tools.patterns.split(",")):
            if ways[way] > 0:
                rows = run_pattern(h, way, pattern, ways[way], tools.seconds)
                print(table_row(rows), flush=True)
                everything += rows
    if tools.json:
        with open(tools.json, "w", encoding="utf-8") as f:
            json.dump(everything, f, indent=1)
    failed = sum(bool(row["problems"]) for row in everything if row["way"] == "heapprof")
    if failed:
        print(f"{failed} runs failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

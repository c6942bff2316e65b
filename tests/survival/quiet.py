#!/usr/bin/env python3
"""What the guard does when nothing is about to be killed, or not for long; in a real 128 MiB memory cgroup.

P17, G11  a program with a heap of 20 MB reads a file larger than the limit: no dump
P15       a sawtooth across all thresholds: within the dump budget, and HEAPPROF_KEEP files stay
P16       a climb from 80 to 99 %: the last dump is within 5 % of the peak
restarts  a service killed again and again, one folder: each kill leaves its dump, HEAPPROF_KEEP files stay

Prints a line a case; status 1 when one failed."""

import math
import os
import sys

sys.dont_write_bytecode = True

import dumps  # noqa: E402
import harness  # noqa: E402

KEEP = 4


def file_case(h, short):
    """A file without blocks fills the page cache like any other."""
    size = (256 if short else 1024) << 20
    path = os.path.join(h.root, "large")
    with open(path, "wb") as f:
        f.truncate(size)
    run = h.run("read_file", file=path)
    os.unlink(path)
    found, others = dumps.list_ours(run.folder)
    problems = []
    if run.ending["status"] != 0:
        problems.append(f"did not end well: {run.ending} {run.log}")
    if run.ending["peak"] < 0.95 * harness.LIMIT:
        problems.append(f"the cache filled only {run.ending['peak']} bytes: nothing is proven")
    if found or others:
        problems.append(f"dumps: {[dump.name for dump in found] + others} {run.log}")
    return f"{size >> 20} MiB read, usage up to {run.ending['peak'] >> 20} MiB, {len(found)} dumps", problems


def swing_case(h, short):
    """guard/decide.h: two buckets, of 8 and of 4, each refilled by one a minute."""
    seconds = 20 if short else 300
    run = h.run("swing", seconds=seconds,
                settings={"HEAPPROF_KEEP": str(KEEP), "MALLOC_CONF": "dirty_decay_ms:0,muzzy_decay_ms:0"})
    found, others = dumps.list_ours(run.folder)
    made = found[-1].order[1] if found else 0
    most = 8 + math.ceil(seconds / 60) + 4 + math.ceil(seconds / 10)
    problems = []
    if run.ending["status"] != 0 or run.was_killed:
        problems.append(f"did not end well: {run.ending} {run.log}")
    if run.seen["crossings"] < 10:
        problems.append(f"only {run.seen['crossings']} crossings: nothing is proven")
    if not 3 <= made <= most:
        problems.append(f"{made} dumps were made, {most} are allowed")
    if run.seen["files_max"] > KEEP + 1 or len(found) > KEEP:  # the oldest goes once the newest is there
        problems.append(f"{run.seen['files_max']} files at once, {len(found)} left")
    if others:
        problems.append(f"left behind: {others}")
    return (f"{run.seen['crossings']} times across 95 %, {made} dumps made, {most} allowed, "
            f"{run.seen['files_max']} files at once", problems)


def climb_case(h, short):
    seconds = 6 if short else 60
    run = h.run("climb", seconds=seconds)
    found, _ = dumps.list_ours(run.folder)
    if not found:
        return "no dump", ["no dump"]
    in_use = dumps.in_use_of_ours(found[-1])
    peak = run.seen["in_use_at_end"]
    problems = []
    if run.seen["usage_peak"] < 0.975 * harness.LIMIT:
        problems.append(f"usage only came to {run.seen['usage_peak']} bytes: nothing is proven")
    if in_use < 0.95 * peak:
        problems.append(f"the last dump, {found[-1].reason}, lacks {1 - in_use / peak:.1%} of the peak")
    return (f"usage up to {run.seen['usage_peak'] / harness.LIMIT:.1%}; the last of {len(found)} dumps, "
            f"{found[-1].reason}, has {in_use / peak:.1%} of what was in use at the peak", problems)


def restarts_case(h, short):
    times = 6 if short else 40
    folder = h.new_folder()
    problems = []
    for seed in range(1, times + 1):
        run = h.run("chunks", seed=seed, folder=folder, settings={"HEAPPROF_KEEP": str(KEEP)})
        found, others = dumps.list_ours(folder)
        mine = [dump for dump in found if dump.pid == run.seen["pid"]]
        if not run.was_killed or not mine or mine[-1].reason != "limit95":
            problems.append(f"start {seed}: {run.ending}, dumps {[dump.name for dump in mine]}")
        if len(found) > KEEP + 1 or others:  # it may be killed before the oldest goes
            problems.append(f"start {seed}: {len(found)} files left, and {others}")
        for dump in found:
            dumps.check_ours(h.tools.command, dump)
    return f"{times} kills, {len(found)} files left", problems


CASES = {"P17": file_case, "P15": swing_case, "P16": climb_case, "restarts": restarts_case}


def main():
    p = harness.parser(__doc__.splitlines()[0])
    p.add_argument("--short", action="store_true")
    p.add_argument("--cases", default=",".join(CASES), help="comma-separated")
    tools = p.parse_args()
    failed = False
    with harness.Harness(tools) as h:
        for name in tools.cases.split(","):
            try:
                line, problems = CASES[name](h, tools.short)
            except dumps.Unsound as e:
                line, problems = "a dump is not whole", [str(e)]
            print(f"{name}: {line}", flush=True)
            for problem in problems:
                print(f"FAILED: {name}: {problem}", flush=True)
            failed = failed or bool(problems)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

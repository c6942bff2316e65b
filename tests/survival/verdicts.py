#!/usr/bin/env python3
"""Sees that each verdict of survival.py and quiet.py can fail, and for its own reason: runs that cannot keep the
promise, and what a good run left with one thing broken. Prints a line a case."""

import copy
import os
import re
import shutil
import sys

sys.dont_write_bytecode = True

import dumps  # noqa: E402
import harness  # noqa: E402
import quiet  # noqa: E402
import survival  # noqa: E402

CULPRIT = "leak_chunk"


def last_dump(run):
    return dumps.list_ours(run.folder)[0][-1].path


def truncate(run):
    os.truncate(last_dump(run), os.stat(last_dump(run)).st_size - 9)


def damage(run):
    with open(last_dump(run), "r+b") as f:
        f.seek(200)
        f.write(b"\0\0\0\0")


def leave_partial(run):
    with open(os.path.join(run.folder, ".heapprof.grow.tmp"), "wb"):
        pass


def leave_many(run):
    for seq in range(100, 101 + survival.KEEP):
        shutil.copy(last_dump(run), re.sub(r"\.\d+(\.limit)", rf".{seq}\1", last_dump(run)))


def remove_all(run):
    for dump in dumps.list_ours(run.folder)[0]:
        os.unlink(dump.path)


def double_truth(run):
    run.seen["in_use_after"] *= 2


def forget_kill(run):
    run.ending["oom_kill"] = 0


BROKEN = [
    ("nothing", lambda run: None, CULPRIT, None),
    ("a file cut short", truncate, CULPRIT, "not whole: .*(gunzip|check)"),
    ("a damaged file", damage, CULPRIT, "not whole: .*(gunzip|check)"),
    ("a temporary file", leave_partial, CULPRIT, "left behind"),
    ("too many files", leave_many, CULPRIT, r"\d+ left"),
    ("no dumps", remove_all, CULPRIT, "no dump"),
    ("twice as much in use", double_truth, CULPRIT, "covers"),
    ("another culprit", lambda run: None, "note_chunk", "first is leak_chunk, not note_chunk"),
    ("no kill", forget_kill, CULPRIT, "not killed"),
]

# Runs for real: (pattern, settings, what must be said)
INCAPABLE = [
    ("chunks", {"HEAPPROF": "off"}, "no dump"),
    ("chunks", {"HEAPPROF_LIMIT": "off"}, "no dump"),
    ("chunks", {"HEAPPROF_THRESHOLDS": "50%"}, "covers"),
]

# Cases of quiet.py: (name, settings, what must be said)
UNQUIET = [
    ("P17", {"HEAPPROF_THRESHOLDS": "10%"}, "dumps: "),
    ("P15", {"HEAPPROF_THRESHOLDS": "50%"}, "were made"),  # usage never falls below: one dump, and no proof
    ("P16", {"HEAPPROF_THRESHOLDS": "80%"}, "lacks"),
    ("restarts", {"HEAPPROF_KEEP": "7"}, "files left"),
]


class Checker:
    def __init__(self):
        self.failed = False

    def expect(self, what, problems, expected):
        text = "; ".join(problems)
        good = not problems if expected is None else re.search(expected, text) is not None
        self.failed = self.failed or not good
        print(f"{'ok' if good else 'FAILED'}: {what}: {text or 'no problem'}", flush=True)


def check_broken(h, checker):
    good = h.run("chunks")
    for name, breakage, culprit, expected in BROKEN:
        run = copy.deepcopy(good)
        run.folder = os.path.join(h.root, "broken")
        shutil.copytree(good.folder, run.folder)
        breakage(run)
        verdict = survival.judge_ours(run, "chunks", culprit, h.tools.command)
        checker.expect(name, verdict.problems, expected)
        shutil.rmtree(run.folder)


def check_incapable(h, checker):
    for pattern, settings, expected in INCAPABLE:
        run = h.run(pattern, settings=settings)
        verdict = survival.judge_ours(run, pattern, survival.PATTERNS[pattern][0], h.tools.command)
        checker.expect(f"{pattern} with {settings}", verdict.problems, expected)


class Overruled:
    """A harness that lays settings over those of the case."""

    def __init__(self, h, settings):
        self.h = h
        self.settings = settings
        self.root, self.tools, self.new_folder = h.root, h.tools, h.new_folder

    def run(self, pattern, settings=None, **rest):
        return self.h.run(pattern, settings={**(settings or {}), **self.settings}, **rest)


def check_unquiet(h, checker):
    for name, settings, expected in UNQUIET:
        _, problems = quiet.CASES[name](Overruled(h, settings), True)
        checker.expect(f"{name} with {settings}", problems, expected)


def main():
    tools = harness.parser(__doc__.splitlines()[0]).parse_args()
    checker = Checker()
    with harness.Harness(tools) as h:
        check_broken(h, checker)
        check_incapable(h, checker)
        check_unquiet(h, checker)
    return 1 if checker.failed else 0


if __name__ == "__main__":
    sys.exit(main())

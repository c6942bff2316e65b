"""What is paid once or in the background: the start, frames that are seen for the first time, the guard."""

import os
import time

from contenders import ALL, GLIBC, HEAPTRACK, OURS, PLAIN
from measuring import Failed, medians, over, run
from report import Row
from suite import cells


def spawn(command, environment):
    """Runs a process to its end -> ms that passed, and ms of CPU time."""
    begin = time.perf_counter()
    pid = os.posix_spawn(command[0], command, environment)
    _, status, usage = os.wait4(pid, 0)
    took = time.perf_counter() - begin
    if status != 0:
        raise Failed(f"{os.path.basename(command[0])}: status {status}")
    return {"ms": 1e3 * took, "cpu_ms": 1e3 * (usage.ru_utime + usage.ru_stime)}


def start(suite):
    """A process that does nothing."""
    names = [n for n in suite.installed(*ALL) if n != HEAPTRACK]
    peers = [n for n in ALL if n not in (HEAPTRACK, GLIBC)]
    nothing = [suite.program("nothing")]
    values = suite.compare("start", names, lambda name: spawn(nothing, suite.environment(name)),
                           15 if suite.quick else 101)
    what = "start of a process that does nothing, over glibc"
    suite.add_row(Row(what, "ms", 1, over(values, "ms", GLIBC), 40, digits=2), peers)
    suite.add_row(Row(f"{what}, CPU time", "ms", 1, over(values, "cpu_ms", GLIBC), 4, digits=2), peers)
    threads = run(nothing + ["threads"], suite.environment(OURS))["threads"]
    suite.add_row(Row("threads of a process that does nothing", "", 1, {OURS: threads}, digits=0))
    suite.add_table("A process that does nothing, from start to end", ["", *names],
                    [[figure, *cells(names, medians(values, figure), 2)] for figure in ("ms", "cpu_ms")])


def unwind(suite):
    """Stacks of 64 functions that were never on a stack before."""
    values = suite.compare("frames never seen", [OURS], lambda _: run(
        [suite.program("unwind_cost")], suite.environment(GLIBC)))
    found = {figure: medians(values, figure)[OURS] for figure in values[OURS]}
    suite.add_row(Row("first unwind through a never seen frame", "us a frame", 5, {OURS: found["ours_first_us"]}, 20,
                      note=f"libunwind in the same run: unw_backtrace {found['backtrace_first_us']:.1f} us, "
                           f"a cursor {found['cursor_first_us']:.1f} us", digits=2))
    suite.add_table("A walk through 64 functions, a frame", ["", "heapprof", "unw_backtrace", "libunwind's cursor"],
                    [[what, *(f"{found[who + figure]:.{digits}f}" for who in ("ours", "backtrace", "cursor"))]
                     for what, figure, digits in (("first, us", "_first_us", 2), ("again, ns", "_again_ns", 1))])


def guard(suite):
    """A look at the limit, and the guard's thread when nothing happens."""
    values = suite.compare("guard", [PLAIN], lambda _: run(
        [suite.program("guard_cost"), "auto", "1" if suite.quick else "2"], suite.environment(GLIBC)))
    found = {figure: medians(values, figure)[PLAIN] for figure in values[PLAIN]}
    suite.add_row(Row("the guard's thread, idle", "% of a core", 0.1, {OURS: found["idle_percent"]}, 1, digits=3))
    suite.add_table("The guard", list(found), [[f"{number:.4g}" for number in found.values()]],
                    "check: one look at the limit, on the thread that allocates; held back: a check that needs none.")

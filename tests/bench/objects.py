"""Many live objects and many stacks: the memory they take, and what a dump of them costs."""

import os

from contenders import GLIBC, GPERFTOOLS, HEAPTRACK, OURS, PLAIN, PROF
from measuring import medians, over, ratios
from report import Row
from suite import KIB, MB, cells

LIMIT = 128 << 20
LIMIT_PERIOD = LIMIT // 1024
LIVE_BYTES = 100_000_000
OBJECT_BYTES = 64

ROOM = 8 << 30  # a limit at which the tables have their largest size
# stacks: at most so many ms for a dump, and on a busy machine
DUMPS = {1_000: (5, 60), 10_000: (30, 200), 100_000: (300, 1500)}


def live_objects(suite, name, count, limit=LIMIT):
    settings = {"limit": limit} if name == OURS else {"period": min(limit // 1024, 1 << 19)}
    return suite.run(name, "live_objects", count, OBJECT_BYTES, **settings)


def live_memory(suite):
    """100 MB of 64 B objects, at the period that a limit of 128 MiB brings."""
    count = LIVE_BYTES // OBJECT_BYTES
    names = suite.installed(OURS, PLAIN, PROF, GPERFTOOLS, HEAPTRACK, GLIBC)
    values = suite.compare("100 MB live", names, lambda name: live_objects(suite, name, count))
    more = {n: 100 * (ratio - 1) for n, ratio in ratios(values, "rss_kib", PLAIN).items()}
    suite.add_row(Row("100 MB of live 64 B objects, 128 MiB limit: resident over plain jemalloc", "%", 1, more, 1.25,
                      digits=2), names + [PROF, GPERFTOOLS, HEAPTRACK])
    figures = [medians(values, figure) for figure in ("rss_kib", "malloc_ns", "free_ns")]
    suite.add_table("100 MB of live 64 B objects, each written to", ["", *names],
                    [["resident, MB", *cells(names, figures[0], 1, MB / KIB)],
                     ["ns a malloc", *cells(names, figures[1])], ["ns a free", *cells(names, figures[2])]])


def live_growth(suite):
    """The same by the number of objects, with a limit that leaves room: the period is 512 KiB."""
    if suite.quick:
        return
    names = suite.installed(OURS, PLAIN, PROF)
    memory = {n: [] for n in names if n != PLAIN}
    time = {n: [] for n in names}
    for count in (10_000, 100_000, 1_000_000, 10_000_000):
        values = suite.compare(f"{count:,} live objects", names, lambda name, count=count: live_objects(
            suite, name, count, ROOM), 3)
        more = over(values, "rss_kib", PLAIN)
        took, freed = medians(values, "malloc_ns"), medians(values, "free_ns")
        for name in names:
            time[name].append((count, took[name] + freed[name]))
        for name in memory:
            memory[name].append((count, more[name] * KIB / MB))
    suite.add_curve("live-memory", "Memory by live 64 B objects, at a period of 512 KiB", "live objects",
                    "MB resident over plain jemalloc", memory, x_is_log=True)
    suite.add_curve("live-time", "malloc and free by live 64 B objects, first touch included", "live objects",
                    "ns of CPU time", time, x_is_log=True)


def dump_cost(suite, name, stacks):
    path = os.path.join(suite.folder, "dump")
    settings = {"limit": ROOM} if name == OURS else {}
    return suite.run(name, "dump_cost", stacks, path, period=1, **settings)


def dumps(suite):
    """From the call to the durable file, each stack of about 28 frames holding one object."""
    names = suite.installed(OURS, PROF)
    grown = {name: 0.0 for name in names}
    sizes = {1_000: DUMPS[1_000], 10_000: DUMPS[10_000]} if suite.quick else DUMPS
    found = {}
    for stacks, (must, loose) in sizes.items():
        values = suite.compare(f"dump of {stacks:,} stacks", names, lambda name, stacks=stacks: dump_cost(
            suite, name, stacks))
        found[stacks] = {n: {figure: medians(values, figure)[n] for figure in values[n]} for n in names}
        suite.add_row(Row(f"dump of {stacks:,} stacks, to durable file", "ms", must,
                          {n: found[stacks][n]["dump_ms"] for n in names}, loose), (PROF,))
        grown = {n: max(grown[n], *values[n]["grown_kib"]) for n in names}
    suite.add_row(Row("memory that a dump adds", "KiB", 0, grown, 256, digits=0), (PROF,))
    lines = [[f"{stacks:,}", n, *cells(list(of[n]), of[n])] for stacks, of in found.items() for n in names]
    suite.add_table("Dumps of stacks of about 28 frames", ["stacks", "", *found[1_000][OURS]], lines)


def stack_growth(suite):
    """By the number of different stacks, to a million: more than the tables hold."""
    if suite.quick:
        return
    names = suite.installed(OURS, PROF)
    counts = (1_000, 10_000, 100_000, 300_000, 1_000_000)
    figures = {"new_stack_ns": {n: [] for n in names}, "dump_ms": {n: [] for n in names},
               "anonymous_kib": {n: [] for n in names}}
    for count in counts:
        # A million stacks and their dump take jemalloc's profiler a minute.
        who = [n for n in names if n == OURS or count <= 100_000]
        values = suite.compare(f"{count:,} stacks", who, lambda name, count=count: dump_cost(suite, name, count), 3)
        for figure, series in figures.items():
            scale = KIB / MB if figure == "anonymous_kib" else 1
            for name, number in medians(values, figure).items():
                series[name].append((count, number * scale))
    where = {"x_label": "different stacks, a live object each", "x_is_log": True}
    suite.add_curve("stacks-sample", "A sample with a new stack of 28 frames", y_label="ns of CPU time",
                    series=figures["new_stack_ns"], **where)
    where["y_is_log"] = True
    suite.add_curve("stacks-memory", "Memory by different stacks of 28 frames", series=figures["anonymous_kib"],
                    y_label="MB anonymous, objects included", **where)
    suite.add_curve("stacks-dump", "Dump by different stacks of 28 frames", y_label="ms to a durable file",
                    series=figures["dump_ms"], **where)

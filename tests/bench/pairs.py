"""malloc and free: ns and instructions a pair, the cost of a sample, and how it grows with the period and the depth."""

from contenders import ALL, GLIBC, GPERFTOOLS, HEAPTRACK, OURS, PLAIN, PROF
from measuring import Failed, medians, over
from report import Row
from suite import cells

PERIOD = 1 << 19
LONGEST_PERIOD = 1 << 30
SLOW = (HEAPTRACK, GPERFTOOLS)  # fewer pairs for them, or the suite takes all day
INNER_ROUNDS = 5

# loop: (what, at most ns over plain jemalloc, and on a busy machine, instructions over plain jemalloc)
LOOPS = {
    "pair": ("64 B pair, over plain jemalloc", 1.2, 4.0, 14),
    "random": ("random 16..1039 B, over plain jemalloc", 1.7, 6.0, 16),
    "page": ("4096 B, over plain jemalloc", 5.0, 20.0, 24),
}
PERIODS = [1 << shift for shift in range(12, 24)]
DEPTHS = [6, 13, 26, 39, 52, 64, 90, 128]


def time_loop(suite, loop):
    what, must, loose, _ = LOOPS[loop]
    pairs = 400_000 if suite.quick else 2_000_000

    def measure(name):
        few = pairs // 20 if name in SLOW else pairs
        return suite.run(name, "pair_loops", loop, few, INNER_ROUNDS, period=PERIOD)

    values = suite.compare(f"{loop} loop", suite.installed(*ALL), measure)
    suite.add_row(Row(what, "ns", must, over(values, "ns", PLAIN), loose), ALL)
    return medians(values, "ns")


def pairs(suite):
    """The rows of the three loops, in CPU time."""
    found = {loop: time_loop(suite, loop) for loop in LOOPS}
    names = list(found["pair"])
    suite.add_table("A malloc and its free, ns of CPU time, at a period of 512 KiB", ["loop", *names],
                    [[loop, *cells(names, found[loop], 2)] for loop in LOOPS])


def count_pair(suite, name, loop):
    """Instructions a pair. A sample is not among them: the period is as long as it can be."""
    arguments = ("pair_loops", loop, 500, "count")
    try:
        return suite.run(name, *arguments, period=LONGEST_PERIOD)
    except Failed:  # once in thousands a first sample came all the same, and a thread's start can't be stepped through
        return suite.run(name, *arguments, period=LONGEST_PERIOD)


def pair_instructions(suite):
    """The same loops, by instruction: a busy machine does not change these."""
    names = suite.installed(OURS, PLAIN, PROF, GPERFTOOLS, GLIBC)
    names = [n for n in names if not suite.quick or n != GLIBC]
    lines = []
    for loop, (what, _, _, must) in LOOPS.items():
        values = suite.compare(f"instructions, {loop} loop", names, lambda name, loop=loop: count_pair(
            suite, name, loop), 1)
        more = over(values, "instructions", PLAIN)
        suite.add_row(Row(f"{what}, no sample", "instructions", must, more), (PROF, GPERFTOOLS))
        lines.append([loop, *cells(names, medians(values, "instructions"))])
    suite.add_table("Instructions of a malloc and its free, none sampled", ["loop", *names], lines)


def time_sample(suite, name, frames):
    samples = 5_000 if suite.quick or name in (PROF, GPERFTOOLS) else 30_000
    return suite.run(name, "sample_cost", frames, samples, period=1)


def sample(suite):
    """One warm sample of 26 frames; in a full run of other depths, too."""
    names = suite.installed(OURS, PROF, GPERFTOOLS, HEAPTRACK)
    values = suite.compare("one sample", names, lambda name: time_sample(suite, name, 26))
    suite.add_row(Row("one sample, warm stack of 26 frames, all included", "ns", 500, medians(values, "ns"), 2500,
                      digits=0), names + [PROF, GPERFTOOLS, HEAPTRACK])
    if suite.quick:
        return
    series = {name: [] for name in names}
    for frames in DEPTHS:
        values = suite.compare(f"a sample of {frames} frames", names,
                               lambda name, frames=frames: time_sample(suite, name, frames), 3)
        for name, ns in medians(values, "ns").items():
            series[name].append((frames, ns))
    suite.add_curve("depth", "One sample, by the depth of its stack", "frames", "ns of CPU time", series, y_is_log=True)


def period(suite):
    """The random loop by the sampling period."""
    if suite.quick:
        return
    names = suite.installed(OURS, PLAIN, PROF, GPERFTOOLS)
    series = {name: [] for name in names}
    for every in PERIODS:
        def measure(name, every=every):
            pairs_wanted = 60_000 if name in SLOW else 300_000
            return suite.run(name, "pair_loops", "random", pairs_wanted, 3, period=every)

        values = suite.compare(f"a period of {every >> 10} KiB", names, measure, 3)
        for name, ns in medians(values, "ns").items():
            series[name].append((every, ns))
    ticks = {every: f"{every >> 10}K" if every < 1 << 20 else f"{every >> 20}M" for every in PERIODS}
    suite.add_curve("period", "random 16..1039 B, by the sampling period", "mean bytes between samples",
                    "ns of CPU time a malloc and free", series, x_is_log=True, y_is_log=True, x_ticks=ticks)

"""Many threads: throughput at a short sampling period, and the memory that each sampling thread adds."""

from contenders import GLIBC, GPERFTOOLS, OURS, PLAIN, PROF
from measuring import medians, over
from report import Row
from suite import KIB, MB, cells

PERIOD = 16 * KIB
LIMIT = 128 << 20
LIMIT_PERIOD = LIMIT // 1024  # what heapprof takes at this limit, for its peers
PAIRS_A_THREAD = 20_000       # some 10 MB: each thread takes about 80 samples

# threads: at most so many MB over plain jemalloc
OWN_MEMORY = {1: 1.5, 64: 2.5, 256: 4.0}


def loss_of_scaling(rates, name, threads):
    """In percent: how far the gain from 1 thread to `threads` is below plain jemalloc's."""
    gain = {n: rates[threads][n] / rates[1][n] for n in (name, PLAIN)}
    return 100 * (1 - gain[name] / gain[PLAIN])


def throughput(suite):
    """Pairs a second at 1 to 16 threads."""
    counts = (1, 4) if suite.quick else (1, 2, 4, 8, 16)
    milliseconds = 150 if suite.quick else 300
    names = suite.installed(OURS, PLAIN, PROF, GPERFTOOLS, GLIBC)

    def measure(name):
        return {threads: suite.run(name, "thread_loops", threads, milliseconds, period=PERIOD)["pairs_a_second"]
                for threads in counts}

    values = suite.compare("threads", names, measure)
    rates = {threads: medians(values, threads) for threads in counts}
    for threads in counts[1:]:
        losses = {n: loss_of_scaling(rates, n, threads) for n in names if n != PLAIN}
        suite.add_row(Row(f"{threads} threads, 16 KiB period: gain over 1 thread, below plain jemalloc's", "%", 3,
                          losses, 40), (PROF, GPERFTOOLS))
    suite.add_table("Threads: millions of pairs a second together, at a period of 16 KiB", ["threads", *names],
                    [[threads, *cells(names, rates[threads], 1, 1e6)] for threads in counts])
    if not suite.quick:
        series = {n: [(threads, rates[threads][n] / rates[threads][PLAIN]) for threads in counts] for n in names}
        suite.add_curve("threads", "Throughput by threads, at a period of 16 KiB", "threads",
                        "pairs a second, as a share of plain jemalloc's", series, x_is_log=True)


def own_memory(suite):
    """What is resident with many sampling threads, over plain jemalloc."""
    counts = (64,) if suite.quick else (1, 4, 16, 64, 256)
    names = suite.installed(OURS, PLAIN, PROF)
    found, written = {}, {}
    for threads in counts:
        settings = {OURS: {"limit": LIMIT}, PLAIN: {}, PROF: {"period": LIMIT_PERIOD}}
        values = suite.compare(f"memory of {threads} threads", names, lambda name, threads=threads: suite.run(
            name, "thread_loops", threads, 0, PAIRS_A_THREAD, **settings[name]))
        found[threads] = over(values, "rss_kib", PLAIN)
        written[threads] = medians(values, "anonymous_kib")
        if threads in OWN_MEMORY:
            must = OWN_MEMORY[threads]
            more = {n: kib * KIB / MB for n, kib in found[threads].items()}
            suite.add_row(Row(f"own memory, {threads} sampling thread{'s' * (threads > 1)}, over plain jemalloc", "MB",
                              must, more, 2 * must, digits=2), (PROF,))
    suite.add_table("Threads: anonymous memory, MB, at a limit of 128 MiB", ["threads", *names],
                    [[threads, *cells(names, written[threads], 2, MB / KIB)] for threads in counts])
    if not suite.quick:
        series = {n: [(t, found[t][n] * KIB / MB) for t in counts] for n in names if n != PLAIN}
        suite.add_curve("thread-memory", "Own memory by sampling threads, at a limit of 128 MiB", "threads",
                        "MB resident over plain jemalloc", series, x_is_log=True)

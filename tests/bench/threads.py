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
    """Pairs a second at 1 to 16 threads. By the clock it takes an idle machine; by CPU time it does not, but sees no
    thread that sleeps: those are counted."""
    counts = (1, 4) if suite.quick else (1, 2, 4, 8, 16)
    names = suite.installed(OURS, PLAIN, PROF, GPERFTOOLS, GLIBC)
    found = {}
    for threads in counts:
        found[threads] = suite.compare(f"{threads} threads", names, lambda name, threads=threads: suite.run(
            name, "thread_loops", threads, 150 if suite.quick else 300, period=PERIOD))
    rates = {figure: {threads: medians(values, figure) for threads, values in found.items()}
             for figure in ("pairs_a_second", "pairs_a_cpu_second", "waits_a_million")}
    for threads in counts[1:]:
        for figure, clock in (("pairs_a_second", ""), ("pairs_a_cpu_second", ", in CPU time")):
            losses = {n: loss_of_scaling(rates[figure], n, threads) for n in names if n != PLAIN}
            loose = 90 if figure == "pairs_a_second" else 60
            what = f"{threads} threads, 16 KiB period: gain over 1 thread, below plain jemalloc's{clock}"
            suite.add_row(Row(what, "%", 3, losses, loose), (PROF, GPERFTOOLS))
    for figure, what, scale in (("pairs_a_second", "millions of pairs a second together", 1e6),
                                ("pairs_a_cpu_second", "millions of pairs a second of CPU time", 1e6),
                                ("waits_a_million", "how often one slept, in a million pairs", 1)):
        suite.add_table(f"Threads: {what}, at a period of 16 KiB", ["threads", *names],
                        [[threads, *cells(names, rates[figure][threads], 1, scale)] for threads in counts])
    if not suite.quick:
        together = rates["pairs_a_second"]
        series = {n: [(threads, together[threads][n] / together[threads][PLAIN]) for threads in counts] for n in names}
        suite.add_curve("threads", "Throughput by threads, at a period of 16 KiB", "threads",
                        "pairs a second, as a share of plain jemalloc's", series, x_is_log=True)


def own_memory(suite):
    """What is resident with many sampling threads, over plain jemalloc."""
    counts = tuple(OWN_MEMORY) if suite.quick else (1, 4, 16, 64, 256)
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
                              must, more, 1.25 * must, digits=2), (PROF,))
    suite.add_table("Threads: anonymous memory, MB, at a limit of 128 MiB", ["threads", *names],
                    [[threads, *cells(names, written[threads], 2, MB / KIB)] for threads in counts])
    if not suite.quick:
        series = {n: [(t, found[t][n] * KIB / MB) for t in counts] for n in names if n != PLAIN}
        suite.add_curve("thread-memory", "Own memory by sampling threads, at a limit of 128 MiB", "threads",
                        "MB resident over plain jemalloc", series, x_is_log=True)

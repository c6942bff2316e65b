#!/usr/bin/env python3
"""What heapprof costs, beside plain jemalloc, jemalloc's own profiler, gperftools, heaptrack and glibc's malloc.

Everything is measured side by side in one run: contenders take turns, figures are medians. Prints a Markdown table of
what must be reached, and more tables; a peer that is not installed is named so. About ten minutes; --quick: half a
minute, only heapprof, plain jemalloc and glibc.
"""

import argparse
import json
import os
import sys
import tempfile

import chart
import contenders
import machine
import measuring
import objects
import pairs
import programs
import report
import starts
import suite as suites
import threads

SKIPPED = 77
ROUNDS, QUICK_ROUNDS = 5, 3

CHAPTERS = {
    "pairs": pairs.pairs,
    "instructions": pairs.pair_instructions,
    "sample": pairs.sample,
    "period": pairs.period,
    "threads": threads.throughput,
    "own-memory": threads.own_memory,
    "live": objects.live_memory,
    "live-growth": objects.live_growth,
    "programs": programs.resident,
    "unwind": starts.unwind,
    "dumps": objects.dumps,
    "stack-growth": objects.stack_growth,
    "start": starts.start,
    "redis": programs.redis_cpu,
    "guard": starts.guard,
}


def parse_arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--build", required=True, type=os.path.abspath, metavar="FOLDER", help="where heapprof was built")
    p.add_argument("--quick", action="store_true", help="half a minute: less of everything")
    p.add_argument("--rounds", type=int, default=0, metavar="N", help=f"how often each is measured ({ROUNDS})")
    p.add_argument("--only", nargs="+", choices=CHAPTERS, metavar="CHAPTER", help=", ".join(CHAPTERS))
    p.add_argument("--check", action="store_true", help="exit status 1 when a figure is far above what it must be")
    p.add_argument("--json", metavar="FILE", help="write all figures there")
    p.add_argument("--report", metavar="FOLDER",
                   help="write the tables there, as figures.md, and the curves as SVG, not to standard output")
    return p.parse_args()


def measure(suite, chapters):
    try:
        for name in chapters:
            CHAPTERS[name](suite)
    finally:
        suite.progress.end()


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def publish(arguments, about, suite):
    found = (about, suite.rows, suite.tables, suite.curves)
    if arguments.json:
        write(arguments.json, json.dumps(report.as_json(*found), indent=1) + "\n")
    if not arguments.report:
        print(report.markdown(*found))
        return
    os.makedirs(arguments.report, exist_ok=True)
    write(os.path.join(arguments.report, "figures.md"), report.markdown(*found, with_charts=True))
    for curve in suite.curves:
        write(os.path.join(arguments.report, curve.name + ".svg"), chart.svg(curve))


def main():
    arguments = parse_arguments()
    rounds = arguments.rounds or (QUICK_ROUNDS if arguments.quick else ROUNDS)
    with tempfile.TemporaryDirectory(prefix="heapprof-bench.") as folder:
        suite = suites.Suite(arguments.build, folder, arguments.quick, rounds)
        if not os.path.exists(suite.program("nothing")):
            sys.exit(f"run.py: {arguments.build}: the bench programs are not built there")
        if not suite.contenders[contenders.PLAIN].is_installed:
            print("SKIP: libjemalloc.so.2 is not installed, and all is measured against it")
            return SKIPPED
        about = machine.describe(suite)
        try:
            measure(suite, arguments.only or CHAPTERS)
        except measuring.Failed as failure:
            sys.exit(f"run.py: {failure}")
        about["load_after"] = os.getloadavg()[0]
    publish(arguments, about, suite)
    failed = [row for row in suite.rows if row.fails()] if arguments.check else []
    for row in failed:
        limit = row.must if row.loose is None else row.loose
        print(f"FAIL: {row.what}: {row.cell(contenders.OURS)} {row.unit}, even here at most {limit:g}",
              file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

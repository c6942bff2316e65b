"""What the chapters of the suite share: the programs, the contenders that are installed, and what was found so far."""

import os
import statistics

import contenders
import measuring
import report

MB = 1e6
KIB = 1024


class Suite:
    def __init__(self, build, folder, quick, rounds):
        self.build = build
        self.folder = folder  # for what programs write; removed in the end
        self.quick = quick
        self.rounds = rounds
        self.progress = measuring.Progress()
        self.contenders = contenders.find(os.path.join(build, "libheapprof.so"))
        self.rows, self.tables, self.curves = [], [], []

    def program(self, name):
        return os.path.join(self.build, "tests", "bench", "bench_" + name)

    def installed(self, *names):
        """Those of them that are there, in this order. In a quick run only heapprof, plain jemalloc and glibc."""
        few = (contenders.OURS, contenders.PLAIN, contenders.GLIBC)
        return [n for n in names if self.contenders[n].is_installed and (not self.quick or n in few)]

    def environment(self, name, **settings):
        return self.contenders[name].environment(self.folder, **settings)

    def run(self, name, program, *arguments, **settings):
        """One of our programs under a contender -> its figures."""
        command = [self.program(program), *map(str, arguments)]
        return measuring.run(command, self.environment(name, **settings))

    def compare(self, what, names, measure, rounds=None):
        return measuring.side_by_side(names, rounds or self.rounds, measure, self.progress, what)

    def add_row(self, row, peers=()):
        """`peers` are those that belong in the row, installed or not."""
        for name in peers:
            if not self.contenders[name].is_installed:
                row.values.setdefault(name, report.MISSING)
        self.rows.append(row)

    def add_table(self, *values, **named):
        self.tables.append(report.Table(*values, **named))

    def add_curve(self, *values, **named):
        self.curves.append(report.Curve(*values, **named))



def cells(names, values, digits=1, scale=1.0):
    """A table's line of numbers, one a name, "" where there is none."""
    return [f"{values[n] / scale:,.{digits}f}" if n in values else "" for n in names]

#!/usr/bin/env python3
"""judge.py JOINED RUNS: whether what the dumps of a series say is unbiased, and scatters as the theory says.

JOINED has a line for each site of each run: NAME and the four values of the dump, "site" NAME START END, the four
true values and the four variances of their estimates (lib/sites.h). Prints a table; then a line "BEYOND NAME VALUE
WHAT" for each single comparison that chance explains once in some thousand times, so that the caller can have it
judged again by another series, and a line "FAILED …" for what all of them together say.
"""

import math
import sys

VALUES = ("alloc_objects", "alloc_space", "inuse_objects", "inuse_space")

# Samples expected in all the runs, and objects' variance likewise, which also counts what is rarely NOT sampled:
# fewer are too far from a normal distribution for a mean; and in each run for a spread.
ENOUGH = 10
ENOUGH_FOR_SPREAD = 5


class Series:
    """One value of one site over all runs."""

    def __init__(self):
        self.errors, self.variances, self.truths = [], [], []

    def add(self, said, truth, variance):
        self.errors.append(said - truth)
        self.truths.append(truth)
        self.variances.append(variance)

    def samples_a_run(self):
        """truth^2 / variance of a sum of n equal terms that are there with probability p is about n p."""
        truth, variance = sum(self.truths), sum(self.variances)
        return truth * truth / variance / len(self.truths) if variance > 0 else math.inf

    def mean_in_sigmas(self):
        """The mean's error in its standard errors. Half an object or byte is rounded away in each run."""
        error, sigma = sum(self.errors), math.sqrt(sum(self.variances))
        beyond_rounding = max(0.0, abs(error) - len(self.errors) / 2)
        if sigma == 0:
            return 0.0 if beyond_rounding == 0 else math.inf
        return math.copysign(beyond_rounding / sigma, error)

    def spread(self):
        """Mean square of the error, in the theory's variances: 1, give or take sqrt(2 / runs)."""
        return sum(e * e / v for e, v in zip(self.errors, self.variances)) / len(self.errors)


def read(path):
    found = {}
    with open(path, encoding="ascii") as lines:
        for line in lines:
            words = line.split()
            if words[0] != words[6]:
                sys.exit(f"sites in disorder: {line}")
            for k, value in enumerate(VALUES):
                series = found.setdefault((words[0], value), Series())
                series.add(float(words[1 + k]), float(words[9 + k]), float(words[13 + k]))
    return found


def judge(found, runs):
    means, spreads = [], []
    for (name, value), series in sorted(found.items()):
        if len(series.errors) != runs:
            sys.exit(f"{name} {value}: {len(series.errors)} runs")
        objects = sum(found[name, VALUES[0] if value.startswith("alloc") else VALUES[2]].variances) / runs
        samples = min(series.samples_a_run(), objects if objects > 0 else math.inf)
        if samples * runs < ENOUGH or sum(series.truths) == 0:
            continue
        mean = series.mean_in_sigmas()
        spread = series.spread() if ENOUGH_FOR_SPREAD <= samples < math.inf else None
        print(f"{name:<26} {value:<13} {samples:9.1f} a run, off {mean:5.2f} sigma, spread "
              + (f"{spread:.2f}" if spread is not None else "-"))
        means.append(mean)
        if abs(mean) > 3:
            print("BEYOND", name, value, "mean")
        if spread is not None:
            spreads.append(spread)
            if not 0.3 < spread < 2.2:
                print("BEYOND", name, value, "spread")
    judge_all(means, spreads)


def judge_all(means, spreads):
    """Of means, 4.6 % are beyond two standard errors by chance; objects and bytes of a site go together, so the
    number of those beyond scatters as if there were half as many, and the average of all as if a quarter."""
    n = len(means)
    beyond = sum(abs(mean) > 2 for mean in means)
    allowed = 0.046 * n + 4 * math.sqrt(0.046 * n * 2)
    average = sum(means) / n
    spread = sum(spreads) / max(1, len(spreads))
    print(f"{n} means: {beyond} beyond two standard errors, on average {average:+.2f}; "
          f"{len(spreads)} spreads, on average {spread:.2f}")
    if n < 36 or len(spreads) < 12:
        print("FAILED: next to nothing was compared")
    if beyond > allowed:
        print(f"FAILED: {beyond} means beyond two standard errors, {allowed:.0f} would be chance")
    if abs(average) > 4 / math.sqrt(n / 4):
        print(f"FAILED: the means are {average:+.2f} standard errors off on average")
    if not 0.5 < spread < 1.6:
        print(f"FAILED: the errors' squares are {spread:.2f} of the theory's on average")


if __name__ == "__main__":
    judge(read(sys.argv[1]), int(sys.argv[2]))

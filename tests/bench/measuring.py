"""Runs programs side by side and takes medians."""

import os
import re
import statistics
import subprocess
import sys
import time

TIMEOUT_S = 300


class Failed(Exception):
    """A program did not run or did not print its figures; the text is for people."""


def figures(text):
    """{"ns": 7.5} out of lines "ns=7.5"."""
    return {name: float(value) for name, value in re.findall(r"^(\w+)=(-?[\d.]+)$", text, re.MULTILINE)}


def run(command, environment):
    """Runs to the end -> the figures that the program printed."""
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    if done.returncode != 0:
        raise Failed(f"{os.path.basename(command[0])}: status {done.returncode}: {done.stderr.strip()[-300:]}")
    return figures(done.stdout)


class Progress:
    """One line that tells what is being measured, on a terminal only."""

    def __init__(self):
        self.start = time.monotonic()
        self.is_shown = sys.stderr.isatty()

    def say(self, text):
        if self.is_shown:
            seconds = time.monotonic() - self.start
            sys.stderr.write(f"\r\033[K{seconds:4.0f} s  {text}"[:100])
            sys.stderr.flush()

    def end(self):
        if self.is_shown:
            sys.stderr.write("\r\033[K")


def side_by_side(names, rounds, measure, progress=None, what=""):
    """Calls measure(name) -> {figure: number} for one after the other, as many rounds, each beginning with another one,
    so that what disturbs the machine for a while disturbs all. -> {name: {figure: [number a round]}}"""
    values = {name: {} for name in names}
    for turn in range(rounds):
        for i in range(len(names)):
            name = names[(i + turn) % len(names)]
            if progress:
                progress.say(f"{what}: {name}, {turn + 1} of {rounds}")
            for figure, number in measure(name).items():
                values[name].setdefault(figure, []).append(number)
    return values


def medians(values, figure):
    """{name: median} out of side_by_side()'s."""
    return {name: statistics.median(of[figure]) for name, of in values.items()}


def over(values, figure, base):
    """{name: how far its median is over the base's}; the base itself left out."""
    found = medians(values, figure)
    return {name: number - found[base] for name, number in found.items() if name != base}


def ratios(values, figure, base):
    """The same, divided."""
    found = medians(values, figure)
    return {name: number / found[base] for name, number in found.items() if name != base}

"""Reads what a run left in its folder, by other programs than the one that wrote it where there are any."""

import gzip
import math
import os
import re
import subprocess
import zlib

OURS = re.compile(r"^heapprof\..*\.(\d+)\.(\d{8}T\d+)\.(\d+)\.([a-z]+\d*)\.pb\.gz$")
THEIRS = re.compile(r"^jeprof\.(\d+)\..*heap$")


class Dump:
    """A file: of which process, which one of its dumps, why, and when it was written."""

    def __init__(self, path, pid, order, reason):
        self.path = path
        self.pid = pid
        self.order = order
        self.reason = reason

    @property
    def name(self):
        return os.path.basename(self.path)


class Unsound(Exception):
    """A dump that is not whole."""


def list_ours(folder):
    """The dumps in order, and the names of all that is no dump."""
    dumps, others = [], []
    for name in os.listdir(folder):
        match = OURS.match(name)
        if match:
            order = (match[2], int(match[3]))
            dumps.append(Dump(os.path.join(folder, name), int(match[1]), order, match[4]))
        else:
            others.append(name)
    return sorted(dumps, key=lambda dump: dump.order), others


def list_theirs(folder):
    """jemalloc's dumps in the order in which they were begun."""
    dumps = []
    for name in os.listdir(folder):
        match = THEIRS.match(name)
        if match:
            path = os.path.join(folder, name)
            numbers = [int(n) for n in re.findall(r"\d+", name)]
            dumps.append(Dump(path, int(match[1]), (os.stat(path).st_mtime_ns, *numbers), name.split(".")[-2]))
    return sorted(dumps, key=lambda dump: dump.order)


def check_ours(command, dump):
    """Raises Unsound unless gunzip and `heapprof check` take all of it."""
    try:
        with gzip.open(dump.path) as f:
            f.read()
    except (OSError, EOFError, zlib.error) as e:
        raise Unsound(f"{dump.name}: gunzip: {e}") from e
    done = subprocess.run([command, "check", dump.path], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Unsound(f"{dump.name}: heapprof check: {done.stderr.strip()}")


def in_use_of_ours(dump):
    """Bytes in use by go's pprof, which must not warn: the fourth value of every sample."""
    done = subprocess.run(["go", "tool", "pprof", "-raw", dump.path], capture_output=True, text=True, check=False)
    if done.returncode != 0 or done.stderr:
        raise Unsound(f"{dump.name}: pprof: {done.stderr.strip()}")
    lines = done.stdout.split("\nSamples:\n")[1].split("\nLocations\n")[0].splitlines()
    samples = [line.split(":")[0].split() for line in lines[1:]]
    return sum(int(values[3]) for values in samples if len(values) == 4 and values[3].isdigit())


def first_of_ours(command, dump):
    """The function that `heapprof top -n 1` names."""
    done = subprocess.run([command, "top", "-n", "1", dump.path], capture_output=True, text=True, check=False)
    rows = re.findall(r"^ *\S+ \S+ +[\d.]+% .*%  (\S+)", done.stdout, re.MULTILINE)
    return rows[0] if rows else f"? {done.stderr.strip()}"


class JemallocProfile:
    """jemalloc's text format, scaled as jeprof scales it. Raises Unsound when it does not end as it should."""

    def __init__(self, dump):
        with open(dump.path, encoding="utf-8", errors="replace") as f:
            text = f.read()
        head, found, maps = text.partition("\nMAPPED_LIBRARIES:\n")
        match = re.match(r"heap_v2/(\d+)\n", head)
        # The kernel's last line of maps is vsyscall's.
        if not match or not found or not re.search(r"\[vsyscall\]\n\Z", maps):
            raise Unsound(f"{dump.name}: torn: {len(text)} bytes")
        self.period = int(match[1])
        self.maps = maps
        self.stacks = re.findall(r"^@ (.*)\n +t\*: (\d+): (\d+)", head, re.MULTILINE)

    def scaled(self):
        """(addresses, innermost first; bytes in use) a stack."""
        for addresses, objects, size in self.stacks:
            objects, size = int(objects), int(size)
            if objects > 0:
                scale = 1 / -math.expm1(-size / objects / self.period)
                yield [int(a, 16) for a in addresses.split()], size * scale

    def in_use(self):
        return sum(size for _, size in self.scaled())

    def first(self, program):
        """The function of `program` that itself asked for the most."""
        symbols = functions_of(program)
        ranges = re.findall(rf"^([0-9a-f]+)-([0-9a-f]+) \S+ ([0-9a-f]+) .*{re.escape(program)}$", self.maps,
                            re.MULTILINE)
        ranges = [tuple(int(n, 16) for n in numbers) for numbers in ranges]
        totals = {}
        for addresses, size in self.scaled():
            name = next((function_at(a, ranges, symbols) for a in addresses if is_within(a, ranges)), "?")
            totals[name] = totals.get(name, 0) + size
        return max(totals, key=totals.get) if totals else "?"


def is_within(address, ranges):
    return any(low <= address - 1 < high for low, high, _ in ranges)


def function_at(address, ranges, symbols):
    base = min(low - offset for low, _, offset in ranges)
    before = [name for start, name in symbols if start <= address - 1 - base]
    return before[-1] if before else "?"


def functions_of(program):
    done = subprocess.run(["nm", "-n", "--defined-only", program], capture_output=True, text=True, check=True)
    rows = (line.split() for line in done.stdout.splitlines())
    return [(int(row[0], 16), row[2]) for row in rows if len(row) == 3 and row[1] in "tT"]

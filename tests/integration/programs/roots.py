#!/usr/bin/env python3
"""roots.py RAW…: how many of the sampled allocations in dumps, as `pprof -raw -symbolize=none` printed them, have a
stack that reaches its thread's root. That is a function whose unwind table says that there is no caller (the return
address is undefined: _start, clone3, …); the dynamic loader's entry, below which constructors run; or, of a stack made by
makecontext(), the byte before a function that was put there to be returned to. readelf says which those are, so this is
not what the profiler itself believes.

Prints for each dump "PROGRAM ALLOCATIONS REACHED TRUNCATED WILD": the last are stacks that end elsewhere and do not
say [truncated]. What they end in goes to standard error."""
import collections
import functools
import re
import subprocess
import sys

LOADER_ENTRY_BYTES = 256  # _start and _dl_start_user, one piece of assembly


def output_of(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False).stdout


@functools.lru_cache(maxsize=None)
def roots_of(path):
    """Ranges of addresses in the file that have no caller; and where functions begin."""
    ranges, starts, common, entry, column = [], set(), set(), None, None
    for line in output_of("readelf", "-wF", path).splitlines():
        if m := re.match(r"([0-9a-f]+) .* CIE ", line):  # what its FDEs begin with
            entry, column = int(m[1], 16), None
        elif m := re.match(r"[0-9a-f]+ .* FDE cie=([0-9a-f]+) pc=([0-9a-f]+)\.\.([0-9a-f]+)", line):
            entry, column = (int(m[2], 16), int(m[3], 16)), None
            starts.add(entry[0])
            if int(m[1], 16) in common:
                ranges.append(entry)
        elif line.lstrip().startswith("LOC"):
            column = line.split().index("ra")
        elif column is not None and re.match(r"[0-9a-f]{8,} ", line):
            fields = line.split()
            if len(fields) > column and fields[column] == "u":
                (common.add if isinstance(entry, int) else ranges.append)(entry)
    header = output_of("readelf", "-hd", path)
    if "ld-linux" in path and (m := re.search(r"Entry point address: +0x([0-9a-f]+)", header)):
        ranges.append((int(m[1], 16), int(m[1], 16) + LOADER_ENTRY_BYTES))
    return ranges, starts


@functools.lru_cache(maxsize=None)
def made_up(path):
    """Where functions begin right behind a byte that belongs to none."""
    entries = [(int(m[1], 16), int(m[2], 16)) for m in
               re.finditer(r" pc=([0-9a-f]+)\.\.([0-9a-f]+)", output_of("readelf", "-wF", path))]
    ends = {end for _, end in entries}
    return {start for start, _ in entries if start not in ends}


@functools.lru_cache(maxsize=None)
def segments_of(path):
    """(offset in the file, address in the file, bytes) of what is mapped executable."""
    return [(int(m[1], 16), int(m[2], 16), int(m[3], 16)) for m in
            re.finditer(r"LOAD +0x([0-9a-f]+) 0x([0-9a-f]+) 0x[0-9a-f]+ 0x([0-9a-f]+) 0x[0-9a-f]+ R E",
                        output_of("readelf", "-lW", path))]


def is_root(address, mapping):
    path, start, offset = mapping
    at = address - start + offset
    for segment_offset, vaddr, size in segments_of(path):
        if segment_offset <= at < segment_offset + size:
            place = at - segment_offset + vaddr
            ranges, starts = roots_of(path)
            return any(low <= place < high for low, high in ranges) or (place + 1 in starts and place + 1 in made_up(path))
    return False


def read(path):
    part, samples, locations, mappings = "", [], {}, {}
    for line in open(path, encoding="utf-8", errors="replace"):
        word = line.rstrip("\n")
        if word in ("Samples:", "Locations", "Mappings"):
            part = word
        elif part == "Samples:" and re.match(r" *\d+ +\d+ +\d+ +\d+: ", line):
            values, stack = line.split(":", 1)
            samples.append((int(values.split()[0]), int(stack.split()[-1])))
        elif part == "Locations" and (m := re.match(r" *(\d+): 0x([0-9a-f]+)(?: M=(\d+))?(.*)", line)):
            locations[int(m[1])] = (int(m[2], 16), m[3] and int(m[3]), m[4].strip())
        elif part == "Mappings" and (m := re.match(r"(\d+): 0x([0-9a-f]+)/0x[0-9a-f]+/0x([0-9a-f]+) (\S*)", line)):
            mappings[int(m[1])] = (m[4], int(m[2], 16), int(m[3], 16))
    return samples, locations, mappings


def main():
    for path in sys.argv[1:]:
        samples, locations, mappings = read(path)
        counts, ends = collections.Counter(), collections.Counter()
        for objects, last in samples:
            address, mapping, name = locations[last]
            if name.startswith("[truncated]") or name.startswith("[stack lost]"):
                counts["truncated"] += objects
            elif mapping in mappings and is_root(address, mappings[mapping]):
                counts["reached"] += objects
            else:
                counts["wild"] += objects
                ends[(mappings.get(mapping, ("no mapping", 0, 0))[0], hex(address))] += objects
        for end, objects in ends.most_common(3):
            print(f"{path}: {objects} end at {end}", file=sys.stderr)
        program = mappings[1][0].rsplit("/", 1)[-1] if 1 in mappings else "?"
        print(program, sum(counts.values()), counts["reached"], counts["truncated"], counts["wild"])


main()

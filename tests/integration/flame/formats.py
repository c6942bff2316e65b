"""formats.py RAW TYPE FOLDED SPEEDSCOPE: do the two hold the stacks that `go tool pprof -raw` printed?"""
import collections
import json
import re
import sys

TYPES = ["alloc_objects", "alloc_space", "inuse_objects", "inuse_space"]
UNITS = {"none", "nanoseconds", "microseconds", "milliseconds", "seconds", "bytes"}


def read_raw(path):
    """[(values, outermost;…;innermost)]; inlined functions are frames, too."""
    samples, locations, current, part = [], collections.defaultdict(list), None, None
    for line in open(path, encoding="utf-8"):
        if line.rstrip("\n") in ("Locations", "Mappings") or line.startswith("Samples:"):
            part = line.split(":")[0].strip()
            continue
        if part == "Samples":
            found = re.match(r"^ *(-?\d+(?: +-?\d+)*): ((?:\d+ ?)+)$", line)
            if found:
                samples.append(([int(v) for v in found[1].split()], [int(v) for v in found[2].split()]))
        elif part == "Locations":
            start = re.match(r"^ *(\d+): 0x[0-9a-f]+ (?:M=\d+ )?", line)
            rest = line[start.end():] if start else line
            current = int(start[1]) if start else current
            name = re.match(r"^ *(.*?) \S*:\d+(?::\d+)? s=\d+", rest)
            if name:
                locations[current].append(name[1].strip())
    return [(values, ";".join(name for at in reversed(stack) for name in reversed(locations[at]))) for values, stack in samples]


def check_speedscope(data, wanted):
    assert data["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    frames, profiles = data["shared"]["frames"], data["profiles"]
    assert all(isinstance(frame["name"], str) for frame in frames)
    assert all(isinstance(frame.get("line", 1), int) and isinstance(frame.get("file", ""), str) for frame in frames)
    assert [profile["name"] for profile in profiles] == TYPES
    assert profiles[data["activeProfileIndex"]]["name"] == "inuse_space"
    for profile in profiles:
        assert profile["type"] == "sampled" and profile["unit"] in UNITS
        assert len(profile["samples"]) == len(profile["weights"])
        assert all(0 <= at < len(frames) for stack in profile["samples"] for at in stack)
        assert profile["startValue"] == 0 and profile["endValue"] == sum(profile["weights"])
        assert all(weight >= 0 for weight in profile["weights"])
    sums = collections.Counter()
    profile = profiles[TYPES.index(wanted)]
    for stack, weight in zip(profile["samples"], profile["weights"]):
        sums[";".join(frames[at]["name"] for at in stack)] += weight
    return sums


def main(raw, wanted, folded, speedscope):
    expected, found = collections.Counter(), collections.Counter()
    for values, path in read_raw(raw):
        if values[TYPES.index(wanted)] != 0:
            expected[path] += values[TYPES.index(wanted)]
    for line in open(folded, encoding="utf-8"):
        path, value = line.rstrip("\n").rsplit(" ", 1)
        assert path not in found, f"twice: {path}"
        found[path] = int(value)
    assert found == expected, f"folded: {found - expected}\npprof: {expected - found}"
    sums = check_speedscope(json.load(open(speedscope, encoding="utf-8")), wanted)
    assert sums == expected, f"speedscope: {sums - expected}\npprof: {expected - sums}"
    print(f"{raw} {wanted}: {len(expected)} stacks agree")


main(*sys.argv[1:])

#!/usr/bin/env python3
"""Checks that the libraries show exactly the names that they should.

  check_exports.py --expected FILE --map FILE --header FILE --shared LIB --static LIB [--cxx LIB] [--jemalloc LIB]

--cxx and --jemalloc: the C++ runtime and a stock libjemalloc, whose allocation functions ours must replace, all of
them. Tool: $NM.
"""
import argparse
import os
import re
import sys

import call_graph

NM = os.environ.get("NM", "nm")


def read_expected(path):
    groups = {}
    names = None
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            line = line.split("#")[0].strip()
            if line.startswith("["):
                names = groups.setdefault(line.strip("[]"), set())
            elif line:
                names |= set(line.split())
    return groups


def read_map(path):
    with open(path, encoding="utf-8") as file:
        text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
    match = re.fullmatch(r"\s*\{\s*global:(.*)local:\s*\*;\s*\};\s*", text, flags=re.S)
    if not match:
        sys.exit(f"{path}: expected one node without a version: {{ global: …; local: *; }};")
    return set(match[1].replace(";", " ").split())


def read_header(path):
    with open(path, encoding="utf-8") as file:
        text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
    return set(re.findall(r"^HEAPPROF_API [^;]*?\b(heapprof_\w+)\(", text, flags=re.M))


def static_symbols(path):
    lines = call_graph.run(NM, "--extern-only", "--defined-only", path).splitlines()
    return {line.split()[-1] for line in lines if len(line.split()) == 3}


def compare(what, found, expected):
    return [f"{what} lacks {name}" for name in sorted(expected - found)] + [
        f"{what} has {name}, which nobody expects" for name in sorted(found - expected)
    ]


def versioned(path):
    """A version on our malloc would keep it from standing in for malloc@GLIBC_2.2.5."""
    lines = call_graph.run(NM, "--dynamic", "--defined-only", path).splitlines()
    return [f"{path}: {line.split()[-1]} has a version" for line in lines if "@" in line]


def main():
    parser = argparse.ArgumentParser()
    for option in ("expected", "map", "header", "shared", "static"):
        parser.add_argument("--" + option, required=True)
    parser.add_argument("--cxx")
    parser.add_argument("--jemalloc")
    args = parser.parse_args()

    groups = read_expected(args.expected)
    expected = set().union(*groups.values())
    shared = call_graph.exported_symbols(NM, args.shared)
    faults = compare(args.map, read_map(args.map), expected)
    faults += compare(args.shared, shared, expected)
    faults += compare(args.static, static_symbols(args.static), expected)
    faults += versioned(args.shared)
    faults += compare(args.header, read_header(args.header), {n for n in expected if n.startswith("heapprof_")})
    faults += compare(args.expected, groups.get("include/heapprof/heapprof.h", set()), read_header(args.header))
    if args.cxx:
        operators = {n for n in call_graph.exported_symbols(NM, args.cxx) if re.match("_Z(nw|na|dl|da)", n)}
        ours = {n for n in shared if n.startswith("_Z")}
        faults += compare("the library, beside the C++ runtime,", ours, operators)
    if args.jemalloc:
        stock = {n for n in call_graph.exported_symbols(NM, args.jemalloc) if not n.startswith("je_test_")}
        faults += compare("the library, beside libjemalloc,", shared & stock, stock)
    print(f"{len(shared)} names" + (", C++ runtime compared" if args.cxx else "")
          + (", libjemalloc compared" if args.jemalloc else ""))
    for fault in faults:
        print(fault)
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()

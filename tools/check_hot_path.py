#!/usr/bin/env python3
"""Checks what an ordinary allocation and free cost: the instructions from the function's entry to jemalloc.

  check_hot_path.py [--write] GOLDEN LIBRARY

The path is the one on which no conditional branch is taken: the compiler was told which way is the likely one.
Golden lines: function, instructions, reads and writes of thread-local memory, where it arrives. --write makes a
new golden file; an entry that grew wants a reason in the commit. x86-64. Tools: $NM, $OBJDUMP, $READELF.
"""
import os
import re
import sys

import call_graph

TOOLS = {name: os.environ.get(name.upper(), name) for name in ("nm", "objdump", "readelf")}
STEPS_MAX = 100


def follow(graph, name):
    """-> (instructions, thread-local accesses, table look-ups for their place, destination)"""
    function = graph.named(name)[0]
    code = dict(function.code)
    order = sorted(code)
    following = dict(zip(order, order[1:]))
    address = function.start
    steps = accesses = lookups = 0
    while steps < STEPS_MAX:
        text = code[address]
        steps += 1
        accesses += "%fs:" in text
        lookups += "_GLOBAL_OFFSET_TABLE_" in text
        jump = re.match(r"(?:notrack |bnd )?(jmp|call)q? +([0-9a-f]+) <([^>]+)>", text)
        if jump and int(jump[2], 16) in code and jump[1] == "jmp":
            address = int(jump[2], 16)
        elif jump:
            return steps, accesses, lookups, jump[3]
        elif re.match(r"ret|call|jmp", text):
            return steps, accesses, lookups, text
        else:
            address = following[address]
    return steps, accesses, lookups, "nowhere"


def read_golden(path):
    golden, comments = {}, []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            words = line.split("#")[0].split()
            if words:
                golden[words[0]] = (int(words[1]), int(words[2]), words[3])
            else:
                comments.append(line)
    return golden, comments


def write_golden(path, measured, comments):
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(comments)
        for name, values in measured.items():
            file.write(f"{name:<12} {values[0]:>3} {values[1]:>2}  {values[2]}\n")


def main():
    arguments = [a for a in sys.argv[1:] if a != "--write"]
    if len(arguments) != 2:
        sys.exit(__doc__)
    golden, comments = read_golden(arguments[0])
    graph = call_graph.CallGraph(TOOLS, arguments[1], [])
    measured, faults = {}, []
    for name, expected in golden.items():
        steps, accesses, lookups, destination = follow(graph, name)
        measured[name] = (steps, accesses, destination)
        if measured[name] != expected:
            faults.append(f"{name}: {steps} instructions, {accesses} thread-local accesses, to {destination}; "
                          f"expected {expected[0]}, {expected[1]}, {expected[2]}")
        if lookups > 1:
            faults.append(f"{name}: the place of {lookups} thread-local variables is looked up")
        if not destination.startswith("je_"):
            faults.append(f"{name}: does not go straight to jemalloc but to {destination}")
    if "--write" in sys.argv:
        write_golden(arguments[0], measured, comments)
    for fault in faults:
        print(fault)
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Checks what our code may call, by the rules of tests/audit/calls.rules.

  check_calls.py names RULES OBJECT…             what the objects name and do not define
  check_calls.py reach RULES LIBRARY PART…       what the hot and dump rooms can come to, in the linked library

PART: the objects and archives that the library was linked from. Tools: $NM, $OBJDUMP, $READELF.
"""
import fnmatch
import os
import sys

import call_graph

TOOLS = {name: os.environ.get(name.upper(), name) for name in ("nm", "objdump", "readelf")}
FILE_VERBS = ("reach", "start", "indirect", "cut")


class Rules:
    def __init__(self, path):
        self.lists = {"any": [], "stop": [], "root": []}
        self.by_file = {verb: {} for verb in FILE_VERBS}
        self.used = set()
        with open(path, encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                words = line.split("#")[0].split()
                if not words:
                    continue
                verb, names = words[0], words[1:]
                if verb in self.lists:
                    self.lists[verb] += names
                elif verb in FILE_VERBS and len(names) > 1:
                    self.by_file[verb].setdefault(names[0], []).extend(names[1:])
                else:
                    sys.exit(f"{path}:{number}: what is this? {line.strip()}")

    def allows(self, verbs, file, name):
        if any(fnmatch.fnmatchcase(name, pattern) for pattern in self.lists["any"]):
            return True
        for verb in verbs:
            for pattern in self.by_file[verb].get(file, []):
                if fnmatch.fnmatchcase(name, pattern):
                    self.used.add((verb, file, pattern))
                    return True
        return False

    def stops(self, name):
        return any(fnmatch.fnmatchcase(name, pattern) for pattern in self.lists["stop"])

    def unused(self, verbs):
        for verb in verbs:
            for file, patterns in self.by_file[verb].items():
                for pattern in patterns:
                    if (verb, file, pattern) not in self.used:
                        yield f"no longer needed: {verb} {file} {pattern}"


def check_names(rules, objects):
    """Every undefined name of an object is another object's of ours, or allowed."""
    ours = {}
    for path in objects:
        for symbol in call_graph.read_symbols(TOOLS["readelf"], path):
            ours.setdefault(symbol.name, path)
    faults = []
    for path in objects:
        file = os.path.basename(path).removesuffix(".o")
        for name in sorted(call_graph.undefined_symbols(TOOLS["nm"], path)):
            if name.startswith(("hp_", "guard_")) and name in ours:
                continue
            if not rules.allows(("reach", "start"), file, name):
                faults.append(f"{file} names {name}")
    # Calls inside an object and inside the archives are seen by the walk alone.
    files = {os.path.basename(path).removesuffix(".o") for path in objects}
    stale = [line for line in rules.unused(("reach", "start"))
             if line.split()[-2] in files and line.split()[-1] not in ours]
    return faults + (stale if not faults else [])


class Walk:
    def __init__(self, rules, graph, exported):
        self.rules = rules
        self.graph = graph
        self.exported = exported
        self.came_from = {}
        self.todo = []
        self.faults = {}

    def path_to(self, function):
        steps = []
        while function is not None:
            steps.append(f"{function.file}:{function.name}")
            function = self.came_from[function]
        return " -> ".join(reversed(steps))

    def enter(self, function, source):
        if function not in self.came_from:
            self.came_from[function] = source
            self.todo.append(function)

    def fault(self, function, what):
        self.faults.setdefault((function.file, what), f"{self.path_to(function)} -> {what}")

    def follow(self, function, target):
        name = target if isinstance(target, str) else target.name
        if self.rules.stops(name):
            return
        if name in self.rules.by_file["cut"].get(function.file, []):
            self.rules.used.add(("cut", function.file, name))
        elif isinstance(target, str) or name in self.exported:
            # A call of an exported function is a call of whatever the program has under that name.
            if not self.rules.allows(("reach",), function.file, name):
                self.fault(function, name)
        else:
            self.enter(target, function)

    def follow_pointers(self, function):
        targets = self.rules.by_file["indirect"].get(function.file)
        if targets is None:
            self.fault(function, f"a call through a pointer that no rule explains: {function.indirect[0]}")
            return
        for name in targets:
            self.rules.used.add(("indirect", function.file, name))
            found = self.graph.named(name)
            if found:
                self.follow(function, found[0])
            elif name != "outside":
                self.faults[name] = f"calls.rules: indirect {function.file}: there is no function {name}"

    def run(self):
        for name in sorted(self.exported) + self.rules.lists["root"]:
            roots = self.graph.named(name)
            if len(roots) > 1 or (not roots and name not in self.exported):
                self.faults[name] = f"calls.rules: root: {len(roots)} functions are called {name}"
            for function in roots[:1]:
                self.enter(function, None)
        while self.todo:
            function = self.todo.pop(0)
            for target in sorted(function.targets, key=str):
                self.follow(function, target)
            if function.indirect:
                self.follow_pointers(function)
        return list(self.faults.values())


def check_reach(rules, library, parts):
    graph = call_graph.CallGraph(TOOLS, library, parts)
    walk = Walk(rules, graph, call_graph.exported_symbols(TOOLS["nm"], library))
    faults = walk.run()
    print(f"{len(walk.came_from)} functions can be reached")
    return faults + (list(rules.unused(("cut", "indirect"))) if not faults else [])


def main():
    if len(sys.argv) < 4 or sys.argv[1] not in ("names", "reach"):
        sys.exit(__doc__)
    rules = Rules(sys.argv[2])
    if sys.argv[1] == "names":
        faults = check_names(rules, sys.argv[3:])
    else:
        faults = check_reach(rules, sys.argv[3], sys.argv[4:])
    for fault in faults:
        print(fault)
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()

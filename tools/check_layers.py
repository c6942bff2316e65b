#!/usr/bin/env python3
"""Checks by the #include lines that each room knows only what tests/audit/layers.rules lets it know.

  check_layers.py RULES SOURCE_FOLDER
"""
import fnmatch
import pathlib
import re
import sys

LIBRARY = ("heapprof/", "guard/")
FOLDERS = ("heapprof", "guard", "tools", "include")


def read_rules(path):
    rooms, system = [], {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        line = line.split("#")[0].strip()
        if not line:
            continue
        left, colon, right = line.partition(":")
        if not colon or len(left.split()) != 1:
            sys.exit(f"{path}:{number}: what is this? {line}")
        if left.startswith("<"):
            system[left.strip().strip("<>")] = right.split()
        else:
            rooms.append((left.strip(), right.split()))
    return rooms, system


def fits(name, patterns):
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


def resolve(root, file, header):
    """The included file as seen from the root; as written when it is not in the tree (generated code)."""
    for folder in (file.parent, root, root / "include"):
        if (folder / header).is_file():
            return (folder / header).relative_to(root).as_posix()
    return header


def check_file(root, file, rooms, system, used):
    name = file.relative_to(root).as_posix()
    index = next((i for i, (pattern, _) in enumerate(rooms) if fnmatch.fnmatchcase(name, pattern)), None)
    if index is None:
        return [f"{name} is in no room of the rules"]
    used.add(index)
    faults = []
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        include = re.match(r'\s*#\s*include\s+(["<])([^">]+)[">]', line)
        if not include:
            continue
        if include[1] == "<":
            only = system.get(include[2])
            if only is not None and name.startswith(LIBRARY) and not fits(name, only):
                faults.append(f"{name}:{number} includes <{include[2]}>")
        elif not fits(resolve(root, file, include[2]), rooms[index][1]):
            faults.append(f"{name}:{number} includes {include[2]}")
    return faults


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    root = pathlib.Path(sys.argv[2]).resolve()
    rooms, system = read_rules(pathlib.Path(sys.argv[1]))
    files = sorted(f for folder in FOLDERS for f in (root / folder).rglob("*.[chS]*") if f.suffix in (".c", ".h", ".S"))
    used = set()
    faults = [fault for file in files for fault in check_file(root, file, rooms, system, used)]
    faults += [f"no file fits the rule for {rooms[i][0]}" for i in range(len(rooms)) if i not in used]
    print(f"{len(files)} files")
    for fault in faults:
        print(fault)
    sys.exit(1 if faults or not files else 0)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Checks that README's table of the environment has every variable of heapprof/options.def, and no other.

  check_readme.py README.md options.def

Exits with 77 when there is no README.md.
"""
import pathlib
import re
import sys


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    readme, options = (pathlib.Path(path) for path in sys.argv[1:])
    if not readme.is_file():
        print(f"skipped: there is no {readme.name} yet")
        sys.exit(77)
    variables = set(re.findall(r"^HP_OPTION\((\w+),", options.read_text(encoding="utf-8"), flags=re.M))
    rows = [line.split("|")[1] for line in readme.read_text(encoding="utf-8").splitlines() if line.startswith("|")]
    named = {name for row in rows for name in re.findall(r"\bHEAPPROF(?:_[A-Z_]+)?\b", row)}
    faults = [f"{readme.name}'s table lacks {name}" for name in sorted(variables - named)]
    faults += [f"{readme.name}'s table has {name}, which is no option" for name in sorted(named - variables)]
    print(f"{len(variables)} variables")
    for fault in faults:
        print(fault)
    sys.exit(1 if faults or not variables else 0)


if __name__ == "__main__":
    main()

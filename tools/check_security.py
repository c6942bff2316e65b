#!/usr/bin/env python3
"""Checks that each line of SECURITY.md's tables names tests, and that there are such.

  check_security.py SECURITY.md TESTS_FOLDER BUILD_FOLDER CTEST

A test is named as `unit.sink` or `unit.sink: function`, the function in TESTS_FOLDER/unit/test_sink.c. Tests of the kinds
(unit, fuzz, …) that this build has none of are taken on trust.
"""
import pathlib
import re
import subprocess
import sys


def list_tests(ctest, build):
    said = subprocess.run([ctest, "--test-dir", build, "-N"], check=True, capture_output=True, text=True).stdout
    return set(re.findall(r"^ +Test +#\d+: (\S+)$", said, flags=re.M))


def faults_of(name, tests, folder):
    test, _, function = name.partition(": ")
    if test not in tests and any(other.startswith(test.split(".")[0] + ".") for other in tests):
        yield f"there is no test {test}"
    if function:
        source = folder / "unit" / f"test_{test.removeprefix('unit.')}.c"
        if not source.is_file() or not re.search(rf"^static \w+ {function}\(", source.read_text(encoding="utf-8"), flags=re.M):
            yield f"there is no function {function} of {test}"


def main():
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    text, folder, build, ctest = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3], sys.argv[4]
    tests = list_tests(ctest, build)
    lines = [line for line in text.read_text(encoding="utf-8").splitlines() if re.match(r"\| [^|]", line)]
    faults, count = [], 0
    for line in lines:
        what, named = line.strip("| ").rsplit(" | ", 1) if " | " in line else (line, "")
        if named.endswith("tested by"):
            continue
        names = re.findall(r"`([^`]+)`", named)
        count += len(names)
        faults += [] if names else [f"no test is named: {what}"]
        faults += [f"{fault}: {what}" for name in names for fault in faults_of(name, tests, folder)]
    print(f"{len(lines)} lines, {count} tests")
    for fault in faults:
        print(fault)
    sys.exit(1 if faults or count == 0 else 0)


if __name__ == "__main__":
    main()

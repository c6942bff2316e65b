"""heapprof top --json (standard input) has the rows of pprof's text table, percentages included.

    compare_json.py functions|-lines TABLE
"""
import json
import re
import sys


def number(text):
    return int(re.sub(r"B$", "", text))


def close(ours, theirs):
    """pprof rounds to two places, or to two digits below 1 %, and drops the sign."""
    text = theirs.rstrip("%")
    return abs(abs(ours) - float(text)) <= (0.0501 if text == "100" else max(0.00501, 0.051 * float(text)))


def table(path):
    rows = {}
    inside = False
    for line in open(path, encoding="utf-8"):
        if re.match(r" *flat +flat%", line):
            inside = True
        elif inside:
            fields = line.split(None, 5)
            place = re.sub(r" \((partial-)?inline\)$", "", fields[5].strip())
            rows[re.sub(r":0$", "", place)] = [number(fields[0]), fields[1], number(fields[3]), fields[4]]
    return rows


def main():
    by_line = sys.argv[1] == "-lines"
    theirs = table(sys.argv[2])
    document = json.load(sys.stdin)
    if document["version"] != 1 or document["rows_left_out"] != 0:
        sys.exit("version or rows_left_out is wrong")
    for row in document["rows"]:
        place = " ".join(filter(None, [row["function"], row["file"]]))
        if by_line and row["line"] is not None:
            place += ":" + str(row["line"])
        flat, flat_percent, cum, cum_percent = theirs.pop(place, [None] * 4)
        if (row["flat"], row["cum"]) != (flat, cum):
            sys.exit(f"{place}: {row['flat']} {row['cum']}, pprof has {flat} {cum}")
        if not close(row["flat_percent"], flat_percent) or not close(row["cum_percent"], cum_percent):
            sys.exit(f"{place}: {row['flat_percent']} {row['cum_percent']}, pprof has {flat_percent} {cum_percent}")
    if theirs:
        sys.exit(f"not in ours: {theirs}")


main()

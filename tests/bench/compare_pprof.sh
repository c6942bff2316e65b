#!/usr/bin/env bash
# compare_pprof.sh HEAPPROF MAKE_DUMPS [STACKS [DUMPS [ROUNDS]]] [--check]: `heapprof merge` beside
# `go tool pprof -proto` on the same files, in turns in one run: one profile of STACKS stacks (100000), and DUMPS
# (1000) profiles of 1000 stacks each, out of 3000 different ones, at other addresses in each. Prints the medians of
# user CPU time and the most memory as a Markdown table. With --check it fails when pprof is not slower by a factor of
# 3, or takes less memory. What both write is the same, type by type, or it fails too.
set -euo pipefail
check=
[[ ${*: -1} != --check ]] || { check=yes; set -- "${@:1:$#-1}"; }
heapprof=$1 make_dumps=$2 stacks=${3:-100000} dumps=${4:-1000} rounds=${5:-3}

for tool in go /usr/bin/time; do
    command -v "$tool" >/dev/null || { echo "SKIP: $tool is not installed"; exit 77; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export HOME=$work PPROF_TMPDIR=$work
mkdir "$work/one" "$work/many"
"$make_dumps" "$work/one" 1 "$stacks" "$stacks" 28
"$make_dumps" "$work/many" "$dumps" 1000 3000 28

measure() { # NAME COMMAND...: user seconds and KiB into NAME
    /usr/bin/time -a -o "$work/$1" -f '%U %M' "${@:2}" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
}
median() { # NAME COLUMN
    awk -v c="$2" '{ print $c }' "$work/$1" | sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}
sums() { # FILE: the totals of all sample types
    "$heapprof" check "$1" | grep -E '^  (alloc|inuse)_' | sed 's/ (shown.*//'
}

for set in one many; do
    for _ in $(seq "$rounds"); do
        measure "$set.ours" "$heapprof" merge "$work/$set"/*.pb.gz -o "$work/ours.pb.gz"
        measure "$set.theirs" go tool pprof -proto -symbolize=none -output="$work/theirs.pb.gz" "$work/$set"/*.pb.gz
    done
    diff <(sums "$work/ours.pb.gz") <(sums "$work/theirs.pb.gz") || { echo "$set: the sums differ"; exit 1; }
done

row() { # NAME SET
    awk -v name="$1" -v o="$(median "$2.ours" 1)" -v om="$(median "$2.ours" 2)" -v t="$(median "$2.theirs" 1)" \
        -v tm="$(median "$2.theirs" 2)" 'BEGIN {
            printf "| %s | %.2f s, %.0f MiB | %.2f s, %.0f MiB | %.1f times, %.1f times |\n",
                name, o, om / 1024, t, tm / 1024, t / (o > 0 ? o : 0.01), tm / om
            exit !(t >= 3 * o && tm > om) }' || slow=yes
}
slow=
echo "| user CPU, most memory, median of $rounds | heapprof merge | go tool pprof -proto | less CPU, less memory |"
echo "|---|---|---|---|"
row "one profile of $stacks stacks, 28 frames deep" one
row "$dumps dumps of 1,000 stacks" many
[[ -z $check || -z $slow ]] || { echo "heapprof is slower or larger than it may be"; exit 1; }

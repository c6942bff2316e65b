#!/bin/sh
# top_agrees.sh HEAPPROF WRITE_PROFILE HEAP_GO COMPARE_JSON
#
# `heapprof top` and `go tool pprof -top` show the same numbers for the same symbolized files, for each
# sample type, by function and by line, with and without drop_frames, with filters, and of a difference.
set -eu
heapprof=$1 write_profile=$2 heap_go=$3 compare_json=$4
for tool in go python3; do
    command -v "$tool" >/dev/null || { echo "SKIP: $tool is not installed"; exit 77; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export HOME="$work" GOCACHE="${HP_GO_CACHE:-$work/cache}" GOFLAGS=-mod=mod PPROF_TMPDIR="$work"

# flat, cum, name and place, a line each, in an order that does not depend on ties. pprof writes "B" after
# numbers, other blanks, and "(inline)"; both are dropped.
normalise() {
    sed -E -n '/^ *flat +flat%/,$ { /flat%/d; /^\.\.\./d; s/ \((partial-)?inline\)$//; s/ +/ /g; s/^ //; p }' |
        awk -v sum="$1" '{ flat = $1; cum = sum ? $4 : $3; skip = sum ? 5 : 4; sub(/B$/, "", flat);
            sub(/B$/, "", cum); text = ""; for (i = skip + 1; i <= NF; i++) text = text " " $i
            print flat, cum text }' | LC_ALL=C sort
}

compare() { # FILE TYPE OUR_OPTIONS THEIR_OPTIONS: the rows, and by --json the percentages too
    for lines in "" -lines; do
        # shellcheck disable=SC2086
        go tool pprof -top ${lines:--filefunctions} -nodefraction=0 -edgefraction=0 -nodecount=1000000 \
            -unit=B -symbolize=none -sample_index="$2" $4 "$1" 2>pprof.log >their_table
        normalise 1 <their_table >theirs
        # shellcheck disable=SC2086
        "$heapprof" top -n 0 --exact ${lines:+--lines} --type "$2" $3 "$1" >our_table
        normalise 0 <our_table >ours
        # by function pprof has no line
        [ -n "$lines" ] || sed -i -E 's/:[0-9]+$//' ours
        # a line that is not known is shown as 0 or not at all
        sed -i -E 's/:0$//' theirs
        [ -s ours ] || { echo "$1 $2 $3: no rows"; exit 1; }
        diff ours theirs || { echo "$1 $2 $3 ${lines:-functions}: differs from pprof (>)"; exit 1; }
        # shellcheck disable=SC2086
        "$heapprof" top --json ${lines:+--lines} --type "$2" $3 "$1" |
            python3 -B "$compare_json" "${lines:-functions}" their_table || { echo "$1 $2 $3 --json"; exit 1; }
        compared=$((compared + $(wc -l <ours)))
    done
}

sorted() { # COLUMN OPTION...: no row has more in the column than the one before it
    column=$1
    shift
    "$heapprof" top -n 0 --exact "$@" go1.pb.gz | sed '1,/flat%/d' | awk -v c="$column" '
        { v = $c < 0 ? -$c : $c; if (NR > 1 && v > last) exit 1; last = v }' || { echo "$*: not sorted"; exit 1; }
}

compared=0
go build -o heap "$heap_go"
./heap go1.pb.gz
./heap go2.pb.gz more
"$write_profile" plain.pb.gz
"$heapprof" merge plain.pb.gz plain.pb.gz -o more.pb.gz
"$write_profile" inlined.pb.gz 'grab|malloc'
"$write_profile" whole.pb.gz 'app::.*'
"$write_profile" kept.pb.gz '.*add|grab' 'app::.*'
"$write_profile" outermost.pb.gz 'main'
"$write_profile" invalid.pb.gz 'grab|('
for file in go1 plain; do
    for type in alloc_objects alloc_space inuse_objects inuse_space; do
        compare $file.pb.gz $type "" ""
    done
done
for file in inlined whole kept outermost invalid; do
    compare $file.pb.gz inuse_space "" ""
done
for pattern in main 'fill|malg' '^runtime\.' 'heap\.go$' 'main\.[a-z]+$'; do
    compare go1.pb.gz alloc_space "--focus $pattern" "-focus=$pattern"
done
for pattern in 'fill' 'asm_amd64'; do
    compare go1.pb.gz alloc_space "--ignore $pattern" "-ignore=$pattern"
    compare go1.pb.gz alloc_space "--focus main --ignore $pattern" "-focus=main -ignore=$pattern"
done
compare plain.pb.gz inuse_space "--focus grab" "-focus=grab"
compare plain.pb.gz inuse_space "--ignore libx" "-ignore=libx"
compare go2.pb.gz inuse_objects "--base go1.pb.gz" "-base=go1.pb.gz"
compare go1.pb.gz alloc_space "--base go2.pb.gz --focus main" "-base=go2.pb.gz -focus=main"
compare more.pb.gz inuse_space "--base plain.pb.gz" "-base=plain.pb.gz"
sorted 1
sorted 1 --lines
sorted 3 --sort cum
sorted 3 --sort cum --lines --base go2.pb.gz
echo "$compared rows agree"

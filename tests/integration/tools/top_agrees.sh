#!/bin/sh
# top_agrees.sh HEAPPROF WRITE_PROFILE HEAP_GO
#
# `heapprof top` and `go tool pprof -top` show the same numbers for the same symbolized files, for each
# sample type, by function and by line, with and without drop_frames.
set -eu
heapprof=$1 write_profile=$2 heap_go=$3
command -v go >/dev/null || { echo "SKIP: go is not installed"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export HOME="$work" GOCACHE="$work/cache" GOFLAGS=-mod=mod PPROF_TMPDIR="$work"

# flat, cum, name and place, a line each, in an order that does not depend on ties. pprof writes "B" after
# numbers, other blanks, and "(inline)"; both are dropped.
normalise() {
    sed -E -n '/^ *flat +flat%/,$ { /flat%/d; /^\.\.\./d; s/ \((partial-)?inline\)$//; s/ +/ /g; s/^ //; p }' |
        awk -v sum="$1" '{ flat = $1; cum = sum ? $4 : $3; skip = sum ? 5 : 4; sub(/B$/, "", flat);
            sub(/B$/, "", cum); text = ""; for (i = skip + 1; i <= NF; i++) text = text " " $i
            print flat, cum text }' | LC_ALL=C sort
}

agree() { # FILE TYPE
    for lines in "" -lines; do
        go tool pprof -top ${lines:--filefunctions} -nodefraction=0 -edgefraction=0 -nodecount=1000000 \
            -unit=B -symbolize=none -sample_index="$2" "$1" 2>pprof.log | normalise 1 >theirs
        "$heapprof" top -n 0 --exact ${lines:+--lines} --type "$2" "$1" | normalise 0 >ours
        # by function pprof has no line
        [ -n "$lines" ] || sed -i -E 's/:[0-9]+$//' ours
        # a line that is not known is shown as 0 or not at all
        sed -i -E 's/:0$//' theirs
        [ -s ours ] || { echo "$1 $2: no rows"; exit 1; }
        diff ours theirs || { echo "$1 $2 ${lines:-functions}: differs from pprof (>)"; exit 1; }
        compared=$((compared + $(wc -l <ours)))
    done
}

compared=0
go build -o heap "$heap_go"
./heap go.pb.gz
"$write_profile" plain.pb.gz
"$write_profile" inlined.pb.gz 'grab|malloc'
"$write_profile" whole.pb.gz 'app::.*'
"$write_profile" kept.pb.gz '.*add|grab' 'app::.*'
"$write_profile" outermost.pb.gz 'main'
"$write_profile" invalid.pb.gz 'grab|('
for file in go plain inlined whole kept outermost invalid; do
    for type in alloc_objects alloc_space inuse_objects inuse_space; do
        agree $file.pb.gz $type
    done
done
echo "$compared rows agree"

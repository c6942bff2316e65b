#!/usr/bin/env bash
# formats.sh HEAPPROF WRITE_PROFILE HEAP_GO
#
# Folded stacks hold what `go tool pprof -raw` reads in the same file; speedscope's JSON keeps the rules of its
# format, and holds the same stacks.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../../verdicts.sh"
heapprof=$1 write_profile=$2 heap_go=$3
needs go python3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export HOME=$work GOCACHE=${HP_GO_CACHE:-$work/cache} GOFLAGS=-mod=mod PPROF_TMPDIR=$work

go build -o heap "$heap_go"
./heap go.pb.gz
"$write_profile" made.pb.gz
for file in go made; do
    go tool pprof -raw -symbolize=none $file.pb.gz >$file.raw 2>/dev/null || fail "pprof refuses $file.pb.gz"
    "$heapprof" flame -f speedscope $file.pb.gz >out
    grep -q "^$file.speedscope.json: " out || fail "it does not say what it wrote: $(cat out)"
    for type in alloc_objects alloc_space inuse_objects inuse_space; do
        "$heapprof" flame -f folded -t $type -o $file.$type.folded $file.pb.gz >/dev/null
        python3 -B "$here/formats.py" $file.raw $type $file.$type.folded $file.speedscope.json ||
            fail "$file $type"
    done
done

# A base, and the sum of two files.
"$heapprof" flame -f folded -o sum.folded go.pb.gz go.pb.gz >/dev/null
"$heapprof" flame -f folded -o both.folded --base go.pb.gz go.pb.gz >/dev/null
awk '{ sub(/ [0-9]+$/, ""); print }' sum.folded >sum.paths
awk '{ if ($NF != $(NF - 1)) exit 1; sub(/ [0-9]+ [0-9]+$/, ""); print }' both.folded >both.paths || fail "the same file on both sides differs"
cmp sum.paths both.paths || fail "other stacks with a base"
total() { awk '{ sum += $NF } END { printf "%.0f\n", sum }' "$1"; }
[[ $(total sum.folded) == $((2 * $(total go.inuse_space.folded))) ]] || fail "two files do not add up"
echo "all as expected"

#!/bin/sh
# merge_agrees.sh HEAPPROF WRITE_PROFILE HEAP_GO RECORD_LIBRARY SOURCE INCLUDE_DIRECTORY LIBRARY...
#
# What `heapprof merge` and `heapprof diff` write is what pprof makes of the same files when it is given them at once,
# or with -base: for a Go program's profiles, for two runs of a C++ program at different addresses, and for files
# with symbols. Every reader takes the results without a word.
set -eu
heapprof=$1 write_profile=$2 heap_go=$3 record=$4 source=$5 include=$6
shift 6
for tool in go g++; do
    command -v "$tool" >/dev/null || { echo "SKIP: $tool is not installed"; exit 77; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export HOME="$work" GOCACHE="${HP_GO_CACHE:-$work/cache}" GOFLAGS=-mod=mod PPROF_TMPDIR="$work"

fail() {
    echo "FAILED: $*"
    exit 1
}
top() { # ARGUMENT...: pprof's rows, and what it said
    go tool pprof -top -symbolize=none -nodefraction=0 -edgefraction=0 -nodecount=1000000 -unit=B "$@" 2>said |
        sed -n '/flat%/,$p'
    grep -vE '^(Main|Some) binary filenames? not available|^Try setting PPROF_BINARY_PATH' said && fail "pprof said so of $*"
    return 0
}
agree() { # RESULT ARGUMENT...: the result alone, and pprof's own sum of the arguments
    result=$1
    shift
    "$heapprof" check "$result" >checked 2>&1 || { cat checked; fail "check refuses $result"; }
    for type in $(go tool pprof -raw -symbolize=none "$result" 2>/dev/null | sed -n '/^Samples:/{n;p;}' |
        sed -E 's,/[a-z]+(\[dflt\])?,,g'); do
        top -sample_index="$type" "$@" >theirs
        top -sample_index="$type" "$result" >ours
        diff theirs ours || fail "$result, $type: differs from pprof's (<)"
        rows=$((rows + $(wc -l <ours) - 1))
    done
    if [ -n "$standalone" ]; then
        "$standalone" -raw -symbolize=none "$result" >/dev/null 2>said || { cat said; fail "pprof refuses $result"; }
        [ ! -s said ] || { cat said; fail "pprof warns of $result"; }
    fi
}

rows=0
go build -o heap "$heap_go"
standalone=
if [ -d /usr/share/gocode/src/github.com/google/pprof ]; then
    GO111MODULE=off GOFLAGS='' GOPATH=/usr/share/gocode go build -o pprof github.com/google/pprof 2>build.log ||
        { cat build.log; fail "the standalone pprof does not build"; }
    standalone=$work/pprof
fi
./heap go1.pb.gz
./heap go2.pb.gz
"$write_profile" plain.pb.gz
"$write_profile" dropping.pb.gz 'grab|malloc'
# The addresses of a PIE are others in each run, but where randomization is off.
g++ -Wl,--build-id -O2 -g -I"$include" "$source" "$record" "$@" -o leaky
./leaky run1.pb.gz
./leaky run2.pb.gz
cmp -s run1.pb.gz run2.pb.gz && fail "two runs made the same file"

for pair in "go1 go2" "run1 run2" "plain dropping" "run1 run1" "plain plain"; do
    # shellcheck disable=SC2086
    set -- $pair
    "$heapprof" merge "$1.pb.gz" "$2.pb.gz" -o merged.pb.gz || fail "merge of $pair"
    agree merged.pb.gz "$1.pb.gz" "$2.pb.gz"
    "$heapprof" diff "$1.pb.gz" "$2.pb.gz" -o changed.pb.gz || fail "diff of $pair"
    agree changed.pb.gz -base="$1.pb.gz" "$2.pb.gz"
done

# Through pipes, and of one alone.
"$heapprof" merge -o - - <run1.pb.gz >alone.pb.gz || fail "merge of standard input"
agree alone.pb.gz run1.pb.gz
count() { # the number of stacks
    "$heapprof" check "$1" | sed -nE 's/^  samples +([0-9]+) stacks.*/\1/p'
}
"$heapprof" merge run1.pb.gz run2.pb.gz run1.pb.gz -o three.pb.gz
[ "$(count three.pb.gz)" = "$(count alone.pb.gz)" ] || fail "the runs' stacks were not found to be the same"
"$heapprof" diff run1.pb.gz run2.pb.gz -o changed.pb.gz
[ "$(count changed.pb.gz)" = 0 ] || fail "the runs differ"
echo "$rows rows agree"

#!/usr/bin/env bash
# valgrind.sh HEAPPROF WRITE_PROFILE HEAP_V2: every command that reads files, once under memcheck: nothing undefined is
# used, nothing outside of an object, and nothing is lost.
set -euo pipefail
heapprof=$1 write_profile=$2 heap_v2=$3
command -v valgrind >/dev/null || { echo "SKIP: valgrind is not installed"; exit 77; }
unset LD_PRELOAD DEBUGINFOD_URLS
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
"$write_profile" a.pb.gz
"$heapprof" merge a.pb.gz a.pb.gz -o b.pb.gz
head -c 300 a.pb.gz >cut.pb.gz

check() { # status arguments…
    local wanted=$1 status=0
    shift
    valgrind -q --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite,indirect \
        --log-file=errors "$heapprof" "$@" >out 2>said || status=$?
    if [[ $status != "$wanted" ]]; then
        echo "FAILED: heapprof $*: status $status"
        head -n 40 errors said
        exit 1
    fi
}
check 0 check a.pb.gz
check 0 top --type alloc_space --focus 'm.*n' --sort cum b.pb.gz
check 0 top --base a.pb.gz b.pb.gz
check 0 flame a.pb.gz --base b.pb.gz -o page.html
check 0 flame --format folded a.pb.gz -o folded
check 0 merge a.pb.gz b.pb.gz -o merged.pb.gz
check 0 diff a.pb.gz b.pb.gz -o diff.pb.gz
check 0 convert "$heap_v2" -o converted.pb.gz
check 0 symbolize a.pb.gz -o symbolized.pb.gz
check 0 list
check 1 check cut.pb.gz
check 1 top missing.pb.gz
check 1 convert a.pb.gz
check 2 merge

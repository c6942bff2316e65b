#!/usr/bin/env bash
# P11, G25: with no address space left a dump is still complete, and the application sees but its own malloc's NULL.
# shellcheck source-path=SCRIPTDIR source=../lib/common.sh source=helpers.sh
. "$(dirname "$0")/../lib/common.sh"
. "$(dirname "$0")/helpers.sh"
export HEAPPROF_LIMIT=64M HEAPPROF_DUMP_DIR=$work/dumps HEAPPROF_SAMPLE=4096

# A thousand times what is left is wanted: malloc returns NULL; the dump at the limit of address space is there.
grow +20 as:12 .1500 +200 .200 as:max
says_nothing
no_partial_files "$work/dumps"
[[ -n $(dumps_in "$work/dumps") ]] || fail "no dump"
for dump in $(dumps_in "$work/dumps"); do
    read_raw "$dump" >/dev/null
done
last=$(dumps_in "$work/dumps" | tail -n 1)
[[ $(comment_of "$last" "limit source") == RLIMIT_AS ]] || fail "not for RLIMIT_AS: $(comment_of "$last" "limit source")"

# A size that nobody has is no lack of memory.
HEAPPROF_DUMP_DIR=$work/none grow absurd .100
says_nothing
[[ -z $(ls -A "$work/none") ]] || fail "a dump for an absurd size: $(ls -A "$work/none")"

# Too little for the profiler's own tables: one line, and a plain jemalloc.
status=0
(ulimit -v 100000 && LD_PRELOAD=$HP_LIBRARY HEAPPROF_LIMIT=4G "$HP_BUILD/grow" +5) >"$work/out" 2>"$work/said" || status=$?
[[ $status == 42 && $(<"$work/out") == "done" ]] || fail "status $status: $(<"$work/said")"
[[ $(wc -l <"$work/said") -le 1 ]] || fail "more than one line: $(<"$work/said")"

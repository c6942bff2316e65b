#!/usr/bin/env bash
# A process whose main thread has called pthread_exit() ends with its last thread, as it does without heapprof: the
# profiler's own threads don't keep it. Until then it is watched, and signals reach it.  ends.sh preload|shared|static
# shellcheck source-path=SCRIPTDIR source=../lib/common.sh
. "$(dirname "$0")/../lib/common.sh"
needs pgrep
mode=$1
export HEAPPROF_DUMP_DIR=$work/dumps HEAPPROF_LIMIT=1G

# Ended by SIGKILL when it takes too long, since other signals were what did not reach it.
command=(timeout --foreground -s KILL 20)
if [[ $mode == preload ]]; then
    command+=(env LD_PRELOAD="$HP_LIBRARY" "$HP_BUILD/ends")
else
    command+=("$HP_BUILD/ends_$mode")
fi

in_time() { # way: the output and the status as without heapprof
    local status=0
    "${command[@]}" "$1" >"$work/out" 2>"$work/said" || status=$?
    [[ $status == 0 ]] || fail "$1: status $status: $(cat "$work/out" "$work/said")"
    [[ ! -s $work/said ]] || fail "$1 said: $(<"$work/said")"
    "$HP_BUILD/ends" "$1" >"$work/wanted"
    cmp "$work/wanted" "$work/out" || fail "$1: another output: $(<"$work/out")"
}

for sample in 1 auto; do
    for way in last fork; do
        HEAPPROF_SAMPLE=$sample in_time "$way"
    done
    [[ -z $(ls -A "$work/dumps" 2>/dev/null) ]] || fail "a dump: $(ls "$work/dumps")"
    HEAPPROF_SAMPLE=$sample HEAPPROF_LIMIT=48M in_time grow
    no_partial_files "$work/dumps"
    [[ -n $(dumps_in "$work/dumps" limit95) ]] || fail "not watched any more: $(ls "$work/dumps")"
    read_raw "$(dumps_in "$work/dumps" limit95 | tail -n 1)" >/dev/null
    rm -r "$work/dumps"
done

# A signal asks for a dump, which a thread that allocates makes; another ends the process.
export HEAPPROF_SAMPLE=1 HEAPPROF_SIGNAL=USR2
"${command[@]}" wait >"$work/waiting" 2>"$work/said" &
limited=$!
soon() { # command…
    for _ in {1..100}; do
        if "$@"; then return 0; fi
        sleep 0.1
    done
    return 1
}
soon test -s "$work/waiting" || fail "the last thread does not come to anything"
process=$(pgrep -P "$limited")
threads=$(cat "/proc/$process"/task/*/comm)
[[ $threads != *heapprof* ]] || fail "a thread of heapprof's is left: $threads"
kill -USR2 "$process"
has_dump() {
    [[ -d $work/dumps && -n $(dumps_in "$work/dumps" signal) ]]
}
soon has_dump || fail "no dump on demand"
read_raw "$(only_dump_in "$work/dumps" signal)" >/dev/null
kill -TERM "$process"
status=0
wait "$limited" || status=$?
[[ $status == 143 ]] || fail "SIGTERM: status $status"

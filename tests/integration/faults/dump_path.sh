#!/usr/bin/env bash
# Every system call on the way of a dump at the limit fails in turn: the application goes on, old dumps stay, what is
# there is whole, and where no dump is one line says why.  dump_path.sh FAULTS…: in turn, or `every` FAULTS…
# shellcheck source-path=SCRIPTDIR source=../lib/common.sh source=helpers.sh
. "$(dirname "$0")/../lib/common.sh"
. "$(dirname "$0")/helpers.sh"
every=
if [[ $1 == every ]]; then
    every=1
    shift
fi
faults=("$@")
make_old_dump
old= # set by restore_old_dump
export HEAPPROF_LIMIT=48M HEAPPROF_THRESHOLDS=95% HEAPPROF_SAMPLE=16K
inject() { # what-for plan where list
    endure "$1" "$HP_BUILD/inject" "$2" "$3" "$4" /usr/bin/env LD_PRELOAD="$HP_LIBRARY" "$HP_BUILD/victim"
}
restore_old_dump
inject "without a fault" list window "$work/list"
expect_whole "without a fault"
[[ -n $new && ! -s $work/said ]] || fail "no dump without a fault: $(<"$work/said")"
mapfile -t calls <"$work/list"
for wanted in openat write "(renameat2|linkat)" close fsync getdents64; do
    grep -qxE "$wanted" "$work/list" || fail "$wanted is not on the way: ${calls[*]}"
done

silent=0 runs=0
for ((n = 1; n <= ${#calls[@]}; n++)); do
    for ((f = 0; f < ${#faults[@]}; f++)); do
        fault=${faults[f]}
        [[ -n $every ]] || fault=${faults[n % ${#faults[@]}]}
        what="call $n (${calls[n - 1]}): $fault"
        restore_old_dump
        inject "$what" "$n:$fault" window /dev/null
        expect_whole "$what"
        runs=$((runs + 1))
        [[ -n $new || -s $work/said ]] || fail "$what: no dump, and not a word"
        [[ -s $work/said ]] || silent=$((silent + 1))
        partial=$(find "$work/dumps" "$TMPDIR" -name '*.tmp')
        [[ -z $partial || ${calls[n - 1]} == unlinkat ]] || fail "$what: left $partial"
        [[ -n $every ]] || break
    done
done
read_raw "$old" >/dev/null
echo "$runs faults at ${#calls[@]} calls; in $silent runs nothing was lost"


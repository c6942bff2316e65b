#!/usr/bin/env bash
# P11, G25: mmap fails at each of heapprof's own calls in turn, once, and from there on for good: the application goes
# on; where there is no memory for the profiler's tables, one line says that this is a plain jemalloc. (The allocator's
# own calls are not refused here: jemalloc 5.3.0 does not survive that at its start, nor at that of a thread.)
# memory.sh once|for_good
# shellcheck source-path=SCRIPTDIR source=../lib/common.sh source=helpers.sh
. "$(dirname "$0")/../lib/common.sh"
. "$(dirname "$0")/helpers.sh"
make_old_dump
export HEAPPROF_LIMIT=48M HEAPPROF_SAMPLE=16K
needs nm
INJECT_CALLER=$(nm -S "$HP_LIBRARY" | awk '$3 == "t" && $4 == "map" { print $1, $2 }')
[[ $INJECT_CALLER =~ ^[0-9a-f]+\ [0-9a-f]+$ ]] || skip "where is map() of base/arena.c in $HP_LIBRARY?"
export INJECT_CALLER
more=
[[ $1 == once ]] || more=+
inject() { # what-for plan list
    endure "$1" "$HP_BUILD/inject" "$2" start:mmap "$3" /usr/bin/env LD_PRELOAD="$HP_LIBRARY" "$HP_BUILD/victim"
}
restore_old_dump
inject "without a fault" list "$work/list"
count=$(wc -l <"$work/list")
[[ $count -ge 8 ]] || fail "only $count calls of mmap"
[[ -z $more ]] || count=$((count + 1))
plain=0
for ((n = 1; n <= count; n++)); do
    restore_old_dump
    inject "mmap $n$more of $count" "$n$more:ENOMEM" /dev/null
    expect_whole "mmap $n$more"
    ! grep -q 'plain jemalloc' "$work/said" || plain=$((plain + 1))
done
echo "$count calls of mmap; $plain of them leave a plain jemalloc"
[[ $plain -ge 1 ]] || fail "no failure has reached the profiler's tables"

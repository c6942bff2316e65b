#!/usr/bin/env bash
# P24: stacks are whole, in however the program was built: from the function that called the allocator, which is
# the leaf, to the thread's root.  chain.sh preload|shared|static PROGRAM
# shellcheck source-path=SCRIPTDIR source=../lib/common.sh
. "$(dirname "$0")/../lib/common.sh"
mode=$1 program=$2
export HEAPPROF_LIMIT=off HEAPPROF_SAMPLE=1 HEAPPROF_DUMP_DIR=$work
[[ $mode != preload ]] || export HEAPPROF_SIGNAL=USR2
quietly run_in_mode "$mode" "$program" "$work/sites" "$work/dump.pb.gz"
read_stacks "$work/dump.pb.gz" "$work/sites" >"$work/seen"
file=$program
[[ $mode == preload ]] || file=${program}_$mode

want() { # times stack, exactly; the frames that are not the program's as [binary]
    local count
    count=$(awk -v stack="$2" '$5 == stack { n += $1 } END { print n + 0 }' "$work/seen")
    [[ $count == "$1" ]] || fail "$count of $1 with the stack $2 in: $(cat "$work/seen")"
}
chain='inner;middle;outer;body'
main_root="[$file];[libc.so.6];[libc.so.6];[$file]" # main, __libc_start_call_main, __libc_start_main, _start
thread_root='[libc.so.6];[libc.so.6]'                # start_thread, clone3
for leaf in malloc calloc realloc realloc_null reallocarray posix_memalign aligned_alloc memalign valloc mallocx rallocx; do
    want 1 "leaf_$leaf;$chain;$main_root"
    want 1 "leaf_$leaf;$chain;$thread_root"
done
if ! grep -qE '^1 1000 1 1000 leaf_malloc;inner;middle;outer;compare(;\[libc.so.6\]){1,6};'"${main_root//[\[\].]/.}\$" "$work/seen"; then
    fail "no whole stack through qsort: $(cat "$work/seen")"
fi
# The allocator's frames are not the application's: no name of theirs for any frame.
need_pprof
"$HP_TOOLS/pprof" -raw "$work/dump.pb.gz" 2>/dev/null | "$HP_TOOLS/dump_stacks" /dev/null >"$work/named"
if grep -nE '[ ;](hp_[a-z_]+|je_[a-z_]+|guard_[a-z_]+|malloc|calloc|realloc|realloc_slow|mallocx|rallocx|posix_memalign|aligned_alloc|memalign|valloc|unw_[a-z_]+)(;|$)' "$work/named"; then
    fail "frames of the allocator's or heapprof's"
fi
[[ $(comment_of "$work/dump.pb.gz" "stacks truncated") == 0 ]] || fail "truncated stacks"

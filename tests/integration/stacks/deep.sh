#!/usr/bin/env bash
# A stack of more than 128 frames keeps the 128 nearest to the allocation, ends in [truncated], and is counted.
# deep.sh preload|shared|static
# shellcheck source-path=SCRIPTDIR source=../lib/common.sh
. "$(dirname "$0")/../lib/common.sh"
mode=$1
export HEAPPROF_LIMIT=off HEAPPROF_SAMPLE=1 HEAPPROF_DUMP_DIR=$work
[[ $mode != preload ]] || export HEAPPROF_SIGNAL=USR2
quietly run_in_mode "$mode" deep "$work/sites" "$work/dump.pb.gz"
# "objects frames recursions last", of the stacks that end in the recursion
read_stacks "$work/dump.pb.gz" "$work/sites" | awk '
    $5 ~ /^recursion/ { n = split($5, f, ";"); r = 0; for (i = 1; i <= n; i++) r += f[i] == "recursion"
                        print $1, n, r, f[n] }' | sort >"$work/seen"
program=deep
[[ $mode == preload ]] || program=deep_$mode
printf '%s\n' "1 104 100 [$program]" "1 24 20 [$program]" "2 129 128 [truncated]" >"$work/wanted"
diff "$work/wanted" "$work/seen" || fail "not the stacks that there were"
[[ $(comment_of "$work/dump.pb.gz" "stacks truncated") == 2 ]] || fail "not counted: $(comment_of "$work/dump.pb.gz" "stacks truncated")"

#!/usr/bin/env bash
# With every allocation sampled each site's four values are what the program counted, to the last byte; and when
# it has freed everything nothing is live (P19, P21, P22).  exact.sh preload|shared|static PROGRAM
# shellcheck source-path=SCRIPTDIR source=../lib/common.sh
. "$(dirname "$0")/../lib/common.sh"
mode=$1 program=$2

export HEAPPROF_SAMPLE=1 HEAPPROF_LIMIT=off HEAPPROF_DUMP_DIR=$work
[[ $mode != preload ]] || export HEAPPROF_SIGNAL=USR2
quietly run_in_mode "$mode" "$program" 1 "$work/sites" "$work/first.pb.gz" "$work/second.pb.gz"

compare() { # sites dump
    awk '$1 == "site" { print $2, $5, $6, $7, $8 }' "$1" >"$work/counted"
    read_sites "$2" "$1" >"$work/dumped"
    [[ $(wc -l <"$work/counted") -ge 9 ]] || fail "the program counted next to nothing"
    diff "$work/counted" "$work/dumped" || fail "$2 is not what the program counted"
    [[ $(comment_of "$2" "samples lost") == 0 ]] || fail "samples were lost"
}
compare "$work/sites" "$work/first.pb.gz"
compare "$work/sites.end" "$work/second.pb.gz"
awk '$4 != 0 || $5 != 0' "$work/dumped" | grep . && fail "live, though all is freed"
echo "exact: $(wc -l <"$work/counted") sites"

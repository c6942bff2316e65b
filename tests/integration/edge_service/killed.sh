#!/usr/bin/env bash
# The leaking service under a real 128 MiB limit: the kernel kills it, a whole dump is on disk, and the dump
# names the metrics code first, with the share of the live memory that the program counted itself.
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"

# Twice as many samples as a limit of 128 MiB gives by default: some 1700, a standard error of 1.2 points in
# the share, so that a tolerance of 4 points fails about once in a thousand runs.
export HEAPPROF_SAMPLE=64K
# shellcheck disable=SC2119 # no options
run_limited
[[ $status == 137 && $(ending oom_kill) == 1 ]] || fail "not killed by the kernel for memory"

# shellcheck disable=SC2012 # names of heapprof's own
dump=$(ls -t "$work"/dumps/heapprof.edge_service*.limit*.pb.gz 2>/dev/null | head -n 1)
[[ -n $dump ]] || fail "no dump: $(ls -la "$work/dumps")"
leftover=$(find "$work/dumps" -type f ! -name '*.pb.gz')
[[ -z $leftover ]] || fail "left behind: $leftover"
"$EDGE_COMMAND" check "$dump" || fail "check refuses $dump"

# "function flat% cum%" of each row of a top table, whose columns are: flat flat% cum cum% function at.
rows() { # top options…
    "$EDGE_COMMAND" top "$@" "$dump" >"$work/top" || fail "top: status $?"
    cat "$work/top" >&2
    awk '
        { shares = 0; first = last = at = 0
          for (i = 1; i <= NF; i++) if ($i ~ /^[0-9.]+%$/) { if (!shares++) first = $i; last = $i; at = i }
          if (shares >= 2 && at < NF) print $(at + 1), first + 0, last + 0 }' "$work/top"
}

exact=$(exact_share "$work/log")
check_share() { # what percent
    within "$2" 62 70 || fail "$1: $2 %, not 66 +- 4"
    within "$2" "$(awk "BEGIN { print $exact - 5 }")" "$(awk "BEGIN { print $exact + 5 }")" ||
        fail "$1: $2 %, but the program counted $exact %"
}

flat=$(rows -n 10)
read -r name _ cum <<<"$flat"
[[ $name == labelset_* || $name == metrics_* ]] || fail "the first row is $name, not the metrics code"
check_share "$name" "$cum"
observe=$(rows -n 40 --sort cum | awk '$1 == "metrics_observe" && !seen++ { print $3 }')
check_share "metrics_observe" "$observe"
echo "exact $exact %, $name $cum %, metrics_observe $observe %"

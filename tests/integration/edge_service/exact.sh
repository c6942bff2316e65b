#!/usr/bin/env bash
# The example alone, without heapprof: its metrics hold two thirds of its live memory, by its own exact count;
# repaired they hold nothing; its books balance at the end (else it exits with 1); it refuses bad options.
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"

"$EDGE_SERVICE" --exact --rate 0 --requests 130000 2>"$work/log" || fail "status $?: $(cat "$work/log")"
share=$(exact_share "$work/log")
within "$share" 64 68 || fail "the metrics hold $share % of the live memory, not 66 +- 2: $(cat "$work/log")"

"$EDGE_SERVICE" --exact --rate 0 --requests 130000 --fixed --threads 4 2>"$work/log" || fail "--fixed: status $?"
grep -q ' metrics=0 ' "$work/log" || fail "--fixed: the metrics hold memory: $(cat "$work/log")"

for bad in "--rate x" "--rate -1" "--requests 0" "--threads 65" "--requests" "--bogus" "stray"; do
    status=0
    # shellcheck disable=SC2086 # two words
    "$EDGE_SERVICE" $bad >"$work/log" 2>&1 || status=$?
    [[ $status == 2 && $(wc -l <"$work/log") == 1 ]] || fail "'$bad': status $status: $(cat "$work/log")"
done
echo "the metrics hold $share %"

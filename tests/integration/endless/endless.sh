#!/usr/bin/env bash
# What heapprof needs does not grow with time: not in 3 million samples, as many as a service that allocates 100 MB/s
# gives in an hour at a 128M limit, and not when no stack ever comes again: then the tables are full, what finds no room
# is counted, the sums stay true, and a sample costs what it did.  endless.sh same|new SAMPLES
# shellcheck source-path=SCRIPTDIR source=../lib/common.sh
. "$(dirname "$0")/../lib/common.sh"
stacks=$1 samples=$2

export HEAPPROF_SAMPLE=1 HEAPPROF_LIMIT=128M HEAPPROF_THRESHOLDS=127M HEAPPROF_DUMP_DIR=$work HEAPPROF_SIGNAL=USR2
quietly run_in_mode preload endless "$stacks" "$samples" "$work/warm.pb.gz" "$work/end.pb.gz" >"$work/out"
read -r _ warm end < <(grep resident "$work/out")
read -r _ early late < <(grep ns "$work/out")
mapped() { comment_of "$work/$1.pb.gz" "heapprof mapped"; }
echo "resident: $warm KiB, then $end; a sample: $early ns, then $late; mapped: $(mapped warm), then $(mapped end)"

# A thread of ours that comes late brings its stack.
(($(mapped warm) > 0 && $(mapped end) - $(mapped warm) <= 256 << 10)) || fail "our own memory has grown"
((end - warm <= 512)) || fail "the process has grown by $((end - warm)) KiB"
((late <= 3 * early)) || fail "samples have become slower"

# Every sample is on some stack, the lost ones on one of their own; the program's few others are not counted exactly.
read_stacks "$work/end.pb.gz" >"$work/stacks"
awk -v n="$samples" '{ sum += $1 } END { exit !(sum >= n && sum <= n + 1000) }' "$work/stacks" || fail "the sum of all is not $samples"
lost=$(comment_of "$work/end.pb.gz" "samples lost")
case $stacks in
same) [[ $lost == 0 ]] || fail "$lost samples lost" ;;
new)
    awk -v lost="$lost" '$5 ~ /stack_lost/ { on_lost += $1 } END { exit !(lost > 0 && on_lost == lost) }' "$work/stacks" ||
        fail "lost samples: $lost, and on their stack: $(grep stack_lost "$work/stacks")"
    ;;
esac

# Sourced by this folder's tests after common.sh.
# shellcheck shell=bash disable=SC2154 # $work is of common.sh

# 20 to 70 MiB, of 64; what is freed is gone at once, so that each tooth crosses the thresholds.
saw_settings=(HEAPPROF_LIMIT=64M HEAPPROF_DUMP_DIR="$work/dumps" HEAPPROF_KEEP=1000 HEAPPROF_LOG=info
    MALLOC_CONF=dirty_decay_ms:0,muzzy_decay_ms:0 LD_PRELOAD="$HP_LIBRARY")

all_are_whole() {
    local dump
    [[ $(reasons) == *limit95* ]] || fail "no dump of the last threshold: $(ls -A "$work/dumps"): $(<"$work/said")"
    no_partial_files "$work/dumps"
    while read -r dump; do
        "$HP_COMMAND" check "$dump" >/dev/null || fail "not whole: $dump"
    done < <(dumps_in "$work/dumps")
}

reasons() {
    dumps_in "$work/dumps" | sed 's/.*\.\([a-z0-9]*\)\.pb\.gz/\1/' | tr '\n' ' '
}

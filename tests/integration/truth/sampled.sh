#!/usr/bin/env bash
# Over 20 runs with sampling, each site's mean is within three sigma of what the program counted, sigma being the
# theory's (sites.h); and at the end nothing is live, to the last byte (P19, P22).  sampled.sh PROGRAM PERIOD
#
# Three sigma are exceeded by chance once in 370 comparisons (more often where few samples stand for many small
# objects, which is no normal distribution), and there are about a hundred: what is beyond gets a second and a third
# series of its own, and fails when it is beyond each time.
# shellcheck source-path=SCRIPTDIR source=../lib/common.sh
. "$(dirname "$0")/../lib/common.sh"
program=$1
runs=20

export HEAPPROF_SAMPLE=$2 HEAPPROF_LIMIT=off HEAPPROF_DUMP_DIR=$work

# Lines "NAME VALUE truth mean sigma deviation-in-sigmas" of a series.
series() {
    local i
    : >"$work/joined"
    for ((i = 0; i < runs; i++)); do
        quietly run_in_mode shared "$program" 5 "$work/sites" "$work/first.pb.gz" "$work/second.pb.gz"
        read_sites "$work/first.pb.gz" "$work/sites" >"$work/dumped"
        grep '^site ' "$work/sites" | paste -d' ' "$work/dumped" - >>"$work/joined"
        read_sites "$work/second.pb.gz" "$work/sites.end" >"$work/dumped"
        awk '$4 != 0 || $5 != 0' "$work/dumped" | grep . && fail "live, though all is freed"
    done
    awk 'BEGIN { split("alloc_objects alloc_space inuse_objects inuse_space", value) }
         $1 != $7 { print "sites in disorder"; exit 2 }
         { runs[$1]++; for (k = 1; k <= 4; k++) { mean[$1, k] += $(1 + k); truth[$1, k] += $(9 + k); variance[$1, k] += $(13 + k) } }
         END { for (name in runs) for (k = 1; k <= 4; k++) {
                   n = runs[name]; d = mean[name, k] - truth[name, k]; s = sqrt(variance[name, k])
                   # half an object or byte is rounded away in each run
                   beyond = d * d > (3 * s + n / 2) ^ 2
                   if (truth[name, k] ^ 2 < 10 * variance[name, k]) continue # fewer than some 10 samples
                   printf "%s %s truth=%.0f mean=%.0f sigma=%.0f off=%.2f %s\n", name, value[k], truth[name, k] / n,
                          mean[name, k] / n, s / n, (s > 0 ? d / s : d), (beyond ? "BEYOND" : "") } }' "$work/joined"
}

series >"$work/series"
sort "$work/series"
[[ $(wc -l <"$work/series") -ge 36 ]] || fail "next to nothing was compared"
awk '/BEYOND/ { print $1, $2 }' "$work/series" >"$work/suspects"
for ((again = 0; again < 2; again++)); do
    [[ -s $work/suspects ]] || break
    echo "once more, for: $(tr '\n' ',' <"$work/suspects")"
    series >"$work/series"
    awk '/BEYOND/ { print $1, $2 }' "$work/series" | grep -Fx -f "$work/suspects" >"$work/still" || true
    mv "$work/still" "$work/suspects"
done
[[ ! -s $work/suspects ]] || fail "beyond three sigma three times: $(grep -F -f "$work/suspects" "$work/series")"

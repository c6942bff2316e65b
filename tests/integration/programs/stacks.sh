#!/usr/bin/env bash
# P24: over real programs at least 99 % of the sampled stacks reach a thread's root function; the others end in
# [truncated] and are counted, and none ends anywhere else. Of node, whose own code has no unwind tables, that last.
# shellcheck source-path=SCRIPTDIR source=../lib/common.sh source=helpers.sh
. "$(dirname "$0")/../lib/common.sh"
. "$(dirname "$0")/helpers.sh"
: "${python:?}"
needs readelf python3
here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/../../.." && pwd)
export DUMPS_AT_EXIT=$work/at_exit HEAPPROF_SAMPLE=1
mkdir "$DUMPS_AT_EXIT" "$work/data"
run() { # command…
    LD_PRELOAD=$HP_LIBRARY:$HP_BUILD/dump_at_exit.so "$@" >"$work/out" 2>"$work/said" </dev/null || true
    if grep heapprof "$work/said"; then fail "'$*' says something"; fi
}
have() {
    command -v "$1" >/dev/null
}
if have gcc; then run gcc -D_GNU_SOURCE -O2 -c -I"$source" "$source/heapprof/unwind/cfi.c" -o /dev/null; fi
if have clang; then run clang -D_GNU_SOURCE -O2 -c -I"$source" "$source/heapprof/unwind/cfi.c" -o /dev/null; fi
if have sqlite3; then run sqlite3 :memory: 'WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 999) SELECT group_concat(i) FROM n'; fi
# shellcheck disable=SC2016 # perl's own
if have perl; then run perl -e 'my %h; $h{$_} = "x" x ($_ % 50) for 1 .. 10000; $_ =~ s/1/2/g for values %h; print scalar keys %h'; fi
run "$python" -c 'import json, threading
threads = [threading.Thread(target=lambda: json.loads(json.dumps([str(i) for i in range(3000)]))) for _ in range(4)]
[t.start() for t in threads]; [t.join() for t in threads]'
if have git; then
    git -C "$work" -c init.defaultBranch=main init -q repo
    seq 1 3000 >"$work/repo/file"
    git -C "$work/repo" add file
    run git -C "$work/repo" -c user.name=a -c user.email=a@example commit -q -m first
    run git -C "$work/repo" gc -q
fi
# shellcheck disable=SC2016
run bash -c 'for i in 1 2 3 4 5; do echo "$i" | sed s/1/2/ | sort -n; done'
run xz -1 -T 2 -c "$source/heapprof/unwind/cfi.c"
[[ ! -x $HP_BUILD/work_in_rust ]] || run "$HP_BUILD/work_in_rust"
if have redis-server; then
    run redis-server --port 0 --unixsocket "$work/data/socket" --dir "$work/data" --save '' --daemonize no &
    server=$!
    soon redis-cli -s "$work/data/socket" ping || fail "redis does not come up"
    for i in {1..300}; do echo "LPUSH list:$((i % 7)) $i"; done | redis-cli -s "$work/data/socket" >/dev/null
    redis-cli -s "$work/data/socket" shutdown nosave || true
    wait "$server"
fi
for program in "statics" "fibres 16384" "alternate 16384" "starters 1" "interrupted_code"; do
    # shellcheck disable=SC2086 # program and argument
    run "$HP_BUILD"/$program
done
count_in() { # folder: "PROGRAM ALLOCATIONS REACHED TRUNCATED WILD" a program
    local dump raw=()
    for dump in "$1"/*.pb.gz; do
        MAY_SHOW_HEAPPROF=1 read_raw "$dump" >"${dump%.pb.gz}.raw"
        raw+=("${dump%.pb.gz}.raw")
        # What the profile says of itself. Its totals may have grown since the samples were written down.
        [[ $(comment_of "$dump" "samples lost") == 0 ]] || fail "$dump: samples lost"
        echo "${dump##*/} $(comment_of "$dump" "stacks truncated")" >>"$work/comments"
    done
    "$here/roots.py" "${raw[@]}" 2>>"$work/ends" |
        awk '{ for (i = 2; i <= 5; i++) sum[$1, i] += $i; seen[$1] = 1 }
             END { for (p in seen) print p, sum[p, 2], sum[p, 3], sum[p, 4], sum[p, 5] }' | sort
}
count_in "$DUMPS_AT_EXIT" >"$work/counted"
printf '%-26s %12s %12s %10s %6s\n' program "stacks taken" "reach a root" truncated wild
awk '{ printf "%-26s %12d %12d %10d %6d\n", $1, $2, $3, $4, $5; for (i = 2; i <= 5; i++) sum[i] += $i; n++ }
     END { printf "%-26s %12d %12d %10d %6d\n%.3f %% of all reach a root\n", "all", sum[2], sum[3], sum[4], sum[5], 100 * sum[3] / sum[2]
           exit !(n > 10 && sum[2] > 100000 && sum[3] >= 0.99 * sum[2]) }' "$work/counted" || fail "less than 99 %: $(<"$work/ends")"
awk '$5 > 0 || $3 < 0.99 * $2 { print; bad = 1 } END { exit bad }' "$work/counted" ||
    fail "a program with wild stacks, or with less than 99 %: $(<"$work/ends")"
truncated=$(awk '{ n += $4 } END { print n }' "$work/counted")
[[ $truncated == $(awk '{ n += $2 } END { print n }' "$work/comments") ]] || fail "$truncated stacks are truncated, the comments say: $(<"$work/comments")"

have node || exit 0
mkdir "$work/node"
DUMPS_AT_EXIT=$work/node run node -e 'const a = []; for (let i = 0; i < 60000; i++) a.push({ i, s: "x" + i });
const worker = new (require("worker_threads").Worker)("JSON.stringify(Array.from({ length: 20000 }, (_, i) => Buffer.alloc(i % 300)))", { eval: true });
worker.on("exit", () => console.log(JSON.stringify(a).length, require("zlib").gzipSync(Buffer.alloc(1e6)).length));'
count_in "$work/node" >"$work/counted"
awk '{ printf "%-26s %12d %12d %10d %6d\n", $1, $2, $3, $4, $5; bad = bad || $5 > 0 || $2 < 10000 } END { exit bad || NR == 0 }' "$work/counted" ||
    fail "node's stacks end wildly: $(<"$work/ends")"

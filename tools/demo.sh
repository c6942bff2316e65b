#!/usr/bin/env bash
# The whole story once: builds heapprof, runs a service that leaks under a real 128 MiB limit until the kernel
# kills it, and shows what the profile on disk says about it. For people; safe to run again.
#
#   tools/demo.sh [BUILD_FOLDER]      (default: build)
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=${1:-build}
dumps=$build/heapprof-demo
log=$build/demo-build.log
report=$dumps/ending
service=$build/examples/edge_service
limit=128M

step() {
    printf '\n== %s\n' "$*"
}

fail() {
    echo "demo.sh: $*" >&2
    exit 1
}

quietly() { # command…: what it says is shown only if it fails
    "$@" >>"$log" 2>&1 && return 0
    tail -n 60 "$log" >&2
    fail "failed: $* (all of it is in $log)"
}

build_all() {
    step "1. Packages and build ($build)"
    tools/setup.sh
    mkdir -p "$dumps"
    : >"$log"
    quietly cmake -S . -B "$build"
    quietly cmake --build "$build" --parallel "$(nproc)"
    echo "built: $build/libheapprof.so, $build/heapprof, $service"
}

# Samples are twice as dense as usual here: the shares in the table are then within some 2 points of the truth.
run=("$build/heapprof" run --sample 64K --dump-dir "$dumps")

# Under a cgroup of its own, which the kernel enforces. Gives the command's status; 77: there can be none here.
run_in_cgroup() {
    tools/memcg.sh -r "$report" "$limit" "${run[@]}" --limit auto -- "$service"
}

# Without a cgroup nobody kills it: heapprof gets the limit, and the number of requests is the end.
run_with_limit_alone() {
    "${run[@]}" --limit "$limit" -- "$service" --requests 190000
}

run_service() {
    local status=0 killed
    step "2. A small HTTP service, $limit of memory, about 12 seconds: its memory grows with every request"
    rm -f "$dumps"/*.pb.gz "$report"
    run_in_cgroup || status=$?
    if [[ $status == 77 && ! -e $report ]]; then
        echo "No memory cgroup can be made here, so heapprof is given the limit and nobody kills the service;"
        echo "it ends by itself. Run this as root to see a real kill."
        run_with_limit_alone || fail "the service failed with status $?"
        step "3. It passed the limit of $limit and ended; a kernel limit would have killed it"
        return
    fi
    killed=$(sed -n 's/.* oom_kill=\([0-9]*\) .*/\1/p' "$report")
    [[ ${killed:-0} -gt 0 ]] || fail "the kernel did not kill it: $(cat "$report")"
    step "3. The kernel killed it: exit status $status, oom_kill $killed in its cgroup's own count"
}

show_dump() {
    local dump
    # shellcheck disable=SC2012 # names of our own; by time, the last one first
    dump=$(ls -t "$dumps"/*.pb.gz 2>/dev/null | head -n 1)
    [[ -n $dump ]] || fail "no dump in $dumps"
    step "4. What heapprof had written before the end, the last of $(find "$dumps" -name '*.pb.gz' | wc -l):"
    echo "$dump"
    step "5. Who held the memory: heapprof top (flat: its own; cum: with what it calls)"
    "$build/heapprof" top -n 10 "$dump"
    cat <<END

The metrics code holds about two thirds: exporting was switched off, recording was not
(examples/edge_service/metrics.h tells the story).

== Next, in $PWD
  as a flamegraph: one page for a browser
    $build/heapprof flame $dump
  by callers
    $build/heapprof top --sort cum $dump
  all that was ever asked for, freed or not
    $build/heapprof top --type alloc_space $dump
  with Go's own tool, which names functions of C, but no inlined ones
    go tool pprof -top $dump
  the repaired service: stays far below the limit (34 seconds)
    tools/memcg.sh $limit $build/heapprof run --dump-dir $dumps -- $service --fixed
END
}

build_all
run_service
show_dump

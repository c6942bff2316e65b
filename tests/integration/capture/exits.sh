#!/usr/bin/env bash
# While it exits, at any moment: a whole profile or one clear line, and never half a file.
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"
export HEAPPROF_SAMPLE=64K
mkdir "$work/out"
whole=0 gone=0
for ((i = 0; i < 24; i++)); do
    start_target "$HP_BUILD/target" 2
    case $((i % 3)) in
    0) arguments=() ;;
    1) arguments=(-t growth -d 5) ;;
    2) arguments=(--raw) ;;
    esac
    "$HP_COMMAND" capture "${arguments[@]}" "$target" -o "$work/out/$i.pb.gz" >/dev/null 2>"$work/said" &
    tool=$!
    sleep 0.0$((i * 4 % 10))
    # By the end of its input, which is an orderly exit, or by a signal.
    exec 3>&-
    ((i % 2)) || kill -KILL "$target" 2>/dev/null || true
    status=0
    wait $tool || status=$?
    if [[ $status == 0 ]]; then
        "$HP_COMMAND" check "$work/out/$i.pb.gz" >/dev/null || fail "half a profile"
        whole=$((whole + 1))
    else
        [[ $status == 1 && $(wc -l <"$work/said") == 1 ]] || fail "status $status: $(cat "$work/said")"
        grep -qE ': (there is no such process|has exited)|has exited$|has no control socket|is not profiled' "$work/said" || fail "not clear: $(cat "$work/said")"
        [[ ! -e $work/out/$i.pb.gz ]] || fail "a file in spite of: $(cat "$work/said")"
        gone=$((gone + 1))
    fi
done
[[ -z $(find "$work/out" -name '.*' -type f) ]] || fail "left behind: $(ls -A "$work/out")"
echo "$whole whole, $gone gone"

#!/usr/bin/env bash
# While it forks, and of its children: each has a socket of its own. Several of one name: one has to be chosen, or all.
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"
export HEAPPROF_SAMPLE=1
start_target "$HP_BUILD/target" 4
told=1
echo "forks 200" >&3
for ((i = 0; i < 10; i++)); do
    capture --raw "$target"
    "$HP_COMMAND" check "$work/out.pb.gz" >/dev/null || fail "not sound"
done
until_true has_done 1 || fail "the forks do not end"
read_functions inuse_space >"$work/functions"

tell "children 3"
number_of_children() { [[ $("$HP_COMMAND" capture "$service" 2>&1 | grep -c "^  *[0-9]") == 4 ]]; }
until_true number_of_children || fail "not four to choose from: $("$HP_COMMAND" capture "$service" 2>&1)"
status=0
"$HP_COMMAND" capture "$service" >"$work/stdout" 2>"$work/said" || status=$?
[[ $status == 2 && ! -s $work/stdout ]] || fail "of four one was chosen: status $status"
grep -q "4 processes are called $service: name one by its pid, or take them --all" "$work/said" || fail "it said: $(cat "$work/said")"
status=0
"$HP_COMMAND" capture --all "$service" -o "$work/one" >"$work/stdout" 2>"$work/said" || status=$?
grep -q "takes a folder" "$work/said" || fail "four profiles into one file: status $status: $(cat "$work/said")"
[[ $status == 2 ]] || fail "four profiles into one file: status $status"
mkdir "$work/all"
"$HP_COMMAND" capture --all "$service" -o "$work/all" >"$work/stdout" 2>"$work/said" || fail "--all: $(cat "$work/said")"
[[ $(wc -l <"$work/stdout") == 4 && $(find "$work/all" -name '*.heap.pb.gz' | wc -l) == 4 ]] || fail "not four files: $(cat "$work/stdout")"
child=$(pgrep -P "$target" | head -n 1)
capture "$child"
[[ $(comment_of "$work/out.pb.gz" pid) == "$child" ]] || fail "the profile is of another process"

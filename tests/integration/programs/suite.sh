#!/usr/bin/env bash
# Parts of CPython's own test suite: those named, each as `python3 -m test NAME [-m PATTERN]`.
# suite.sh SAMPLE NAME [PATTERNS…]
# shellcheck source-path=SCRIPTDIR source=../lib/common.sh source=helpers.sh
. "$(dirname "$0")/../lib/common.sh"
. "$(dirname "$0")/helpers.sh"
: "${python:?}"
suite=$2
shift 2
"$python" -c 'import test.test_threading' 2>/dev/null || skip "python3's test suite is not installed (libpython3.11-testsuite)"
export PYTHONDONTWRITEBYTECODE=1
cd "$work"
arguments=()
for pattern in "$@"; do arguments+=(-m "$pattern"); done
status=0
# By SIGKILL: a hang must not need a signal that is heard.
timeout -s KILL "${SUITE_SECONDS:-100}" env LD_PRELOAD="$HP_LIBRARY" "$python" -m test -v --timeout "${SUITE_SECONDS:-100}" "$suite" "${arguments[@]}" \
    >"$work/out" 2>&1 </dev/null || status=$?
[[ $status == 0 ]] || fail "$suite: status $status: $(grep -E '^(FAIL|ERROR)|\.\.\. (FAIL|ERROR)' "$work/out" || tail -n 30 "$work/out")"
grep -E '^Ran [1-9][0-9]* tests?' "$work/out" || fail "no test has run: $(tail -n 5 "$work/out")"
if grep heapprof "$work/out"; then fail "heapprof says something"; fi
[[ -z $(ls -A "$work/dumps" 2>/dev/null) ]] || fail "dumps: $(ls "$work/dumps")"

# Sourced by this folder's tests after common.sh.
# shellcheck shell=bash disable=SC2154 # $work is of common.sh

# The program's own output and status are what they are without heapprof; what heapprof says is $work/said.
grow() { # steps…
    local status=0
    LD_PRELOAD=$HP_LIBRARY "$HP_BUILD/grow" "$@" >"$work/out" 2>"$work/said" || status=$?
    [[ $status == 42 && $(<"$work/out") == "done" ]] || fail "grow $*: status $status, '$(<"$work/out")', said: $(<"$work/said")"
}

says_nothing() {
    [[ ! -s $work/said ]] || fail "said: $(<"$work/said")"
}

says_one_line() { # regular expression…, all in it
    local expression
    [[ $(wc -l <"$work/said") == 1 ]] || fail "$(wc -l <"$work/said") lines for one: $(<"$work/said")"
    grep -q '^heapprof: ' "$work/said" || fail "does not say who it is: $(<"$work/said")"
    for expression in "$@"; do
        grep -qE "$expression" "$work/said" || fail "'$expression' is not in: $(<"$work/said")"
    done
}

reasons_in() { # folder: of its dumps, sorted, on one line
    dumps_in "$1" | sed 's/.*\.\([a-z0-9]*\)\.pb\.gz/\1/' | sort | tr '\n' ' '
}

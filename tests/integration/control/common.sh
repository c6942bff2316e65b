# Sourced by this folder's tests.
# shellcheck shell=bash source-path=SCRIPTDIR source=../lib/common.sh
. "$(dirname "$0")/../lib/common.sh"
needs python3
export HEAPPROF_LIMIT=100M HEAPPROF_DUMP_DIR=$work/dumps
started=()
end_all() {
    local pid
    for pid in "${started[@]}"; do
        kill -9 "$pid" 2>/dev/null || true
    done
    rm -rf "$work"
}
trap end_all EXIT

# Becomes the program, in a subshell of its own: $! is then its number.
become() { # mode program arguments…
    local mode=$1 program=$2
    shift 2
    if [[ $mode == preload ]]; then
        LD_PRELOAD=$HP_LIBRARY exec "$HP_BUILD/$program" "$@"
    else
        exec "$HP_BUILD/${program}_$mode" "$@"
    fi
}

# Starts the holder in the background, waits until it is ready, and leaves its number in $pid.
hold() { # mode megabytes what…
    local mode=$1 i
    shift
    rm -f "$work/ready"
    become "$mode" holder "$work/ready" "$@" &
    pid=$!
    started+=("$pid")
    for ((i = 0; i < 600; i++)); do
        [[ ! -e $work/ready ]] || return 0
        sleep 0.05
    done
    fail "holder $* is not ready"
}

# Waits until the command succeeds.
comes() { # command…
    local i
    for ((i = 0; i < 500; i++)); do
        ! "$@" >/dev/null 2>&1 || return 0
        sleep 0.05
    done
    fail "does not come: $*"
}

answers() { # pid
    "$HP_COMMAND" status "$1"
}

# The value of an expression over the state `s` of a process.
state() { # pid expression
    "$HP_COMMAND" status --json "$1" >"$work/state.json" || exit
    python3 -c 'import json, sys; s = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$work/state.json" "$2"
}

# What the list says of a process: the value of an expression over its item `p`; nothing when it is not there.
listed() { # pid expression
    "$HP_COMMAND" list --json >"$work/list.json" || exit
    python3 -c '
import json, sys
for p in json.load(open(sys.argv[1]))["processes"]:
    if p["pid"] == int(sys.argv[2]):
        print(eval(sys.argv[3]))' "$work/list.json" "$1" "$2"
}

expect() { # what expected actual
    [[ $2 == "$3" ]] || fail "$1: $3 instead of $2"
}

# Runs the command, and wants its status and one line with those words.
says() { # status words arguments…
    local wanted=$1 words=$2 status=0
    shift 2
    "$HP_COMMAND" "$@" >"$work/out" 2>"$work/err" || status=$?
    [[ $status == "$wanted" ]] || fail "heapprof $*: status $status: $(<"$work/err")"
    [[ $(wc -l <"$work/err") == 1 ]] || fail "heapprof $*: not one line: $(<"$work/err")"
    grep -qF -e "$words" "$work/err" || fail "heapprof $*: no \"$words\" in: $(<"$work/err")"
}

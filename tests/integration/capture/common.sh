# Sourced by the tests of this folder: a target that does as it is told (target.c), and captures of it.
# shellcheck shell=bash source-path=SCRIPTDIR source=../lib/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/common.sh"
unset DEBUGINFOD_URLS XDG_RUNTIME_DIR
service=capture_$$ # of nobody else, however many tests run
export HEAPPROF_LIMIT=off HEAPPROF_DUMP_DIR=$work HEAPPROF_SERVICE=$service
target=

end_target() {
    exec 3>&-
    [[ -z $target ]] || kill -KILL "$target" 2>/dev/null || true
    [[ -z $target ]] || wait "$target" 2>/dev/null || true
    target=
}
trap 'end_target; rm -rf "$work"' EXIT

until_true() { # command…: again and again, for a minute
    local i
    for ((i = 0; i < 600; i++)); do
        ! "$@" || return 0
        sleep 0.1
    done
    return 1
}

has_done() { # that many things
    [[ $(grep -c '^done' "$work/target.out") -ge $1 ]]
}

is_ready() { # or never will be
    grep -q '^ready' "$work/target.out" || ! kill -0 "$target" 2>/dev/null
}

# Starts a command that becomes the target, with heapprof. Its pid, or its parent's, is then $target.
start_target() { # command…
    end_target
    rm -f "$work/target.in"
    mkfifo "$work/target.in"
    : >"$work/target.out"
    told=0
    LD_PRELOAD=$HP_LIBRARY "$@" <"$work/target.in" >>"$work/target.out" 2>"$work/target.err" &
    target=$!
    exec 3>"$work/target.in"
    until_true is_ready || fail "the target does not get ready"
    kill -0 "$target" 2>/dev/null || fail "the target does not start: $(cat "$work/target.err")"
}

# The folder $root with what the target needs to run in it.
make_root() {
    local file
    root=$work/root
    mkdir -p "$root/tmp"
    cp "$HP_BUILD/target" "$root/"
    cp "$HP_LIBRARY" "$root/libheapprof.so"
    ldd "$HP_BUILD/target" "$HP_LIBRARY" | grep -o '/[^ ]*' | grep -v ':$' | sort -u | while read -r file; do
        mkdir -p "$root$(dirname "$file")"
        cp -L "$file" "$root$file"
    done
    printf '#!/bin/sh\nLD_PRELOAD=/libheapprof.so TMPDIR=/tmp exec chroot %s /target\n' "$root" >"$work/enter"
    chmod +x "$work/enter"
}

# The target with that as its root, and in namespaces of its own; its number here is then $inner.
start_in_root() {
    HP_LIBRARY='' start_target unshare --mount --pid --fork --kill-child "$work/enter"
    # shellcheck disable=SC2034
    inner=$(pgrep -P "$target")
}

tell() { # a command; waits until it is done
    told=$((told + 1))
    echo "$*" >&3
    until_true has_done $told || fail "the target does not $*: $(cat "$work/target.err")"
}

# Captures into $work/out.pb.gz; what was said is in $work/said.
capture() { # arguments…
    rm -f "$work/out.pb.gz"
    "$HP_COMMAND" capture "$@" -o "$work/out.pb.gz" >"$work/stdout" 2>"$work/said" || fail "capture $*: $(cat "$work/said")"
}

is_in_window() { # pid of a capture: it has made the first profile, and catches SIGINT, the second bit, for itself
    [[ $(readlink "/proc/$1/exe") -ef $HP_COMMAND ]] &&
        ((0x$(sed -n 's/^SigCgt:\t*//p' "/proc/$1/status") & 2))
}

# The same over a window in which the target does what it is told.
capture_while() { # type commands…
    rm -f "$work/out.pb.gz"
    "$HP_COMMAND" capture -t "$1" -d 3600000 "$target" -o "$work/out.pb.gz" >"$work/stdout" 2>"$work/said" &
    local tool=$! command
    until_true is_in_window $tool || fail "capture -t $1: no window: $(cat "$work/said")"
    for command in "${@:2}"; do
        tell "$command"
    done
    kill -INT $tool
    wait $tool || fail "capture -t $1: $(cat "$work/said")"
}

# "cumulative-bytes function" of what was captured, by both pprofs, which look nothing up and have nothing to say.
read_functions() { # sample type
    need_pprof
    local pprof
    for pprof in "go tool pprof" "$HP_TOOLS/pprof"; do
        $pprof -top -cum -unit=B -symbolize=none -nodecount=100000 -nodefraction=0 -sample_index="$1" "$work/out.pb.gz" \
            >"$work/top" 2>"$work/complaints" || fail "$pprof refuses it: $(cat "$work/complaints")"
        [[ ! -s $work/complaints ]] || fail "$pprof complains: $(cat "$work/complaints")"
        sed '1,/flat%/d; s/ (inline)$//' "$work/top" | awk '{ sub(/B$/, "", $4); print $4, $6 }' | sort >"$work/functions.${pprof##*/}"
    done
    cmp -s "$work/functions.go tool pprof" "$work/functions.pprof" || fail "the two pprofs read different things"
    cat "$work/functions.pprof"
}

expect() { # bytes function, in $work/functions
    grep -qx -e "$1 $2" "$work/functions" || fail "not $1 in $2 but: $(cat "$work/functions")"
}

# Sourced by the integration tests. ctest gives them, in the environment:
#   HP_LIBRARY  libheapprof.so
#   HP_COMMAND  the command heapprof
#   HP_BUILD    the folder with the theme's programs
#   HP_TOOLS    the folder with dump_stacks, and, once built, pprof
# A temporary folder $work, removed in the end, holds what a test writes.
# shellcheck shell=bash
set -euo pipefail

: "${HP_LIBRARY:?}" "${HP_COMMAND:?}" "${HP_BUILD:?}" "${HP_TOOLS:?}"
unset LD_PRELOAD MALLOC_CONF "${!HEAPPROF@}"
export PPROF_TMPDIR=/nonexistent # nothing is to be saved there
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/tmp"
export TMPDIR=$work/tmp # where a dump goes that can't go where it should
mkdir -m 700 "$work/run"
export XDG_RUNTIME_DIR=$work/run # where the control sockets go

. "$(dirname "${BASH_SOURCE[0]}")/../../verdicts.sh"
. "$(dirname "${BASH_SOURCE[0]}")/pprof.sh"

preloaded() { # command…
    LD_PRELOAD=$HP_LIBRARY "$@"
}

# In one way of having heapprof: mode is preload, shared or static; the program's name gets the mode's suffix.
run_in_mode() { # mode program arguments…
    local mode=$1 program=$2
    shift 2
    if [[ $mode == preload ]]; then
        preloaded "$HP_BUILD/$program" "$@"
    else
        "$HP_BUILD/${program}_$mode" "$@"
    fi
}

# Runs and wants silence: whatever heapprof or the program says on standard error fails the test.
quietly() { # command…
    local status=0
    "$@" 2>"$work/stderr" || status=$?
    [[ $status == 0 ]] || fail "'$*': status $status: $(cat "$work/stderr")"
    [[ ! -s $work/stderr ]] || fail "'$*' said: $(cat "$work/stderr")"
}

# A dump as text, by `go tool pprof` and by pprof, which have to agree and to have nothing to complain about.
read_raw() { # dump
    need_pprof
    go tool pprof -raw -symbolize=none "$1" >"$work/raw.go" 2>"$work/raw.stderr" || fail "go tool pprof refuses $1: $(cat "$work/raw.stderr")"
    "$HP_TOOLS/pprof" -raw -symbolize=none "$1" >"$work/raw" 2>>"$work/raw.stderr" || fail "pprof refuses $1: $(cat "$work/raw.stderr")"
    [[ ! -s $work/raw.stderr ]] || fail "a pprof complains about $1: $(cat "$work/raw.stderr")"
    cmp -s "$work/raw.go" "$work/raw" || fail "the two pprofs read different things in $1"
    # What holds for every dump: nothing of heapprof's own in any stack, and nothing negative.
    if [[ -z ${MAY_SHOW_HEAPPROF:-} ]] && grep -q '/libheapprof\.so' "$work/raw"; then
        fail "heapprof itself is in the stacks of $1"
    fi
    if awk '/^Locations/ { exit } /^ *-?[0-9]+ / && / -[0-9]/ { found = 1 } END { exit !found }' "$work/raw"; then
        fail "a negative value in $1"
    fi
    cat "$work/raw"
}

# A dump's samples: "alloc_objects alloc_space inuse_objects inuse_space leaf;caller;…", a frame being the site
# (lines "site NAME START END …" of a file) that it lies in, else its function's name, else its binary's.
read_stacks() { # dump [sites]
    read_raw "$1" >"$work/raw.text" || exit
    "$HP_TOOLS/dump_stacks" "${2:-/dev/null}" <"$work/raw.text"
}

# Sums of a dump by site, for every site that there is: "NAME alloc_objects alloc_space inuse_objects inuse_space".
# A sample counts for the site that its leaf is in.
read_sites() { # dump sites
    read_stacks "$1" "$2" >"$work/stacks" || exit
    awk 'NR == FNR { if ($1 == "site") { name[++n] = $2 } next }
         { split($5, frame, ";"); for (i = 1; i <= 4; i++) sum[frame[1], i] += $i }
         END { for (i = 1; i <= n; i++)
                   printf "%s %.0f %.0f %.0f %.0f\n", name[i], sum[name[i], 1], sum[name[i], 2], sum[name[i], 3], sum[name[i], 4] }' \
        "$2" "$work/stacks"
}

# The value of a dump's comment; empty when there is none.
comment_of() { # dump key
    go tool pprof -comments "$1" 2>/dev/null | sed -n "s/^ *$2: //p"
}

dumps_in() { # folder [reason]: their paths, oldest first by name
    find "$1" -maxdepth 1 -name "heapprof.*.${2:-*}.pb.gz" | sort -V
}

only_dump_in() { # folder [reason]
    local found
    found=$(dumps_in "$@")
    [[ -n $found && $(wc -l <<<"$found") == 1 ]] || fail "one dump expected in $1, there is: $(ls -A "$1")"
    echo "$found"
}

no_partial_files() { # folder
    local left
    left=$(find "$1" -name '*.tmp' -o -name '*.pb.gz' -size 0)
    [[ -z $left ]] || fail "partial files: $left"
}

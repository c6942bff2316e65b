#!/usr/bin/env bash
# Runs a command in a fresh memory cgroup of its own and says how it ended.
#
#   memcg.sh [-r REPORT] LIMIT COMMAND [ARGUMENT…]
#
# LIMIT is bytes, or a number with K, M or G (powers of 1024). Version 1 or 2 of cgroups, whichever carries the
# memory controller; where only systemd may make one, a scope of it. Swap counts, so nothing escapes there.
# At the end one line is written to REPORT (default: standard error):
#   memcg: status=137 oom_kill=1 peak=134217728 limit=134217728
# status is the command's own (128 + signal when killed), oom_kill how many of its processes the kernel killed
# for memory, peak the most it used, in bytes (0: this kernel does not tell). This script exits with that status,
# or with 77 and a line "SKIP: reason" when no cgroup can be made. The cgroup is removed in the end, and whatever
# the command left running in it is killed.
set -euo pipefail

report= # empty: standard error
own=    # the cgroup made here

skip() {
    echo "SKIP: $*" >&2
    exit 77
}

usage() {
    echo "usage: memcg.sh [-r REPORT] LIMIT COMMAND [ARGUMENT…]" >&2
    exit 2
}

to_bytes() {
    [[ $1 =~ ^([1-9][0-9]*)([KMG]?)$ ]] || usage
    case ${BASH_REMATCH[2]} in
    K) echo $((BASH_REMATCH[1] << 10)) ;;
    M) echo $((BASH_REMATCH[1] << 20)) ;;
    G) echo $((BASH_REMATCH[1] << 30)) ;;
    *) echo "${BASH_REMATCH[1]}" ;;
    esac
}

# Where the hierarchy of a mounted controller is: "version mount-point root-of-the-mount". Version 1 first:
# a memory controller mounted there is not in version 2.
find_hierarchy() {
    awk '{ for (i = 7; $i != "-"; i++); type = $(i + 1); options = "," $(i + 3) ","
           if (type == "cgroup" && options ~ /,memory,/) { v1 = "1 " $5 " " $4 }
           if (type == "cgroup2") { v2 = "2 " $5 " " $4 } }
         END { print v1 != "" ? v1 : v2 }' /proc/self/mountinfo
}

# The folder of the cgroup this script is in, as far as this mount shows it; else the mount's top.
own_folder() { # version mount-point root
    local path
    if [[ $1 == 1 ]]; then
        path=$(awk -F: '$2 ~ /(^|,)memory(,|$)/ { print $3 }' /proc/self/cgroup)
    else
        path=$(awk -F: '$1 == 0 { print $3 }' /proc/self/cgroup)
    fi
    [[ $3 == / ]] || path=${path#"$3"}
    path=$2${path%/}
    [[ -d $path ]] && echo "$path" || echo "$2"
}

# Makes the cgroup in this one, or, because a version 2 cgroup with processes cannot have children with
# controllers, in the nearest one above it that can. Sets `own`.
make_cgroup() { # version mount-point root
    local folder name="heapprof-$$-$RANDOM"
    folder=$(own_folder "$@")
    while :; do
        if [[ $1 == 1 ]] || grep -qw memory "$folder/cgroup.subtree_control" 2>/dev/null ||
            { echo +memory >"$folder/cgroup.subtree_control"; } 2>/dev/null; then
            if mkdir "$folder/$name" 2>/dev/null; then
                own=$folder/$name
                return 0
            fi
        fi
        [[ $folder == "$2" || $folder != "$2"/* ]] && return 1
        folder=${folder%/*}
    done
}

set_limit() { # version bytes
    if [[ $1 == 1 ]]; then
        echo "$2" >"$own/memory.limit_in_bytes" || return 1
        echo "$2" >"$own/memory.memsw.limit_in_bytes" || true # absent without swap accounting
    else
        echo "$2" >"$own/memory.max" || return 1
        echo 0 >"$own/memory.swap.max" || true
    fi 2>/dev/null
}

read_value() { # file [key]
    awk -v key="${2:-}" 'key == "" { value = $1 } $1 == key { value = $2 } END { print value + 0 }' "$1" 2>/dev/null ||
        echo 0
}

report_ending() { # version folder status bytes
    local killed peak
    if [[ $1 == 1 ]]; then
        killed=$(read_value "$2/memory.oom_control" oom_kill)
        peak=$(read_value "$2/memory.max_usage_in_bytes")
    else
        killed=$(read_value "$2/memory.events" oom_kill)
        peak=$(read_value "$2/memory.peak")
    fi
    local line="memcg: status=$3 oom_kill=$killed peak=$peak limit=$4"
    if [[ -n $report ]]; then echo "$line" >"$report"; else echo "$line" >&2; fi
}

# shellcheck disable=SC2317 # the trap calls it
clean_up() {
    [[ -n $own ]] || return 0
    local pid
    exec 2>/dev/null # not bash's own "Killed"
    for _ in {1..50}; do
        while read -r pid; do
            kill -KILL "$pid" 2>/dev/null || true
        done <"$own/cgroup.procs"
        rmdir "$own" 2>/dev/null && return 0
        sleep 0.1
    done
}

run_in_own() { # version bytes command…
    local version=$1 bytes=$2 status=0
    shift 2
    (
        { echo "$BASHPID" >"$own/cgroup.procs"; } 2>/dev/null || skip "cannot enter $own"
        exec "$@"
    ) <&0 &
    { wait $!; } 2>/dev/null || status=$? # not bash's own "Killed"
    report_ending "$version" "$own" "$status" "$bytes"
    exit "$status"
}

# Inside a systemd scope, which is the cgroup: this shell stays to read how it ended.
run_in_scope() { # bytes command…
    local bytes=$1 folder status=0
    shift
    # shellcheck disable=SC2046 # three words
    folder=$(own_folder $(find_hierarchy))
    trap : TERM # newer systemd ends the rest of a scope after a kill; the report comes first
    "$@" || status=$?
    report_ending 2 "$folder" "$status" "$bytes"
    exit "$status"
}

try_systemd() { # bytes command…
    local user=()
    [[ $EUID == 0 ]] || user=(--user)
    command -v systemd-run >/dev/null && systemd-run "${user[@]}" --quiet --scope true 2>/dev/null || return 1
    MEMCG_SCOPE_REPORT=$report exec systemd-run "${user[@]}" --quiet --scope -p "MemoryMax=$1" -p MemorySwapMax=0 \
        "$0" --in-scope "$@"
}

main() {
    if [[ ${1:-} == --in-scope ]]; then
        report=${MEMCG_SCOPE_REPORT:-}
        unset MEMCG_SCOPE_REPORT
        run_in_scope "${@:2}"
    fi
    if [[ ${1:-} == -r ]]; then
        [[ $# -ge 2 ]] || usage
        report=$2
        shift 2
    fi
    [[ $# -ge 2 ]] || usage
    local bytes version mount root
    bytes=$(to_bytes "$1")
    shift
    read -r version mount root <<<"$(find_hierarchy)"
    [[ -n ${version:-} ]] || skip "no cgroup hierarchy is mounted here"
    trap clean_up EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM
    if make_cgroup "$version" "$mount" "$root"; then
        set_limit "$version" "$bytes" || skip "cannot set a memory limit in $own"
        run_in_own "$version" "$bytes" "$@"
    fi
    [[ $version == 1 ]] || try_systemd "$bytes" "$@" || true
    skip "cannot make a memory cgroup below $mount (version $version): it takes root, or systemd's leave"
}

main "$@"

#!/usr/bin/env bash
# P26: what a closed and deleted library has allocated stays with it in the dump: its path, its build id and its
# offset; and a library that the loader then puts at the same place is not taken for it.
# The plugins' stack frames differ, and so does the way to their callers.  gone.sh preload|shared|static PLUGIN-NUMBERS…
# shellcheck source-path=SCRIPTDIR source=../lib/common.sh
. "$(dirname "$0")/../lib/common.sh"
needs readelf
mode=$1
shift
export HEAPPROF_LIMIT=off HEAPPROF_SAMPLE=1 HEAPPROF_DUMP_DIR=$work
[[ $mode != preload ]] || export HEAPPROF_SIGNAL=USR2

build_id() {
    readelf -n "$1" | sed -n 's/.*Build ID: //p'
}

# In the dump there is a mapping for this file, and so many bytes are in use below leaves that lie in it.
expect() { # file bytes build-id
    local number
    number=$(sed -n "s|^\([0-9]*\): [^ ]* $1 $3 *$|\1|p" "$work/raw.kept")
    [[ -n $number ]] || fail "no mapping for $1 with build id $3: $(sed -n '/^Mappings/,$p' "$work/raw.kept")"
    awk -v mapping="M=$number" -v bytes="$2" '
        /^Samples/ { part = 1; next } /^Locations/ { part = 2; next } /^Mappings/ { part = 3 }
        part == 1 && NF >= 5 && $4 ~ /:$/ { live[++n] = $4 + 0; leaf[n] = $5 }
        part == 2 { sub(/:$/, "", $1); if ($3 == mapping) here[$1] = 1 }
        END { for (i = 1; i <= n; i++) if (leaf[i] in here) sum += live[i]
              if (sum != bytes) { print "in use: " sum + 0 ", not " bytes; exit 1 } }' "$work/raw.kept" ||
        fail "what $1 holds is not in the dump"
}

files=()
for number in "$@"; do
    cp "$HP_BUILD/plugin$number.so" "$work/gone$number.so"
    files+=("$work/gone$number.so")
done
quietly run_in_mode "$mode" gone "$work/dump.pb.gz" 100000 "${files[@]}" >"$work/places"
read_raw "$work/dump.pb.gz" >"$work/raw.kept"
cat "$work/places"
program=gone
[[ $mode == preload ]] || program=gone_$mode
"$HP_TOOLS/dump_stacks" /dev/null <"$work/raw.kept" >"$work/stacks"
stack="\\[gone[0-9]\\.so\\];\\[$program\\];\\[libc.so.6\\];\\[libc.so.6\\];\\[$program\\]"
whole=$(awk -v stack="^${stack}\$" '$5 ~ stack { n += $4 } END { print n + 0 }' "$work/stacks")
[[ $whole == $((100000 * $# * ($# + 1) / 2)) ]] || fail "$whole bytes have a whole stack in: $(grep 00000 "$work/stacks")"
[[ ${CHECK_NAMES:-1} == 1 ]] || exit 0
place=0
for number in "$@"; do
    place=$((place + 1))
    expect "$work/gone$number.so" $((100000 * place)) "$(build_id "$HP_BUILD/plugin$number.so")"
done

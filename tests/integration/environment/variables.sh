#!/usr/bin/env bash
# G1, G2, G4: what can't be understood is named in one line, with the value, and the default stands; what can be is
# taken in silence, and its bytes are told once at the level of info. The program goes on in any case.
# shellcheck source-path=SCRIPTDIR source=../lib/common.sh source=helpers.sh
. "$(dirname "$0")/../lib/common.sh"
. "$(dirname "$0")/helpers.sh"
export HEAPPROF_DUMP_DIR=$work/dumps

bad() { # variable value
    env "$1=$2" true # it is a valid environment
    export "$1=$2"
    grow .1
    says_one_line "$1" "$3"
    unset "$1"
    export HEAPPROF_DUMP_DIR=$work/dumps
}
quoted() { # variable value: named with its value
    bad "$1" "$2" "=\"$2\" "
}
for value in abc 0 -1 1.5.2G 128X 128MBB '12 M 3' 101% 0% '%' 99999999999999999999999G ' '; do
    quoted HEAPPROF_LIMIT "$value"
done
bad HEAPPROF_LIMIT '' '=""'
for value in '' 80 80%,x 0% 101% 1%,2%,3%,4%,5%,6%,7%,8%,9% '80%;90%' -5M; do
    [[ $value == 80 ]] || quoted HEAPPROF_THRESHOLDS "$value"
done
for value in '' 0 -1 abc 2G 1e6; do quoted HEAPPROF_SAMPLE "$value"; done
for value in '' 0 1001 -1 x 1.5 10M; do quoted HEAPPROF_KEEP "$value"; done
for value in '' -1 abc 64MM; do quoted HEAPPROF_DUMP_BUDGET "$value"; done
for value in '' -1 60001 1s; do quoted HEAPPROF_GATE_MS "$value"; done
for value in dump,die 'purge;dump' x; do quoted HEAPPROF_ON_LIMIT "$value"; done
for value in '' KILL SIGSTOP USR3 0 65 -1; do quoted HEAPPROF_SIGNAL "$value"; done
for value in maybe 2 ''; do quoted HEAPPROF "$value"; done
for value in debug '' 3; do quoted HEAPPROF_LOG "$value"; done
bad HEAPPROF_SERVICE "$(printf 'x%.0s' {1..65})" longer
bad HEAPPROF_DUMP_DIR '' folder
bad HEAPPROF_DUMP_DIR "/$(printf 'x%.0s' {1..4000})" HEAPPROF_DUMP_DIR
bad HEAPPROF_LIMITS 128M 'HEAPPROF_LIMITS is not a setting'

# Each bad one has its own line, and no more than that.
HEAPPROF_LIMIT=x HEAPPROF_SAMPLE=y HEAPPROF_KEEP=z grow .1
[[ $(wc -l <"$work/said") == 3 ]] || fail "three bad settings: $(<"$work/said")"

# Not a setting of ours, and nothing to say.
HEAPPROFILE=x HEAPPROFIT=1 grow .1
says_nothing

limit_is() { # text bytes
    HEAPPROF_LIMIT=$1 HEAPPROF_LOG=info grow .1
    says_one_line "\\($2 bytes"
}
limit_is 128MB 134217728
limit_is 128M 134217728
limit_is 128m 134217728
limit_is 128MiB 134217728
limit_is 134217728 134217728
limit_is $' 128mb\n' 134217728
limit_is 131072k 134217728
limit_is 1G 1073741824
limit_is 5GB 5368709120
limit_is 42GB 45097156608
limit_is 1T 1099511627776
limit_is 1.5G 1610612736
for value in auto max off 50% AUTO; do
    HEAPPROF_LIMIT=$value grow .1
    says_nothing
done
HEAPPROF_LIMIT=off HEAPPROF_LOG=info grow .1
says_one_line 'no limit'
for setting in SAMPLE=1 SAMPLE=64K SAMPLE=auto KEEP=1 KEEP=1000 DUMP_BUDGET=0 DUMP_BUDGET=1G GATE_MS=0 ON_LIMIT=purge \
    ON_LIMIT=dump,abort SIGNAL=USR2 SIGNAL=sigusr1 SIGNAL=12 SIGNAL=none LOG=error THRESHOLDS=50%,64M SERVICE=x 'PROGRAM=a, b'; do
    env "HEAPPROF_$setting" LD_PRELOAD="$HP_LIBRARY" "$HP_BUILD/grow" >"$work/out" 2>"$work/said" && fail "status"
    says_nothing
done

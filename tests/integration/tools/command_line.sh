#!/bin/sh
# command_line.sh HEAPPROF WRITE_PROFILE
#
# Exit statuses, where output goes, and widths.
set -eu
heapprof=$1 write_profile=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

fail() {
    echo "FAILED: $*"
    cat out err
    exit 1
}
run() { # STATUS ARGUMENT...
    expected=$1
    shift
    status=0
    "$heapprof" "$@" >out 2>err </dev/null || status=$?
    [ "$status" = "$expected" ] || fail "heapprof $*: status $status, not $expected"
    what="heapprof $*"
    if [ "$expected" != 0 ] && [ $# -gt 0 ]; then
        [ "$(wc -l <err)" = 1 ] || fail "$what: not one line"
        grep -q '^heapprof: ' err || fail "$what: no \"heapprof: \""
    fi
}
says() { # FILE TEXT
    grep -qF -e "$2" "$1" || fail "$what: no \"$2\" in $1"
}
silent() { # FILE
    [ ! -s "$1" ] || fail "$what: $1 is not empty"
}
fits() {
    ! LC_ALL=C.UTF-8 grep -qE '^.{81}' out || fail "$what: wider than 80 columns"
}

"$write_profile" good.pb.gz
head -c 100 good.pb.gz >cut.pb.gz
: >empty
echo 'Not a profile.' >text

run 2
silent out
says err "usage: heapprof COMMAND"
run 2 nothing
says err 'there is no command "nothing"'
run 2 --nothing
run 2 help nothing
run 2 help run top
run 2 top
run 2 top good.pb.gz good.pb.gz
run 2 top --nothing good.pb.gz
says err "unrecognized option '--nothing'"
run 2 top -n x good.pb.gz
says err '--number takes a number, not "x"'
run 2 top -n -1 good.pb.gz
run 2 top --sort size good.pb.gz
run 2 top --focus '(' good.pb.gz
says err '--focus "(": Unmatched'
run 2 top --ignore '[' good.pb.gz
run 1 top --base missing good.pb.gz
says err "heapprof: missing: No such file or directory"
run 1 top --base cut.pb.gz good.pb.gz
run 0 top --base good.pb.gz good.pb.gz
says out "0 B more, 0 B less in 0 stacks"
run 0 top --json --focus grab --number 1 good.pb.gz
says out '"rows_left_out": '
run 2 check
run 2 check --nothing good.pb.gz
for command in merge diff; do
    run 2 $command
    run 2 $command good.pb.gz good.pb.gz
    says err "$command needs -o OUT"
    run 2 $command -o out.pb.gz
    run 2 $command --nothing -o out.pb.gz good.pb.gz good.pb.gz
    run 1 $command -o out.pb.gz good.pb.gz cut.pb.gz
    says err "heapprof: cut.pb.gz: is cut short"
    run 1 $command -o out.pb.gz missing good.pb.gz
    says err "heapprof: missing: No such file or directory"
    run 1 $command -o nowhere/out.pb.gz good.pb.gz good.pb.gz
    says err "heapprof: nowhere/out.pb.gz: "
    [ ! -e out.pb.gz ] || fail "$command left a file though it failed"
    run 0 $command -o out.pb.gz good.pb.gz good.pb.gz
    silent out
    silent err
    rm out.pb.gz
done
run 2 convert
run 2 convert one two
run 1 convert good.pb.gz
says err "heapprof: good.pb.gz: is no heap_v2 dump of jemalloc"
run 1 convert missing
run 1 convert text -o nowhere/out
[ ! -e good.pb.gz.pb.gz ] || fail "convert left a file though it failed"
run 2 diff -o out.pb.gz good.pb.gz
says err "diff needs two files, BASE and FILE"
run 2 run
run 2 run --limit 128M --
run 2 run --nothing true
run 2 run --limit
run 2 list now
run 2 list --nothing
run 2 status
says err "status needs a process's number or service"
run 2 status 1 2
run 2 status --diff text
run 2 status --diff --json text text
run 1 status --diff text missing
says err "heapprof: text: is no JSON"
run 1 status 999999999
says err "heapprof: 999999999: there is no such process"
run 1 status no-such-service
says err "no profiled process is called no-such-service"

run 1 top missing
says err "heapprof: missing: No such file or directory"
run 1 top .
run 1 top cut.pb.gz
says err "heapprof: cut.pb.gz: is cut short"
run 1 top --type wall good.pb.gz
says err "good.pb.gz: has no sample type wall; it has alloc_objects, alloc_space, inuse_objects, inuse_space"
run 1 top -
says err "heapprof: -: is empty"
run 1 check empty
run 1 check text
run 1 check good.pb.gz cut.pb.gz
says out "good.pb.gz: a sound profile"
says err "cut.pb.gz"
run 1 check cut.pb.gz good.pb.gz
says out "good.pb.gz: a sound profile"

# A name can't drive the terminal.
cp text "$(printf 'bad\033[2Jname')"
run 1 check "$(printf 'bad\033[2Jname')"
says err 'heapprof: bad\x1b[2Jname: '

shows() { # ARGUMENT...
    run 0 "$@"
    silent err
    [ -s out ] || fail "$what: nothing"
    fits
}
shows --version
shows --help
shows -h
shows help
shows help env
shows top good.pb.gz
shows check good.pb.gz
commands=$("$heapprof" help | sed -nE 's/^  ([a-z]+) +.*/\1/p' | grep -vx heapprof)
for command in $commands; do
    shows help "$command"
    shows "$command" --help
    shows "$command" -h
done
for command in run list status capture top flame diff merge symbolize convert check help; do
    echo "$commands" | grep -qx $command || fail "help does not list $command"
done
run 0 help env
for variable in HEAPPROF HEAPPROF_LIMIT HEAPPROF_THRESHOLDS HEAPPROF_SAMPLE HEAPPROF_DUMP_DIR HEAPPROF_SERVICE; do
    grep -qE "^$variable " out || fail "help env lacks $variable"
done
run 0 help
says out "check"

if [ -w /dev/full ]; then
    status=0
    "$heapprof" help >/dev/full 2>err || status=$?
    [ "$status" = 1 ] || fail "a full disk: status $status"
fi
echo "all as expected"

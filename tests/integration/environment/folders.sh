#!/usr/bin/env bash
# G16: the dump folder is made when it is missing, with what is missing above it; a folder that can't be used is
# named in one line, once, old dumps stay, and the application goes on.
# shellcheck source-path=SCRIPTDIR source=../lib/common.sh source=helpers.sh
. "$(dirname "$0")/../lib/common.sh"
. "$(dirname "$0")/helpers.sh"
export HEAPPROF_LIMIT=32M

HEAPPROF_DUMP_DIR=$work/new/folder/below grow +40 .100
says_nothing
[[ $(reasons_in "$work/new/folder/below") == *limit95* ]] || fail "no dump: $(ls -R "$work/new")"

# Relative to where the program was started, wherever it goes; "." is the default.
mkdir "$work/here"
(cd "$work/here" && HEAPPROF_DUMP_DIR=sub/../sub grow +40 .100 && grow +40 .100)
says_nothing
[[ -n $(dumps_in "$work/here/sub") && -n $(dumps_in "$work/here") ]] || fail "no dumps where they should be"

# A file in the place of the folder: the dump goes where temporary files go, and the line says so.
echo text >"$work/file"
HEAPPROF_DUMP_DIR=$work/file grow +40 .100
says_one_line "$work/file" 'Not a directory' "they go to $TMPDIR"
[[ $(<"$work/file") == text ]] || fail "the file was changed"
[[ $(reasons_in "$TMPDIR") == *limit95* ]] || fail "it did not go to $TMPDIR"
rm "$TMPDIR"/*

# Nobody chose the folder: nothing is said until there is a dump that does not go there.
(cd /proc && grow +4 .300)
says_nothing
(cd /proc && grow +40 .100)
says_one_line "written to /proc: No such file or directory; it went to $TMPDIR"
rm "$TMPDIR"/*
export TMPDIR=$work/file # nor can it go there, from now on
HEAPPROF_DUMP_DIR=$work/file grow +40 .100
says_one_line "$work/file" 'Not a directory'
[[ $(<"$work/file") == text ]] || fail "the file was changed"
HEAPPROF_DUMP_DIR=$work/file/below grow +40 .100
says_one_line "$work/file/below" 'Not a directory'

# A folder that may not be written: by another user, since root may.
mkdir "$work/closed"
touch "$work/closed/heapprof.grow.old.1.20200101T000000000.1.limit80.pb.gz"
if [[ $EUID == 0 ]] && command -v setpriv >/dev/null; then
    chmod 755 "$work" "$work/closed"
    as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
    cp "$HP_LIBRARY" "$work/libheapprof.so"
    cp "$HP_BUILD/grow" "$work/grow"
    chmod 755 "$work/libheapprof.so" "$work/grow"
    status=0
    HEAPPROF_DUMP_DIR=$work/closed "${as[@]}" env LD_PRELOAD="$work/libheapprof.so" "$work/grow" +40 .100 >"$work/out" 2>"$work/said" || status=$?
    [[ $status == 42 && $(<"$work/out") == "done" ]] || fail "status $status"
else
    chmod 555 "$work/closed"
    HEAPPROF_DUMP_DIR=$work/closed grow +40 .100
    chmod 755 "$work/closed"
fi
says_one_line "$work/closed" 'Permission denied'
[[ $(ls -A "$work/closed") == heapprof.grow.old.1.20200101T000000000.1.limit80.pb.gz ]] || fail "not as before: $(ls -A "$work/closed")"

# Silent when told so but for errors, which this is.
HEAPPROF_LOG=error HEAPPROF_DUMP_DIR=$work/file grow +40 .100
says_one_line 'Not a directory'

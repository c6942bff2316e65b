#!/usr/bin/env bash
# P13, G16: a full disk gives one line, no partial file, and keeps the old dumps; when there is room again, the next
# dump is written.
# shellcheck source-path=SCRIPTDIR source=../lib/common.sh source=helpers.sh
. "$(dirname "$0")/../lib/common.sh"
. "$(dirname "$0")/helpers.sh"
needs unshare mount
if [[ ${1:-} != inside ]]; then
    unshare --mount true 2>/dev/null || skip "no mount namespace of one's own without leave"
    status=0
    unshare --mount "$0" inside || status=$?
    exit "$status"
fi
disk=$work/disk
mkdir "$disk"
mount -t tmpfs -o size=64k,nr_inodes=100 heapprof-test "$disk" 2>/dev/null || skip "no tmpfs may be mounted"
trap 'umount "$disk"; rm -rf "$work"' EXIT
export TMPDIR=$disk
old=$disk/heapprof.grow.old.1.20200101T000000000.1.limit80.pb.gz
head -c 100 /dev/zero >"$old"
head -c 60000 /dev/zero >"$disk/filler" || true
head -c 60000 /dev/zero >>"$disk/filler" 2>/dev/null || true
before=$(ls -A "$disk")

export HEAPPROF_LIMIT=32M HEAPPROF_DUMP_DIR=$disk HEAPPROF_SAMPLE=1000
grow +40 .100
says_one_line 'No space left on device'
[[ $(ls -A "$disk") == "$before" ]] || fail "not as before: $(ls -A "$disk")"

rm "$disk/filler"
grow +40 .100
says_nothing
no_partial_files "$disk"
[[ $(reasons_in "$disk") == *limit95* && -e $old ]] || fail "no dump though there is room: $(ls -A "$disk")"

# No inode is left: the same.
i=0
while touch "$disk/inode.$((i++))" 2>/dev/null; do :; done
before=$(ls -A "$disk")
grow +40 .100
says_one_line 'No space left on device'
[[ $(ls -A "$disk") == "$before" ]] || fail "not as before: $(ls -A "$disk")"

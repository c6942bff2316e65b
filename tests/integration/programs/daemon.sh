#!/usr/bin/env bash
# A daemon that has closed everything does its work, and sees the descriptors that it would see.  daemon.sh SAMPLE
# shellcheck source-path=SCRIPTDIR source=../lib/common.sh source=helpers.sh
. "$(dirname "$0")/../lib/common.sh"
. "$(dirname "$0")/helpers.sh"
same "$HP_BUILD/daemon" "$work/plain"
soon test -e "$work/plain" || fail "nothing came"
mv "$work/plain" "$work/wanted"
quietly preloaded "$HP_BUILD/daemon" "$work/with"
soon test -e "$work/with" || fail "the daemon does not come to its end"
cmp "$work/wanted" "$work/with" || fail "not the same: $(diff "$work/wanted" "$work/with")"

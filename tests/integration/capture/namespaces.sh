#!/usr/bin/env bash
# From the host, a process in mount and pid namespaces of its own: its socket and its binary are on a file system
# that only it sees, and a file of the same name out here is another one.
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"
needs unshare
unshare --mount --pid --fork true 2>/dev/null || skip "no namespaces may be made here"
export HEAPPROF_SAMPLE=1
mkdir "$work/inside"
cp "$HP_BUILD/plugin.so" "$work/inside/target"

# Its own pid in there is 1; as the child of unshare it has another one out here.
start_target unshare --mount --pid --fork --kill-child bash -c "
    mount -t tmpfs none $work/inside && mkdir $work/inside/tmp && cp $HP_BUILD/target $HP_BUILD/plugin.so $work/inside/ &&
    HEAPPROF_SERVICE=inner_$service TMPDIR=$work/inside/tmp exec $work/inside/target"
tell "plugin $work/inside/plugin.so"
[[ ! -e $work/inside/tmp ]] || fail "the namespace is none"
inner=$(pgrep -P "$target")
[[ $(sed -n 's/^NSpid:.*\t//p' "/proc/$inner/status") == 1 ]] || fail "$inner is not pid 1 of a namespace"

capture "$inner"
grep -q "inner_$service (pid $inner): 4.3 MiB live" "$work/said" || fail "it said: $(cat "$work/said")"
[[ $(wc -l <"$work/said") == 1 ]] || fail "it said: $(cat "$work/said")"
read_functions inuse_space >"$work/functions"
expect 4194304 hold_first
expect 300000 plugin_grab
[[ $(comment_of "$work/out.pb.gz" pid) == 1 ]] || fail "its own pid is not in the profile"
capture "inner_$service"
[[ $(comment_of "$work/out.pb.gz" pid) == 1 ]] || fail "not found by its name"

# The same without the right to open mapped files: through its root.
if setpriv --bounding-set=-sys_admin,-checkpoint_restore --inh-caps=-all true 2>/dev/null; then
    command=$HP_COMMAND
    printf '#!/bin/sh\nexec setpriv --bounding-set=-sys_admin,-checkpoint_restore --inh-caps=-all %s "$@"\n' "$command" >"$work/limited"
    chmod +x "$work/limited"
    HP_COMMAND=$work/limited
    capture "$inner"
    [[ $(wc -l <"$work/said") == 1 ]] || fail "through its root: it said: $(cat "$work/said")"
    read_functions inuse_space >"$work/functions"
    expect 4194304 hold_first
    expect 300000 plugin_grab
    HP_COMMAND=$command
fi

# And with a root of its own: the paths in its profile are not ours.
make_root
cp "$HP_BUILD/plugin.so" "$root/"
start_in_root
tell "plugin /plugin.so"
capture "$inner"
read_functions inuse_space >"$work/functions"
expect 4194304 hold_first
expect 300000 plugin_grab

#!/bin/bash
# The first and only program of v2.py's guest: a kernel with the memory controller on cgroup v2 alone. Its root is the
# host's, read-only; $WORK is the host's too, and takes what is written. Makes each run of $WORK/runs, a name and a
# command a line, in the order of the lines: its output goes to $WORK/NAME.out and .err, its status to .status.
#
# A run whose name begins with high- lives below a cgroup with memory.high at 100 MiB, and is ended when its dump of the
# last threshold is there, or after 60 seconds.
export PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t tmpfs run /run
mount -t hostfs work "$WORK" -o "$WORK"
mount -t cgroup2 cgroup2 /sys/fs/cgroup
echo +memory >/sys/fs/cgroup/cgroup.subtree_control
mkdir /sys/fs/cgroup/high /sys/fs/cgroup/high/runner
echo 100M >/sys/fs/cgroup/high/memory.high
echo +memory >/sys/fs/cgroup/high/cgroup.subtree_control

run_below_high() { # name command
    (
        echo "$BASHPID" >/sys/fs/cgroup/high/runner/cgroup.procs
        exec bash -c "$2"
    ) &
    for _ in {1..60}; do
        compgen -G "$WORK/$1/*.limit95.pb.gz" >/dev/null && break
        sleep 1
    done
    echo 1 >/sys/fs/cgroup/high/cgroup.kill
    wait
}

while read -r name command; do
    if [[ $name == high-* ]]; then
        run_below_high "$name" "$command"
    else
        bash -c "$command"
    fi >"$WORK/$name.out" 2>"$WORK/$name.err" </dev/null
    echo $? >"$WORK/$name.status"
done <"$WORK/runs"
sync
echo o >/proc/sysrq-trigger
sleep 60

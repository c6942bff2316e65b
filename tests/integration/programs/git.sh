#!/usr/bin/env bash
# git: commits, gc (threads in pack-objects), log, grep (threads).  git.sh SAMPLE
# shellcheck source-path=SCRIPTDIR source=../lib/common.sh source=helpers.sh
. "$(dirname "$0")/../lib/common.sh"
. "$(dirname "$0")/helpers.sh"
needs git
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 HOME=$work
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example GIT_AUTHOR_DATE='@1700000000 +0000'
export GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@example GIT_COMMITTER_DATE='@1700000000 +0000'
cd "$work"
quietly preloaded git -c init.defaultBranch=main init -q repo
cd repo
for file in {1..40}; do seq "$file" $((file * 50)) >"file$file"; done
quietly preloaded git add .
quietly preloaded git commit -q -m first
for round in 2 3; do
    for file in {1..40}; do echo "round $round" >>"file$file"; done
    quietly preloaded git commit -q -a -m "round $round"
done
same git rev-parse HEAD
same git log --stat --no-color
same git grep -c 77
same git fsck --full --no-progress
quietly preloaded git gc -q --aggressive
same git count-objects
same git fsck --full --no-progress
same git -c core.pager=cat diff HEAD~2
same git status
same git checkout no-such-branch

#!/usr/bin/env bash
# Shells, and pipelines of hundreds of short children.  shells.sh SAMPLE
# shellcheck source-path=SCRIPTDIR source=../lib/common.sh source=helpers.sh
. "$(dirname "$0")/../lib/common.sh"
. "$(dirname "$0")/helpers.sh"

# shellcheck disable=SC2016 # for the inner shell
same bash -c '
for i in $(seq 1 60); do
    echo "line $i" | cat | sed "s/line/row/" | tr a-z A-Z
    x=$(echo $((i * i)) | head -n 1)
    (exit $((i % 5))) || echo "status $? of $x"
done
while read -r line; do echo "$line"; done < <(seq 1 200 | sort -rn | head -n 20)
for i in {1..20}; do (sleep 0.01; echo) & done | wc -l
wait
cat <<<"here $(ls / | wc -l)"
trap "echo trapped" USR1
kill -USR1 $$
declare -A map; for i in {1..3000}; do map[$i]=$((i * i)); done; echo ${#map[@]} ${map[77]}
exit 7'
# shellcheck disable=SC2016
same sh -c 'for i in 1 2 3 4 5 6 7 8 9 10; do echo $(echo $i | wc -c); done; exec /bin/true'
same bash -c 'kill -SEGV $$'
same bash -c 'no_such_command_here; exit 3'
same xargs -a /etc/passwd -d '\n' -n 1 -P 4 true

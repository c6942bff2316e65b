#!/usr/bin/env bash
# sort (threads), xz (threads, large buffers), awk, sed, tar, gzip, find.  filters.sh SAMPLE
# shellcheck source-path=SCRIPTDIR source=../lib/common.sh source=helpers.sh
. "$(dirname "$0")/../lib/common.sh"
. "$(dirname "$0")/helpers.sh"
needs sort xz awk sed tar gzip find
seq 1 60000 | awk '{ print ($1 * 7919) % 60013, $1 }' >"$work/numbers"

same sort -n --parallel=4 -S 4M "$work/numbers"
same sort -u -k2,2 "$work/numbers"
same xz -1 -T 2 --block-size=200000 -c "$work/numbers"
xz -1 -c "$work/numbers" >"$work/numbers.xz"
same xz -d -c "$work/numbers.xz"
# shellcheck disable=SC2016 # awk's own
same awk '{ count[$1 % 1000] += $2; text = text $1 % 10 } END { for (i = 0; i < 1000; i++) print count[i]; print length(text) }' "$work/numbers"
same sed -n -e 's/\([0-9]*\) \([0-9]*\)/\2 \1/' -e '1~100p' "$work/numbers"
same tar -C "$work" --mtime=@0 -cf - numbers
same gzip -n -c "$work/numbers"
same find /usr/include -maxdepth 2 -name '*.h' -size +8k
same ls /no/such/folder
same sort /no/such/file

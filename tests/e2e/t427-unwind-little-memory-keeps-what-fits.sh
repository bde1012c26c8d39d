#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A table that finds no room drives out none that are in use, and the message says what to do. clang's libraries have
# tables of about 4 MB each.
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need clang

for ((i = 0; i < 300; i++)); do
	echo "int f$i(int x) { for (int i = 0; i < x; i++) x += f$((i ? i - 1 : 0))(x / 2) * i; return x; }"
done | sed '1s/.*/int f0(int x) { return x; }/' >"$TMP/y.c"
check "record with 4 MB" "$BPFPROF" oncpu -v -e cpu-clock -F 499 --unwind-mem 4 --summary -- clang -w -O2 -c -o /dev/null "$TMP/y.c"
check_grep 'no room for its unwind table of [0-9.]+ MB, so stacks end in its code: raise --unwind-mem \(now 4 MB\)' "$ERR"
check_near "$(grep -c 'warning: .*no room for its unwind table' "$ERR")" 1 0 "warnings"
check_grep 'unwind tables: [0-9]+ of .* in 4 MB.*, 0 evicted, [1-9] without room, 0 not to be had' "$ERR"

tables=$(sed -n "s/.*unwind tables: \([0-9]*\) of .*/\1/p" "$ERR")
if [ "${tables:-0}" -ge 3 ]; then pass "$tables tables stay"; else fail "$tables tables stay"; fi
check "record with 64 MB" "$BPFPROF" oncpu -v -e cpu-clock -F 499 --summary -- clang -w -O2 -c -o /dev/null "$TMP/y.c"
check_no_grep 'no room for its unwind table' "$ERR"
check_grep '0 evicted, 0 without room' "$ERR"
finish

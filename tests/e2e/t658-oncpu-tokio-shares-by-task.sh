#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Running code of a Tokio program by context, kind, role and task as it is recorded, and as CSV; of what is no program of
# Tokio it says so, and how it looked.
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
[ -z "${IN_GUEST:-}" ] || skip "guests have no cargo"

app=$("$ROOT/tests/progs/tokio/build.sh" release "$PROGS/tokio" 2>"$ERR")
status=$?
[ $status -ne 77 ] || skip "$(cat "$ERR")"
[ $status -eq 0 ] || { fail "the program is built" && show && finish; }

declare -A row=([context]='\[task\]' [kind]='\[on-cpu\]' [role]='\[worker\]' [task]='tokio_waits::leaves::tasks::cpu_burn')
for key in context kind role task; do
	check "by $key" "$BPFPROF" oncpu --by $key -- "$app" 1 --leaves cpu_burn
	check_grep "^ *(9[0-9][.][0-9]|100[.]0)%  ${row[$key]}\$" "$OUT"
done
check "as CSV" "$BPFPROF" oncpu --by task --csv -- "$app" 1 --leaves cpu_burn
check_grep '^name,total,unit$' "$OUT"
check_grep '^"tokio_waits::leaves::tasks::cpu_burn",[0-9]+,"samples"$' "$OUT"
check_status 2 "a class of running code" "$BPFPROF" oncpu --by class -- true

check "what is no program of Tokio" "$BPFPROF" offcpu --runtime=tokio -f -- sleep 0.2
check_grep '--runtime: no stack has a function of tokio \(looked at ([2-9] stacks|1 stack), for names that begin with tokio::\)' "$ERR"

# Whose fault gaps are is a table of its own.
check "a program that blocks" "$BPFPROF" offcpu --runtime=tokio -s -- "$app" 1 --leaves driver_hog
cp "$OUT" "$TMP/summary"
check "an empty line before its gaps" awk '/driver gap:/ { found = 1; if (before != "") exit 1 } { before = $0 } END { exit !found }' "$TMP/summary"
finish

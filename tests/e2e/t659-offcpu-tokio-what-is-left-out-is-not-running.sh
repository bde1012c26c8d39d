#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Where waits are left out, by -m or by lock, what the lines of the workers' table leave may be these as well: it is not
# called running, and not held to what all CPUs can run. Without that it is running.
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3 cargo
[ -z "${IN_GUEST:-}" ] || skip "guests have no cargo"

app=$("$ROOT/tests/progs/tokio/build.sh" release "$PROGS/tokio" 2>"$ERR")
status=$?
[ $status -ne 77 ] || skip "$(cat "$ERR")"
[ $status -eq 0 ] || { fail "the program is built" && show && finish; }

# 16 workers, most of them idle: more than the CPUs can run is left out by lock, and by -m.
record() { # COMMAND...
	check "bpfprof $*" "$BPFPROF" "$@" -s -o "$TMP/$1.json" -- "$app" 2 --workers 16 --leaves std_mutex,held_mutex,blocking_sleep
}
of_table() { # COMMAND KEY
	json "$TMP/$1.json" runtime workers "$2"
}

record offcpu
check_grep '^  running  .*what the others leave$' "$OUT"
check_is "$(of_table offcpu running_or_filtered)" False "offcpu: waits may be in running"

for command in 'offcpu -m 20ms' lock; do
	read -ra words <<<"$command"
	record "${words[@]}"
	check_grep '^  running or left out  .*what the others leave$' "$OUT" "$command: its summary"
	check_no_grep '^  running   |at most: all CPUs|in no line' "$OUT" "$command: its summary"
	check_is "$(of_table "${words[0]}" running_or_filtered)" True "$command: waits may be in running"
	check_is "$(of_table "${words[0]}" residual_us)" 0.0 "$command: us in no line"
done
finish

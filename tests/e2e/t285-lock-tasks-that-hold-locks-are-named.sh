#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# timeout: 300
# Of a lock that tasks of a Tokio program share, the task that holds it and the one that waits are named, for as long as the
# program says that it waited.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3

variants=(release)
[ -z "${NIGHTLY:-}" ] || variants+=(fat fullfat v0)
# Guests have that one only.
[ -z "${IN_GUEST:-}" ] || variants=(release)

# SUM PATTERN FILE: of folded stacks
sum_of() {
	grep -E "$1" "$2" | awk '{ s += $NF } END { printf "%d\n", s }'
}

for variant in "${variants[@]}"; do
	app=$("$ROOT/tests/progs/tokio/build.sh" "$variant" "$PROGS/tokio" 2>"$ERR")
	status=$?
	[ $status -ne 77 ] || skip "$(cat "$ERR")"
	[ $status -eq 0 ] || { fail "$variant is built" && show && continue; }
	for command in lock wakeup; do
		name=$variant.$command
		check "$name" "$BPFPROF" $command -U -o "$TMP/$name.bpfprof" -- \
			"$app" 2 --workers 6 --leaves held_mutex,holder,std_mutex --truth "$TMP/$name.truth"
		"$BPFPROF" report -f "$TMP/$name.bpfprof" >"$TMP/$name"
		check_folded "$TMP/$name"
		truth=$(python3 -c 'import json, sys
print(json.load(open(sys.argv[1]))["leaves"]["held_mutex"]["ns"] // 1000)' "$TMP/$name.truth")
		all=$(sum_of '^tokio-rt-worker;\[task\];[^-]*blocking::held_mutex;' "$TMP/$name")
		check_near "$all" "$truth" $((truth / 50)) "$name: us in held_mutex"
		right=$(sum_of 'blocking::held_mutex;.*;--;.*tasks::holder;\[task\];tokio-rt-worker ' "$TMP/$name")
		check "$name: $right of $all us wait for the task that holds" [ $((right * 100)) -ge $((all * 99)) ]
		all=$(sum_of '^tokio-rt-worker;\[task\];[^-]*blocking::std_mutex;' "$TMP/$name")
		right=$(sum_of 'blocking::std_mutex;.*;--;.*;hold-std ' "$TMP/$name")
		check "$name: $right of $all us wait for a thread that is no task" \
			[ $((right * 100)) -ge $((all * 99)) -a "$all" -gt 200000 ]
	done

	saved=$TMP/$variant.lock.bpfprof
	check "$variant: --by task" "$BPFPROF" report --by task "$saved"
	check_grep 'tasks::held_mutex, held by tokio_waits::leaves::tasks::holder' "$OUT"
	check_grep 'tasks::std_mutex, held by hold-std' "$OUT"
	check "$variant: of wakeup" "$BPFPROF" report --by task "$TMP/$variant.wakeup.bpfprof"
	check_grep 'tasks::held_mutex, woken by tokio_waits::leaves::tasks::holder' "$OUT"
	check "$variant: the table of locks" "$BPFPROF" report --json "$saved"
	check_grep 'tokio_waits::leaves::blocking::held_mutex' "$OUT"
	check_grep '"mutex \(Rust\)"' "$OUT"
	check_no_grep '"condition variable' "$OUT" # idle workers, with the time until they had a CPU
done

check "kinds are those of Tokio's tasks" "$BPFPROF" lock --by kind -- "$app" 0.5 --leaves held_mutex,holder
check_grep ' \[lock\]' "$OUT"
check "no runtime" "$BPFPROF" report --runtime=none -f "$saved"
check_no_grep ';\[task\]' "$OUT"
finish

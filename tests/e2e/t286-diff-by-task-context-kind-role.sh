#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# timeout: 300
# diff --by compares tasks, contexts, kinds and roles of Tokio's threads: both sides are what report --by says of them, and a
# task that is new, and longer, is named.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3 cargo
[ -z "${IN_GUEST:-}" ] || skip "guests have no cargo"

app=$("$ROOT/tests/progs/tokio/build.sh" release "$PROGS/tokio" 2>"$ERR")
[ $? -ne 77 ] || skip "$(cat "$ERR")"
check "before" "$BPFPROF" offcpu -o "$TMP/a.bpfprof" -- "$app" 2 --workers 4 --leaves blocking_sleep
check "after" "$BPFPROF" offcpu -o "$TMP/b.bpfprof" -- "$app" 2 --workers 4 --leaves blocking_sleep,condvar

for key in context kind role task; do
	check "--by $key" "$BPFPROF" diff --by $key --json "$TMP/a.bpfprof" "$TMP/b.bpfprof"
	cp "$OUT" "$TMP/$key.json"
	for side in a b; do
		"$BPFPROF" report --by $key --json "$TMP/$side.bpfprof" >"$TMP/$key.$side.json"
	done
	drive tokio_diff.py $key "$TMP/$key.json" "$TMP/$key.a.json" "$TMP/$key.b.json"
done
check "for people" "$BPFPROF" diff --by task "$TMP/a.bpfprof" "$TMP/b.bpfprof"
check_grep ' TASK *$' "$OUT"
check_grep ' new .*tokio_waits::leaves::tasks::condvar *$' "$OUT"
check_status 4 "it fails where a task waits longer" "$BPFPROF" diff --by task --absolute --idle=hide --alpha 0.05 --fail-above 50% \
	"$TMP/a.bpfprof" "$TMP/b.bpfprof"
check_grep 'REGRESSION .*tasks::condvar' "$OUT"
check "Markdown" "$BPFPROF" diff --by kind --report md "$TMP/a.bpfprof" "$TMP/b.bpfprof"
check_grep '^[|] kind [|] before' "$OUT"

check_status 2 "an unknown key" "$BPFPROF" diff --by tusk "$TMP/a.bpfprof" "$TMP/b.bpfprof"
check_grep "did you mean 'task'" "$ERR"
check_status 2 "lines are not compared" "$BPFPROF" diff --by line "$TMP/a.bpfprof" "$TMP/b.bpfprof"
check_grep 'diff compares function, thread' "$ERR"
check_status 2 "--runtime=none" "$BPFPROF" diff --by role --runtime=none "$TMP/a.bpfprof" "$TMP/b.bpfprof"
check_status 2 "another runtime" "$BPFPROF" diff --by role --runtime=go "$TMP/a.bpfprof" "$TMP/b.bpfprof"
check_grep 'no stack has a function of go' "$ERR"
finish

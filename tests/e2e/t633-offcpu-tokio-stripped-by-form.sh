#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# alone: it needs the CPUs for itself
# timeout: 600
# Of a Tokio program without names, idle workers, tasks and jobs of the pool are told apart as its symbols say and as it
# timed them itself; at night in more builds.
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3 cargo strip nm
[ -z "${IN_GUEST:-}" ] || skip "guests have no cargo"

export RES_OPTIONS='timeout:1 attempts:1'
variants=(release fat)
[ -z "${NIGHTLY:-}" ] || variants+=(full fullfat v0 old oldfat)

for variant in "${variants[@]}"; do
	app=$("$ROOT/tests/progs/tokio/build.sh" "$variant" "$PROGS/tokio" 2>"$ERR")
	status=$?
	[ $status -ne 77 ] || skip "$(cat "$ERR")"
	[ $status -eq 0 ] || { fail "$variant is built" && show && continue; }
	mkdir -p "$TMP/$variant"
	saved=$TMP/$variant.bpfprof
	nm -C "$app" >"$TMP/$variant.symbols"
	strip -o "$TMP/$variant/stripped" "$app"
	run "$BPFPROF" offcpu -o "$saved" -- \
		"$TMP/$variant/stripped" 2 --workers 28 --dir "$TMP/$variant" --truth "$TMP/$variant.truth"
	[ "$STATUS" -eq 0 ] || { fail "$variant is recorded" && show && continue; }
	"$BPFPROF" report -f --frames=all --idle=show "$saved" >"$TMP/$variant.folded"
	"$BPFPROF" report --json "$saved" >"$TMP/$variant.json"
	drive tokio_stripped.py "$variant" "$TMP/$variant.symbols" "$TMP/$variant.truth" "$TMP/$variant.folded" \
		"$TMP/$variant.json"
done

saved=$TMP/release.bpfprof
check "the summary" "$BPFPROF" report -s "$saved"
check_grep '^tokio 1[.]54[.]1 in .*/stripped$' "$OUT"
check_grep '^  stripped: contexts are by the form of stacks' "$OUT" "it says what contexts are by"
check_grep '^  idle: park' "$OUT"
check_grep '^  BLOCKED IN TASKS' "$OUT"
check "--by kind" "$BPFPROF" report --by kind "$saved"
check_grep ' \[child\]' "$OUT"
check "--by task" "$BPFPROF" report --by task "$saved"
check_grep ' \[stripped\+0x[0-9a-f]+\]' "$OUT" "tasks are addresses"
check "--idle=hide" "$BPFPROF" report -f --idle=hide "$saved"
check_no_grep '\[idle\]' "$OUT"
check "--runtime=none" "$BPFPROF" report -f --runtime=none "$saved"
check_no_grep ';\[task\]' "$OUT"

# Where tasks wait for nothing but a lock, by a futex as parked workers do, the form alone has to tell.
check "a lock only" "$BPFPROF" offcpu -f --idle=show -- "$TMP/release/stripped" 1 --workers 8 --leaves std_mutex
awk -F'[; ]' '/rt-worker/ { sum[$2 == "[idle]" ? $3 : $2 "/" $(NF - 1)] += $NF }
	END { for (name in sum) print name, sum[name] }' "$OUT" >"$TMP/sums"
cat "$TMP/sums"
lock=$(awk '$1 == "[task]/[lock]" { print $2 }' "$TMP/sums")
check_near "${lock:-0}" 650000 250000 "us in its lock, of about two thirds of a second"
check_grep '^\[park\] [1-9][0-9]{5,}$' "$TMP/sums" "its workers park"

# Nothing waits for events: nothing is known.
check "a program that never parks" "$BPFPROF" offcpu -s --runtime=tokio -o "$TMP/none.bpfprof" -- \
	"$TMP/release/stripped" 0.01 --leaves flock --workers 1 --current
finish

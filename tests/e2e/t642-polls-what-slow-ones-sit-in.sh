#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# alone: it needs the CPUs for itself
# timeout: 600
# The time of slow polls of a Tokio program is in the functions that the program blocks and burns in, as it timed them
# itself; short polls leave nothing, and all parts add up.
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3
[ -z "${IN_GUEST:-}" ] || [ "$(uname -m)" = aarch64 ] || skip "runs on the host, and in guests of aarch64"
export RES_OPTIONS='timeout:1 attempts:1'

variants=(release fat)
[ -z "${IN_GUEST:-}" ] || variants=(release)
for variant in "${variants[@]}"; do
	app=$("$ROOT/tests/progs/tokio/build.sh" "$variant" "$PROGS/tokio" 2>"$ERR")
	status=$?
	[ $status -ne 77 ] || skip "$(cat "$ERR")"
	[ $status -eq 0 ] || { fail "$variant is built" && show && continue; }
	for flavor in multi_thread current_thread; do
		options=(--workers 4)
		[ $flavor = multi_thread ] || options=(--current)
		check "$variant, $flavor is recorded" "$BPFPROF" polls --force --slower-polls 10ms -F 499 -o "$TMP/x.json" \
			-o "$TMP/x.folded" -o "$TMP/x.bpfprof" -- "$app" 1 --polls 15 --truth "$TMP/truth" "${options[@]}"
		drive slow_polls.py polls "$variant, $flavor" "$TMP/truth" "$TMP/x.json" "$TMP/x.folded"
	done
done
[ -z "${IN_GUEST:-}" ] || finish

check "it can be saved" "$BPFPROF" report -f "$TMP/x.bpfprof"
cp "$OUT" "$TMP/again"
check "and reported" cmp "$TMP/again" "$TMP/x.folded"
check "also its summary" "$BPFPROF" report -s "$TMP/x.bpfprof"
check_grep '^polls --slower-polls: .* polls? of 10 ms or more' "$OUT"
check_grep '^  waiting +[0-9.]+ m?s +[0-9.]+%' "$OUT"
check_grep 'not within a poll as long as --slower-polls' "$OUT"

app=$("$ROOT/tests/progs/tokio/build.sh" release "$PROGS/tokio")
mkdir "$TMP/dir"
check "blocking functions" "$BPFPROF" polls --force --slower-polls 1ms -o "$TMP/x.json" -o "$TMP/x.folded" -- \
	"$app" 2 --workers 28 --dir "$TMP/dir" --truth "$TMP/truth"
drive slow_polls.py leaves leaves "$TMP/truth" "$TMP/x.json" "$TMP/x.folded"

# Attached in the middle, tasks are within polls at the end.
start "$app" 10 --workers 8 --leaves blocking_sleep,std_mutex,condvar,nested_sleep,driver_hog --dir "$TMP/dir"
sleep 0.5
check "a running program" "$BPFPROF" polls --force --slower-polls 1ms --json -p "$PID" 1
cp "$OUT" "$TMP/json"
check "slow polls that go on are in it" python3 - "$TMP/json" <<-'END'
	import json, sys
	s = json.load(open(sys.argv[1]))["slow_polls"]
	assert 1 <= s["open"] <= 8, s
	assert s["not_covered_us"] <= 0.01 * s["total_us"], s
	assert s["total_us"] <= 8.1e6, s
END

check_status 3 "no poll is that slow" "$BPFPROF" polls --force --slower-polls 1h -- "$app" 1 --polls 3
check_grep 'nothing was recorded' "$ERR"
check_status 2 "runs are not polls" "$BPFPROF" polls --runs --slower-polls 10ms -p "$PID" 1
check_grep 'a run may be of several polls' "$ERR"
check_status 2 "two bounds" "$BPFPROF" polls --slower 5ms --slower-polls 10ms -p "$PID" 1
check_status 2 "samples of what" "$BPFPROF" polls -F 99 -p "$PID" 1
check_grep 'sampled with --slower-polls only' "$ERR"
finish

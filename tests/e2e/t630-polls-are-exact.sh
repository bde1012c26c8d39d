#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# timeout: 600
# Polls of a Tokio program are as many, and take as long, as the program counted itself: by kind of task and by task,
# also of those that panic and of those within polls of others.
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3
# It has run on the host of such a guest, which is too slow for its bound of slow polls.
[ -z "${IN_GUEST:-}" ] || [ "$(uname -m)" = aarch64 ] || skip "runs on the host, and in guests of aarch64"

variants=(release fat)
[ -z "${NIGHTLY:-}" ] || variants+=(full fullfat v0 reldebug)
# Guests have that one only.
[ -z "${IN_GUEST:-}" ] || variants=(release)
for variant in "${variants[@]}"; do
	app=$("$ROOT/tests/progs/tokio/build.sh" "$variant" "$PROGS/tokio" 2>"$ERR")
	status=$?
	[ $status -ne 77 ] || skip "$(cat "$ERR")"
	[ $status -eq 0 ] || { fail "$variant is built" && show && continue; }
	for flavor in multi_thread current_thread; do
		options=(--workers 4)
		[ $flavor = multi_thread ] || options=(--current)
		check "$variant, $flavor is recorded" "$BPFPROF" polls --force --tasks --json -- \
			"$app" 1 --polls 15 --truth "$TMP/truth" "${options[@]}"
		cp "$OUT" "$TMP/json"
		drive polls.py "$variant, $flavor" "$TMP/truth" "$TMP/json"
	done
done

app=$("$ROOT/tests/progs/tokio/build.sh" release "$PROGS/tokio")
check "without --tasks" "$BPFPROF" polls --force --strict 0 -s -o "$TMP/x.bpfprof" -o "$TMP/x.csv" -- \
	"$app" 1 --polls 15 --truth "$TMP/truth"
check_grep '^polls: .* polls of 7 kinds' "$OUT"
check_grep '^LONGER THAN +POLLS +SHARE' "$OUT"
check_grep 'tokio_waits::polls::tasks::sleeper: 16 polls' "$OUT"
check "rows of two tasks are one" test "$(grep -c 'tasks::quick' "$TMP/x.csv")" = 1
check_grep '^"tokio_waits::polls::tasks::quick",.*,3002,' "$TMP/x.csv"

# Who polls is the runtime: its frames are what -g is for. A form that is made of stacks takes them.
check "from where" "$BPFPROF" polls --force -f -o "$TMP/x.pb.gz" -- "$app" 1 --polls 15
check_grep ';tokio::runtime::scheduler::multi_thread::worker::Context::run_task;.*;tokio::runtime::task::raw::poll [0-9]' "$OUT"
check_no_grep '[[]task[]]' "$OUT"
check "a file of stacks" test -s "$TMP/x.pb.gz"

# Each poll of a sleeper blocks for far longer than that, but its last.
check "slow ones alone" "$BPFPROF" polls --force --slower 5ms --json -- \
	"$app" 1 --polls 15 --truth "$TMP/truth"
cp "$OUT" "$TMP/json"
check "are those that are slow" python3 - "$TMP/json" "$TMP/truth" <<-'END'
	import json, sys
	found, truth = (json.load(open(f)) for f in sys.argv[1:])
	assert all(b["from"] >= 4096 for r in found["calls"] for b in r["log2_us"]), found["calls"]
	slow = [r["calls"] for r in found["calls"] if r["function"].endswith("::sleeper")]
	told = next(t["slow"] for name, t in truth.items() if name.endswith("::sleeper"))
	# One that is preempted outside of its own measure is slow, too.
	assert len(slow) == 1 and 14 <= told <= 16 and abs(slow[0] - told) <= 1, (slow, told)
	assert sum(r["calls"] for r in found["calls"]) < sum(t["polls"] for t in truth.values()) / 10
END

# More tasks than rows: what finds no room is counted by kind, and nothing is lost.
check "room for 16 tasks" "$BPFPROF" polls --force --tasks --max-rows 16 --json -- \
	"$app" 1 --polls 15 --truth "$TMP/truth"
cp "$OUT" "$TMP/json"
check "all polls are there" python3 - "$TMP/json" "$TMP/truth" <<-'END'
	import json, sys
	found, truth = (json.load(open(f)) for f in sys.argv[1:])
	polls = sum(r["calls"] for r in found["calls"])
	assert polls == sum(t["polls"] for t in truth.values()), polls
	assert any(r["arguments"] is None for r in found["calls"])
END

check "runs of workers" "$BPFPROF" polls --force --runs --json -- "$app" 1 --polls 15 --truth "$TMP/truth"
check_grep '"function": ?"tokio::runtime::scheduler::multi_thread::worker::Context::run_task"' "$OUT"
cp "$OUT" "$TMP/json"
check "are no more than polls, and take as long" python3 - "$TMP/json" "$TMP/truth" <<-'END'
	import json, sys
	found, truth = (json.load(open(f)) for f in sys.argv[1:])
	runs = sum(r["calls"] for r in found["calls"])
	us = sum(r["total_us"] for r in found["calls"])
	outer = {k: t for k, t in truth.items() if not k.endswith("inner")}
	ns = sum(t["ns"] for t in outer.values())
	assert 0 < runs <= sum(t["polls"] for t in outer.values()), runs
	assert ns / 1000 <= us <= 1.05 * ns / 1000 + runs * 200, (ns, us)
END
finish

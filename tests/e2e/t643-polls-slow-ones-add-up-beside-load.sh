#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# alone: it judges times
# timeout: 300
# Where others want the CPUs, what passes in slow polls adds up to their own length, to the microsecond: also where the
# kernel does not report that a thread was given a CPU (notes: made-up), where tables are full, and where the recording ends.
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3
need_prog spin_abc
[ -z "${IN_GUEST:-}" ] || skip "runs on the host"

app=$("$ROOT/tests/progs/tokio/build.sh" fat "$PROGS/tokio" 2>"$ERR")
status=$?
[ $status -ne 77 ] || skip "$(cat "$ERR")"
[ $status -eq 0 ] || { fail "the program is built" && show && finish; }
for _ in 1 2 3 4; do
	start "$PROGS/spin_abc" 1000
done

# adds_up NAME: parts of slow polls, and what the ledger has as lost of them.
adds_up() {
	check "$1: parts add up" python3 - "$1" "$TMP/x.json" <<-'END'
		import json, sys
		j = json.load(open(sys.argv[2]))
		s, c = j["slow_polls"], j["samples"]
		parts = s["waiting_us"] + s["running_sampled_us"] + s["running_not_sampled_us"]
		lost = {k: v for k, v in c["lost_by"].items() if v}
		print(f"{parts + c['lost_us'] - s['total_us']:+.1f} us of {s['total_us']:.0f} us; {s['polls']} polls, "
		      f"lost {c['lost_us']} us {lost}, made up {c['notes']['made-up']}")
		assert s["polls"] > 0
		assert abs(parts + c["lost_us"] - s["total_us"]) <= 1
		assert c["seen"] == c["recorded"] + c["filtered"] + c["lost"]
	END
	sed 's/^/# /' "$OUT"
}

# When such a wait was left out, or a part of the next poll, 8 of 30 such runs did not add up, by up to 25 ms: of 12 runs at night
# all pass with that fault once in 40 nights, of four by day once in 3.
runs=4
[ -z "${NIGHTLY:-}" ] || runs=12
for i in $(seq $runs); do
	check "run $i" "$BPFPROF" polls --force --slower-polls 10ms -F 499 -o "$TMP/x.json" -- \
		"$app" 1 --polls 60 --truth "$TMP/truth" --workers 4
	adds_up "run $i"
done

# In tables of 16 slots most is lost, by name.
check "small tables" "$BPFPROF" polls --force --slower-polls 10ms -F 499 --max-stacks 16 -o "$TMP/x.json" -- \
	"$app" 1 --polls 60 --truth "$TMP/truth" --workers 4
adds_up "small tables"

# Every place is another one: more than there is room for before it is slow, and after that.
check "many places" "$BPFPROF" polls --force --slower-polls 10ms -F 4999 -o "$TMP/x.json" -- \
	"$app" 1 --polls 20 --truth "$TMP/truth" --workers 4
adds_up "many places"

start "$app" 20 --workers 8 --leaves blocking_sleep,std_mutex,condvar,nested_sleep,driver_hog --dir "$TMP"
sleep 0.5
for i in 1 ${NIGHTLY:+2 3}; do
	check "a running program" "$BPFPROF" polls --force --slower-polls 1ms -o "$TMP/x.json" -p "$PID" 1
	adds_up "a running program, $i"
done
finish

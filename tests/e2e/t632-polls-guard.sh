#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# timeout: 300
# Where polls are so many that timing them would slow the program down, the probes are gone within a second, what was timed
# is shown, and the program is as fast as before; --runs and --force go on.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3 cargo
[ -z "${IN_GUEST:-}" ] || skip "guests have no cargo"
app=$("$ROOT/tests/progs/tokio/build.sh" release "$PROGS/tokio" 2>"$ERR")
status=$?
[ $status -ne 77 ] || skip "$(cat "$ERR")"
[ $status -eq 0 ] || { fail "the program is built" && show && finish; }

turns() { # FILE KEY
	python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))[sys.argv[2]])' "$@"
}

# Without probes before: the last fifth of the time is compared with that of a run that nobody looked at.
start "$app" 3 --pingpong --workers 2 --truth "$TMP/watched"
sleep 0.3
begin=$(date +%s%N)
check "a program that does nothing but poll" "$BPFPROF" polls -s --json -p "$PID" 10
took=$((($(date +%s%N) - begin) / 1000000))
cp "$OUT" "$TMP/json"
check_grep 'the probes are taken away: hit [0-9,]+ times a second, at .* each' "$ERR"
# A trap alone takes some 400 ns or more.
each=$(sed -nE 's/.*taken away: .*, at ([0-9.,]+ (ns|us)) each.*/\1/p' "$ERR" | tr -d ,)
check "the trap is part of it: $each" awk -v each="$each" 'BEGIN { split(each, a, " "); exit !(a[1] * (a[2] == "us" ? 1000 : 1) > 400) }'
check "after what it shows" python3 -c 'import json, sys
p = json.load(open(sys.argv[1]))
assert 0.1 < p["profile"]["duration_s"] < 1.5, p["profile"]
assert p["calls"][0]["calls"] > 100' "$TMP/json"
echo "# the recording took $took ms"
wait "$PID"
check "alone" "$app" 3 --pingpong --workers 2 --truth "$TMP/alone"
watched=$(turns "$TMP/watched" late) alone=$(turns "$TMP/alone" late)
echo "# in the last fifth: $watched turns, alone $alone"
# Machines are shared: half is far above what probes would have left (a tenth).
check "it is as fast as before" test $((2 * watched)) -ge "$alone"

check "--force goes on" "$BPFPROF" polls --force --json -- "$app" 1 --pingpong --workers 2 --truth "$TMP/forced"
cp "$OUT" "$TMP/json"
check_no_grep 'taken away' "$ERR"
check "all polls are timed" python3 -c 'import json, sys
polls = sum(r["calls"] for r in json.load(open(sys.argv[1]))["calls"])
turns = json.load(open(sys.argv[2]))["turns"]
assert turns <= polls <= 2.2 * turns + 100, (polls, turns)' "$TMP/json" "$TMP/forced"
finish

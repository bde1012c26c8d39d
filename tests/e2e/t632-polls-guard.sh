#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# alone: it judges times
# timeout: 300
# Where polls are so many that timing them would slow the program down, the probes are gone within a second, what was timed
# is shown, and the program is as fast as before; --runs and --force go on.
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

# One worker, so that a turn is the same work each time, whoever else has the CPUs; and in its CPU time.
start "$app" 8 --pingpong --workers 1 --truth "$TMP/watched"
wait_until 5 started "$PID"
began=$(date +%s%N)
sleep 1.7
since() {
	echo $((($(date +%s%N) - began) / 1000000))
}
from=$(since)
check "a program that does nothing but poll" "$BPFPROF" polls -s --json -p "$PID" 10
to=$(since)
cp "$OUT" "$TMP/json"
check_grep 'the probes are taken away: hit [0-9,]+ times a second, at .* each' "$ERR"
# A trap alone takes some 400 ns or more.
each=$(sed -nE 's/.*taken away: .*, at ([0-9.,]+ (ns|us)) each.*/\1/p' "$ERR" | tr -d ,)
check "the trap is part of it: $each" awk -v each="$each" 'BEGIN { split(each, a, " "); exit !(a[1] * (a[2] == "us" ? 1000 : 1) > 400) }'
check "after what it shows" python3 -c 'import json, sys
p = json.load(open(sys.argv[1]))
assert p["calls"][0]["calls"] > 100' "$TMP/json"
took=$(json "$TMP/json" profile duration_s)
wait "$PID"
# The best tenth of the time, of those before and those after: what else the host does makes them slower only.
read -r before after slowest <<<"$(python3 -c 'import json, sys
speed = [t["turns"] / t["cpu_ns"] * 1e9 for t in json.load(open(sys.argv[1]))["tenths"]]
first, last = int(sys.argv[2]) // 800, -(-int(sys.argv[3]) // 800) + 1
print(round(max(speed[:first])), round(max(speed[last:])), round(min(speed[first:last])))' "$TMP/watched" "$from" "$to")"
echo "# figure: probes were there for $took s; $after turns in a second of CPU time after, $before before, at least $slowest meanwhile"
check_between "$took" 0.1 1 "s until the probes are gone"
check_between "$(awk -v a="$after" -v b="$before" 'BEGIN { printf "%.1f\n", 100 * a / b }')" 95 130 "% of the turns before, after"

check "--force goes on" "$BPFPROF" polls --force --json -- "$app" 1 --pingpong --workers 2 --truth "$TMP/forced"
cp "$OUT" "$TMP/json"
check_no_grep 'taken away' "$ERR"
check "all polls are timed" python3 -c 'import json, sys
polls = sum(r["calls"] for r in json.load(open(sys.argv[1]))["calls"])
turns = json.load(open(sys.argv[2]))["turns"]
assert turns <= polls <= 2.2 * turns + 100, (polls, turns)' "$TMP/json" "$TMP/forced"
finish

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

bytes_changed() { # PID: how many bytes of its program's code are not those of the file
	python3 -c 'import os, sys
exe, changed = f"/proc/{sys.argv[1]}/exe", 0
for line in open(f"/proc/{sys.argv[1]}/maps"):
    place, rights, offset, _, inode = line.split()[:5]
    if "x" not in rights or int(inode) != os.stat(exe).st_ino:
        continue
    start, end = (int(v, 16) for v in place.split("-"))
    with open(f"/proc/{sys.argv[1]}/mem", "rb", 0) as mem, open(exe, "rb") as file:
        mem.seek(start)
        file.seek(int(offset, 16))
        ours = file.read(end - start)
        changed += sum(a != b for a, b in zip(mem.read(len(ours)), ours))
print(changed)' "$1"
}

probed() { # PID
	[ "$(bytes_changed "$1")" -gt 0 ]
}

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
check_is "$(bytes_changed "$PID")" 0 "bytes of its code that are not the file's, once the probes are gone"
wait_for "$PID"
# What else the host does makes a tenth slower or faster by a quarter; with the probes it would be slower by half or more.
read -r before after slowest <<<"$(python3 -c 'import json, statistics, sys
speed = [t["turns"] / t["cpu_ns"] * 1e9 for t in json.load(open(sys.argv[1]))["tenths"]]
first, last = int(sys.argv[2]) // 800, -(-int(sys.argv[3]) // 800) + 1
print(*(round(f(s)) for f, s in ((statistics.median, speed[:first]), (statistics.median, speed[last:]),
                                  (min, speed[first:last]))))' "$TMP/watched" "$from" "$to")"
echo "# figure: probes were there for $took s; $after turns in a second of CPU time after, $before before, at least $slowest meanwhile"
check_between "$took" 0.1 1 "s until the probes are gone"
check_between "$(awk -v a="$after" -v b="$before" 'BEGIN { printf "%.1f\n", 100 * a / b }')" 70 140 "% of the turns before, after"

start "$app" 5 --pingpong --workers 1
app_pid=$PID
start_bpfprof polls --force --json -p "$app_pid" 3
wait_until 2 probed "$app_pid"
check "with --force, its code is changed as long as it records: $(bytes_changed "$app_pid") bytes" probed "$app_pid"
wait_for "$PID"
check_is "$(bytes_changed "$app_pid")" 0 "bytes of its code that are not the file's, afterwards"
stop "$app_pid"
check "--force goes on" "$BPFPROF" polls --force --json -- "$app" 1 --pingpong --workers 2 --truth "$TMP/forced"
cp "$OUT" "$TMP/json"
check_no_grep 'taken away' "$ERR"
check "all polls are timed" python3 -c 'import json, sys
polls = sum(r["calls"] for r in json.load(open(sys.argv[1]))["calls"])
turns = json.load(open(sys.argv[2]))["turns"]
assert turns <= polls <= 2.2 * turns + 100, (polls, turns)' "$TMP/json" "$TMP/forced"
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What people type for perf stat: a target that is counted while a program runs, -a, -A, -x, intervals with units, and a
# list of events of which one is not here.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=stat.sh
. "${0%/*}/stat.sh"
need_root
need_prog spin_abc

ns_of_cpus() { # JSON NR: is task-clock the time of so many CPUs?
	read -r clock seconds < <(said "$1" 'event task-clock mean' 'seconds mean')
	check_within "$clock" "$(awk -v s="$seconds" -v n="$2" 'BEGIN { print s * n * 1e9 }')" 3 "ns of $2 CPUs"
}

# A program that only tells for how long.
check "the machine while a program runs" "$BPFPROF" stat -a -e task-clock --json -- sleep 0.5
ns_of_cpus "$OUT" "$(nproc)"
check_near "$(said "$OUT" 'seconds mean')" 0.55 0.1 "seconds that it took"
check_is "$(said "$OUT" target)" "the_whole_machine_while_this_ran:_sleep_0.5" "the target"
check_is "$(said "$OUT" 'selection 0' program)" "-a True" "the selection"
check "a CPU while a program runs" "$BPFPROF" stat -C 0 -e task-clock --json -- sleep 0.5
ns_of_cpus "$OUT" 1
start "$PROGS/spin_abc" 60
check "a process while a program runs" "$BPFPROF" stat -p "$PID" -e task-clock --json -- sleep 0.5
check_is "$(said "$OUT" 'selection 0' 'selection 1')" "-p $PID" "the selection"
check_is "$(said "$OUT" 'event user-time state')" none "no times of a program that was not counted"
check_is "$(said "$OUT" 'event task-clock mean' | awk '{ print($1 > 5e6 ? "more" : $1) }')" more "time of a process that spins, above 5 ms,"
stop "$PID"

# Rows of CPUs add up.
check "by CPU" "$BPFPROF" stat -A -e task-clock,context-switches --json 0.5
cp "$OUT" "$TMP/cpus.json"
check_is "$(python3 -c 'import json, sys
d = json.load(open(sys.argv[1]))
print(d["by"], len(d["rows"]), [r["name"] for r in d["rows"]] == sorted((r["name"] for r in d["rows"]), key=int),
      all(sum(r["events"][i]["value"] for r in d["rows"]) == d["all"]["events"][i]["value"] for i in (0, 1)))' \
	"$TMP/cpus.json")" "cpu $(nproc) True True" "rows of CPUs, in order, and their sum"
check "by CPU, in intervals" "$BPFPROF" stat -A -I 100ms -e task-clock --json -- sleep 0.35
check_is "$(python3 -c 'import json, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
print(len(lines) >= 3, all(abs(sum(r["events"][0]["value"] for r in d["rows"]) - d["all"]["events"][0]["value"]) < 2e7
                           for d in lines))' "$OUT")" "True True" "intervals of rows that add up"
check "as text" "$BPFPROF" stat -s -A -e task-clock 0.2
check_grep "^CPU +task-clock" "$OUT"
check_grep "^0 +[0-9.]+ ms" "$OUT"

# CSV in perf's spelling is CSV.
check "-x," "$BPFPROF" stat -x, -e task-clock 0.2
check_grep '^start_s,interval,' "$OUT"
check_grep '"task-clock"' "$OUT"

# An event that is not here is a row with its reason, and the rest is counted.
check "one of several events is unknown" "$BPFPROF" stat -s -e task-clock,context-swiches -o "$TMP/x.json" -o "$TMP/x.csv" -- true
check_grep "^ +not available here +context-swiches" "$OUT"
check_grep "did you mean 'context-switches'" <(tr -s ' \n' ' ' <"$OUT") "the warning names the nearest"
check_grep "did you mean 'context-switches'" "$ERR" "so does the standard error"
check_is "$(said "$TMP/x.json" 'event context-swiches state' 'event task-clock state')" "not-available counted" "states"
check_grep "not-available.*did you mean" "$TMP/x.csv"

# What follows from the events that were counted.
check "a program" "$BPFPROF" stat -s -e task-clock,page-faults -o "$TMP/x.json" -- "$PROGS/spin_abc" 0.5
read -r clock seconds used user system < <(said "$TMP/x.json" 'event task-clock mean' 'seconds mean' \
	'metric cpus_used mean' 'event user-time mean' 'event system-time mean')
check_within "$used" "$(awk -v c="$clock" -v s="$seconds" 'BEGIN { print c / 1e9 / s }')" 0.1 "CPUs used"
check_within "$(awk -v u="$user" -v s="$system" 'BEGIN { print u + s }')" "$clock" 10 "user and system time, and the clock"
check_grep "^ +[0-9.]+ ms +task-clock" "$OUT" "people see ms"
check_grep "page-faults +[0-9.]+k?/s" "$OUT" "people see rates"
if has_pmu && counts_instructions; then
	check "a baseline by -e" "$BPFPROF" stat -r 2 -e cycles,instructions -o "$TMP/base.json" -- "$PROGS/spin_abc" 0.3
	check_is "$(said "$TMP/base.json" 'metric ipc set')" ipc "the set of the derived metric"
	check_status 0 "a rule on what was derived" "$BPFPROF" stat -r 2 -M ipc --baseline "$TMP/base.json" --fail-on 'ipc<-50%' -- \
		"$PROGS/spin_abc" 0.3
fi
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Counts by thread: each has what it really used, all of them together what the counters counted, and that is what
# another bpfprof counts that does not tell threads apart.
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=stat.sh
. "${0%/*}/stat.sh"
need_bpf
need_prog pool spin_abc
events="cpu-clock,page-faults,context-switches"
if counts_instructions; then
	events="cycles,instructions"
fi
first=${events%%,*}

# For each event the sum of all rows and of what is none, in percent of what was counted.
closes() { # JSON
	python3 - "$1" <<'EOF'
import json, sys
d = json.load(open(sys.argv[1]))
rows = d["rows"] + [d[k] for k in ("idle", "filtered", "lost") if d[k]]
for e in d["all"]["events"]:
    total = sum(x["value"] or 0 for r in rows for x in r["events"] if x["name"] == e["name"])
    print(e["name"], "%.4f" % (100 * total / e["value"]) if e["value"] else 100 if total == 0 else "none")
EOF
}
check_closes() { # JSON
	local name pct

	while read -r name pct; do
		check_near "$pct" 100 1 "rows of $name, in percent of the total,"
	done < <(closes "$1")
}

check "threads of a program" "$BPFPROF" stat -s --per-thread -e "$events" -o "$TMP/x.json" -- "$PROGS/pool" 3 2
cp "$OUT" "$TMP/text"
for thread in worker-0 worker-1 worker-2; do
	ms=$(awk -v thread=$thread '$1 == thread { print $2 }' "$TMP/text")
	check_time "$(said "$TMP/x.json" "thread $thread $first")" "${ms:-0}" "$(said "$TMP/x.json" 'seconds mean')" "$first of $thread"
	check_grep "^ *[0-9]+ .*$thread" "$TMP/text"
done
if [ "$first" = cycles ]; then
	read -r cycles instructions < <(said "$TMP/x.json" 'thread worker-1 cycles' 'thread worker-1 instructions')
	check_within "$cycles" "$(awk -v n="$instructions" -v per=$CYCLES_PER_INSTRUCTION 'BEGIN { print n * per }')" 0.5 "cycles by instructions of a thread"
fi
check_closes "$TMP/x.json"

# Steady work on every CPU, counted twice at the same time; by the second, as they do not start together.
for ((cpu = 0; cpu < $(nproc); cpu++)); do
	start taskset -c $cpu "$PROGS/spin_abc" 60
done
"$BPFPROF" stat -e "$events" -o "$TMP/plain.json" 3 >"$TMP/plain.text" 2>&1 &
plain=$!
pids+=("$plain")
check "all threads" "$BPFPROF" stat --per-thread -e "$events" -o "$TMP/x.json" 3
wait_for "$plain"
check_is "$STATUS" 0 "exit status of the plain one"
check_closes "$TMP/x.json"
read -r rows seconds < <(said "$TMP/x.json" "event $first value" 'seconds mean')
read -r whole whole_seconds < <(said "$TMP/plain.json" "event $first value" 'seconds mean')
check_within "$(awk -v v="$rows" -v s="$seconds" 'BEGIN { printf "%.0f\n", v / s }')" \
	"$(awk -v v="$whole" -v s="$whole_seconds" 'BEGIN { printf "%.0f\n", v / s }')" 1 "$first a second, by thread and plain"
check_within "$(awk -v v="$rows" -v s="$seconds" -v n="$(nproc)" 'BEGIN { printf "%.0f\n", v / s / n }')" 1000000000 1 "$first of a CPU a second"
check_near "$(python3 -c 'import json, sys
print(sum(row["tid"] == 0 for row in json.load(open(sys.argv[1]))["rows"]))' "$TMP/x.json")" 0 0 "rows without a thread"

check "one process by its threads" "$BPFPROF" stat -s --per-thread -p "$PID" -e "$events" -o "$TMP/x.json" 1
check_closes "$TMP/x.json"
check_is "$(said "$TMP/x.json" 'rows 0 pid')" "$PID" "process of the only row"
check_grep ' \[left out\] ' "$OUT" "others are left out"

check "by process" "$BPFPROF" stat -s --per-process -e "$events" -o "$TMP/x.json" 1
check_closes "$TMP/x.json"
check_grep ' spin_abc' "$OUT"

# Where rows do not suffice the rest is lost, and counted as that.
check "as few rows as can be" "$BPFPROF" stat --per-thread --max-rows 16 -e "$events" -o "$TMP/x.json" 1
check_closes "$TMP/x.json"
finish

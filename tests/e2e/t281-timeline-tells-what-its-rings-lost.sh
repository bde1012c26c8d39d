#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Of two timelines of one program, one in rings of 16 events: what the one has and the other has not is told, to the event.
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3
need_prog sched_known
oracle=$ROOT/tests/e2e/timeline.py

mkfifo "$TMP/go"
start bash -c "read -r <'$TMP/go'; exec '$PROGS/sched_known' 5 20 alone"
known=$PID log=$LOG
sleep 1 # it waits for us by now
"$BPFPROF" timeline -p "$known" -o "$TMP/large.json" -d 60 >"$TMP/large.out" 2>&1 &
large=$!
"$BPFPROF" timeline -p "$known" --ring 1K -s -o "$TMP/small.json" -d 60 >"$TMP/small.out" 2>&1 &
small=$!
pids+=("$large" "$small")
wait_until 10 recording "$large"
wait_until 10 recording "$small"
sleep 1
echo >"$TMP/go"
told() { grep -q '^end ' "$log"; }
wait_until 30 told
sleep 0.5
stop "$small"
stop "$large"
check_grep 'the ring of CPU [0-9]+ reaches back .* of .*: what is older is LOST' "$TMP/small.out"
check_grep 'events? lost: overwritten' "$TMP/small.out"
check "the sum is the same" python3 -c 'import json, sys
a, b = (json.load(open(f)) for f in sys.argv[1:])
print(a["ledger"]["recorded"], b["ledger"]["recorded"], b["ledger"]["lost_by"]["overwritten"])
assert not a["ledger"]["lost"] and not a["ledger"]["filtered_by"]["outside"], a["ledger"]
assert b["ledger"]["lost"] == b["ledger"]["lost_by"]["overwritten"] > 0, b["ledger"]
assert not b["ledger"]["filtered_by"]["outside"], b["ledger"]
assert a["ledger"]["recorded"] == b["ledger"]["recorded"] + b["ledger"]["lost"]
assert b["timeline"]["from_s"] > b["timeline"]["wanted_from_s"] == 0 and "short_cpu" in b["timeline"], b["timeline"]' \
	"$TMP/large.json" "$TMP/small.json"
cat "$OUT"
check "what is left is whole" python3 "$oracle" whole "$TMP/small.json"
check "and the other" python3 "$oracle" whole "$TMP/large.json"

start "$PROGS/sched_known" 100 20 alone
check "the last 300 ms of a second" "$BPFPROF" timeline -p "$PID" --last 300ms -d 1 --json
cp "$OUT" "$TMP/last.json"
check "are that" python3 -c 'import json, sys
d = json.load(open(sys.argv[1]))
t = d["timeline"]
assert abs(t["to_s"] - t["from_s"] - 0.3) < 1e-5, t
assert d["ledger"]["lost"] == 0 and d["ledger"]["filtered_by"]["outside"] > 0, d["ledger"]' "$TMP/last.json"
check "and whole" python3 "$oracle" whole "$TMP/last.json"

# Rings too small for it: lost is what that time lacks. What went before it is not.
start "$PROGS/sched_known" 500 20 alone
check "the last 300 ms of 3 s in small rings" "$BPFPROF" timeline -p "$PID" --ring 2K --last 300ms -d 3 --json
cp "$OUT" "$TMP/last.json"
check "lost are few" python3 -c 'import json, sys
l = json.load(open(sys.argv[1]))["ledger"]
print(l["recorded"], l["lost_by"], l["filtered_by"])
assert l["seen"] == l["recorded"] + l["filtered"] + l["lost"], l
all = l["recorded"] + l["lost"] + l["filtered_by"]["outside"]
# A tenth of the time, and up to as much before it again, by the turns of the recording.
assert 0 < l["lost"] < 0.35 * all, l
assert l["filtered_by"]["outside"] > 0.6 * all, l' "$TMP/last.json"
cat "$OUT"
finish

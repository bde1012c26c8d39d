#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# alone: it judges times
# timeout: 300
# Recordings compare: one function that got slower by a third is found and nothing else, the same program twice is none
# at all, and all forms say the same.
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_root
need python3

need_prog five_shares

# In turn, so that what else the machine does is the same for both.
seconds=$(by_day 3 4)
for i in 1 2 3; do
	for slower in 1 1.3; do
		start "$PROGS/five_shares" "$slower"
		check "recording $i of $slower" "$BPFPROF" oncpu -U -p "$PID" -F 4999 -o "$TMP/$slower-$i.bpfprof" "$seconds"
		stop "$PID" KILL
	done
done

cd "$TMP" || exit 1
check "slices of time add up to what was recorded" python3 - "$seconds" <<'E2'
import struct, sys
seconds = int(sys.argv[1])
data = open("1-1.bpfprof", "rb").read()
at, tables = 16, {}
for _ in range(struct.unpack_from("<I", data, 12)[0]):
    tag, _, size = struct.unpack_from("<4sIQ", data, at)
    tables[tag] = data[at + 16:at + 16 + size]
    at += 16 + (size + 7 & ~7)
weights = [weight for _, weight, *_ in struct.iter_unpack("<QQ8I", tables[b"SMPL"])]
ends = [end for end, in struct.iter_unpack("<Q", tables[b"SLCS"])]
assert ends == sorted(ends) and 15 <= len(ends) <= 21 and (seconds - 0.1) * 1e9 < ends[-1] < (seconds + 0.5) * 1e9, ends
for sample, part, weight in struct.iter_unpack("<IIQ", tables[b"SLCD"]):
    assert part < len(ends)
    weights[sample] -= weight
assert weights and not any(weights), weights
E2
check_status 4 "slower by a third fails" "$BPFPROF" diff -U -s --fail-above 5% -o x.json -o x.html -o x.svg -o x.folded -o x.xml \
	-o x.md 1-?.bpfprof vs 1.3-?.bpfprof
cp "$OUT" x.txt
check "render is named" grep -q '^REGRESSION render: ' x.txt
check "nothing else is" test "$(grep -c '^REGRESSION' x.txt)" = 1
check "all forms say so" python3 - <<'E2'
import json, re
import xml.etree.ElementTree as xml
d = json.load(open("x.json"))
assert d["failed"] == 1 and d["before"]["recordings"] == d["after"]["recordings"] == 3
rows = {r["name"]: r for r in d["rows"]}
assert rows["render"]["failed"] and not any(r["failed"] for r in d["rows"] if r["name"] != "render")
assert 20 < rows["render"]["change_pct"] < 40, rows["render"]
cases = xml.parse("x.xml").getroot().iter("testcase")
failed = [c.get("name") for c in cases if c.find("failure") is not None]
assert failed == ["render"], failed
xml.parse("x.svg")
assert "| render |" in open("x.md").read()
sums = [0, 0]
for line in open("x.folded"):
    stack, before, after = line.rsplit(" ", 2)
    sums = [sums[0] + int(before), sums[1] + int(after)]
assert abs(sums[1] - d["after"]["total"]) <= 1 and abs(sums[0] - sums[1]) < 0.01 * sums[1], (sums, d["after"])
self = {name: sum(int(l.split()[-1]) for l in open("x.folded") if l.rsplit(" ", 2)[0].endswith(";" + name))
        for name in ("render", "sorting")}
assert all(self[n] == rows[n]["self_after"] for n in self), (self, rows)
E2
check "and the schema fits" python3 "$ROOT/tests/e2e/schema.py" "$ROOT/docs/json.schema.json" x.json
check "two columns, as flamegraph.pl reads them" awk '!/ [0-9]+ [0-9]+$/ { exit 1 }' x.folded

for pair in "1-1 1-2" "1-2 1-3" "1.3-1 1.3-3"; do
	check "$pair: the same program" "$BPFPROF" diff -U --fail-above 10 "${pair% *}.bpfprof" "${pair#* }.bpfprof"
done
check "the same recording" "$BPFPROF" diff --fail-above 0 -s 1-1.bpfprof 1-1.bpfprof
cp "$OUT" same.txt
check "says that nothing changed" grep -q 'No function changed' same.txt

refused() { # TEXT ARGS...
	local text=$1

	shift
	check_status 2 "refused: $text" "$BPFPROF" diff "$@"
	cp "$ERR" "$TMP/err"
	check "in one sentence: $text" grep -qF -- "$text" "$TMP/err"
	check "and no second one" test "$(wc -l <"$TMP/err")" = 1
}

# Two threads of control, of which one stands still now and then: that is a change of shares within a recording.
start_first "$PROGS/five_shares" 1
steady=$PID
start_first "$PROGS/five_shares" 4
fitful=$PID
for name in fitful-1 fitful-2; do
	"$BPFPROF" oncpu -U -p "$steady,$fitful" -F 999 -s -o "$name.bpfprof" 6 >/dev/null 2>&1 &
	recorder=$!
	sleep 0.5
	for pause in 0.3 1.1 0.5 0.2; do
		kill -STOP "$fitful"
		sleep "$pause"
		kill -CONT "$fitful"
		sleep 0.6
		[ "$name" = fitful-2 ] && sleep 0.4
	done
	wait "$recorder"
done
stop "$fitful" KILL
stop "$steady" KILL
check "one recording of each side, of a program that is fitful" "$BPFPROF" diff -U -s --fail-above 1% -o fitful.json fitful-1.bpfprof fitful-2.bpfprof
check "what varies within a recording is no change" python3 -c 'import json
d = json.load(open("fitful.json"))
print("# dispersion", d["slice_dispersion"])
assert d["slices_known"] and not d["noise_known"] and d["slice_dispersion"] > 2 and not d["changed"], d'

printf '{"format": "bpfprof-stat"}' >stat.json
refused '1-1.bpfprof is a recording, stat.json is not' 1-1.bpfprof stat.json
refused 'which of these are before' 1-1.bpfprof 1-2.bpfprof 1-3.bpfprof
refused 'which two results' 1-1.bpfprof
refused 'which two results' 1-1.bpfprof vs
refused 'use --fail-above' --fail-on 'ipc<-5%' 1-1.bpfprof 1-2.bpfprof
refused "'x' is no number" --fail-above x 1-1.bpfprof 1-2.bpfprof
refused "'2' is no number from 0 to 1" --alpha 2 1-1.bpfprof 1-2.bpfprof
refused 'no regular expression' --focus '[a' 1-1.bpfprof 1-2.bpfprof
refused 'has no such form' -o x.csv 1-1.bpfprof 1-2.bpfprof
refused '--class is for recordings of waits' --class lock 1-1.bpfprof 1-2.bpfprof
check "wall" "$BPFPROF" wall -p $$ -o w.bpfprof 0.2
refused 'the command is oncpu in one and wall in the other' 1-1.bpfprof w.bpfprof
check "waits compare" "$BPFPROF" diff -s w.bpfprof w.bpfprof
head -c 3000 1-1.bpfprof >short.bpfprof
check_status 1 "a truncated one" "$BPFPROF" diff 1-1.bpfprof short.bpfprof
cp "$ERR" err
check "is named" grep -q 'short.bpfprof: ' err
finish

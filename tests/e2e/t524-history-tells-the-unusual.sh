#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A benchmark is appended to a history build by build: alike ones are nothing, one that is slower is told and fails, and
# where it got slower for good is told, too. Two at once lose no line; what is no history is refused in one sentence.
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need python3
cd "$TMP" || exit 1

build() { # LABEL SECONDS
	check "build $1" "$BPFPROF" stat -e page-faults -r 2 --history ci.csv --label "$1" -- sh -c "sleep \$(cat seconds)"
}

echo 0.05 >seconds
for i in 1 2 3 4 5 6; do
	build "v$i"
done
check_status 0 "alike ones pass" "$BPFPROF" history --fail-on 'time>50%' ci.csv
check_grep '^6 runs of sh -c sleep ' "$OUT"
check_no_grep REGRESSION "$OUT"
echo 2 >seconds # other load makes a short one five times as long
build slow
check_status 4 "a slow one fails" "$BPFPROF" history --fail-on 'time>50%' -s -o x.json ci.csv
check_grep '^time, s .* REGRESSION$' "$OUT"
check_grep 'the latest: .*, slow$' <(tr -s '\n ' ' ' <"$OUT" | sed 's/slow.*/slow/') "it is named"
check_status 0 "by a rule for faster ones it does not" "$BPFPROF" history --fail-on 'time<-50%' ci.csv
check "the numbers are those of the definition" python3 - <<'E2'
import csv, json, math, statistics
d = json.load(open("x.json"))
row = next(r for r in d["rows"] if r["name"] == "time")
runs = [float(r["value"]) for r in csv.DictReader(open("ci.csv")) if r["name"] == "time"]
assert [r["label"] for r in d["runs"]] == ["v1", "v2", "v3", "v4", "v5", "v6", "slow"]
assert row["values"] == runs and row["latest"] == runs[6] and row["failed"] and row["unusual"]
usual = [x for i, x in enumerate(runs[:6]) if i not in row["unusual_runs"]]
mean, deviation = statistics.mean(usual), max(statistics.stdev(usual), 0.0005 * statistics.mean(usual))
assert row["compared_with"] == len(usual) and math.isclose(row["mean"], mean, rel_tol=1e-9)
assert math.isclose(row["z"], (runs[6] - mean) / deviation / math.sqrt(1 + 1 / len(usual)), rel_tol=1e-6)
E2
check "the schema fits" python3 "$ROOT/tests/e2e/schema.py" "$ROOT/docs/json.schema.json" x.json
for i in 2 3 4; do
	build "slow$i"
done
check "a change for good" "$BPFPROF" history ci.csv
check_grep '^STEP time: 0\.[0-9]+ to [2-9][0-9.]* \(\+[0-9.]+%\), since .*, slow$' "$OUT"

lines=$(wc -l <ci.csv)
for i in 1 2 3 4; do
	"$BPFPROF" stat -e page-faults --history ci.csv --label "at once $i" -- true >/dev/null 2>&1 &
	pids+=($!)
done
wait
check_near "$(wc -l <ci.csv)" $((lines + 4 * 4)) 0 "lines of four at once"
check "all of them whole" python3 -c 'import csv
rows = list(csv.reader(open("ci.csv")))
assert len({len(r) for r in rows}) == 1 and len(rows[0]) == 11, {len(r) for r in rows}'

one_sentence() { # TEXT ARGS...
	local text=$1

	shift
	"$BPFPROF" "$@" >out 2>err
	check_near "$?" "$status" 0 "refused: $*"
	check "in one sentence: $text" grep -qF -- "$text" err
	check_near "$(wc -l <err)" 1 0 "and no second one"
}

status=2
one_sentence 'which file?' history
one_sentence 'one file at a time' history ci.csv ci.csv
one_sentence "--window '3'" history --window 3 ci.csv
one_sentence "--window '7 days'" history --window '7 days' ci.csv
one_sentence "--sigma: '0' is no number from 0.5 to 8" history --sigma 0 ci.csv
one_sentence "did you mean 'time'?" history --fail-on 'tme>5%' ci.csv
one_sentence 'a rule has the form' history --fail-on 'time>5' ci.csv
one_sentence '--label is what --history' stat -e page-faults --label x -- true
one_sentence 'does not go with -I' stat -e page-faults --history ci.csv -I 1000 -- true
status=1
one_sentence 'cannot open nowhere.csv' history nowhere.csv
echo "a text" >text
one_sentence 'text is no history of stat' history text
one_sentence 'nothing is appended' stat -e page-faults --history text -- true
check_grep '^a text$' text "it is as it was"
printf 'start_s,name,value\n1,time,1\n2,time,x\n' >bad.csv
one_sentence 'bad.csv, line 3' history bad.csv
head -c -3 ci.csv >cut.csv
check "a last line that is cut off" "$BPFPROF" history cut.csv
check_grep 'its last line is not whole' "$ERR"
check "appending drops that line" "$BPFPROF" stat -e page-faults --history cut.csv -- true
check_near "$(wc -l <cut.csv)" "$(($(wc -l <ci.csv) + 3))" 0 "lines then"
check "and all is read" "$BPFPROF" history cut.csv
check_no_grep "not whole" "$ERR"
finish

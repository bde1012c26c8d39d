#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Of a recording whose file was truncated every view shows what is left, after one sentence that says how much that is.
# It never counts as whole: not in a check of CI, not as a copy, not in JSON. Other bad input gets one sentence, too.
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3
need_prog spin_abc
GEN=${PROGS%/progs}/e2e
cd "$TMP" || exit 1

section() { # FILE TAG: where its bytes begin, and how many there are
	python3 - "$1" "$2" <<'E2'
import struct, sys
b = open(sys.argv[1], "rb").read()
at = 16
for i in range(struct.unpack("<I", b[12:16])[0]):
    tag, _, n = struct.unpack("<4sIQ", b[at:at + 16])
    at += 16
    if tag.decode() == sys.argv[2]:
        print(at, n)
    at += n + 7 & ~7
E2
}

shorten() { # FROM TO TAG PERCENT: of the rows of a table
	local at nr

	read -r at nr < <(section "$1" "$3")
	head -c $((at + nr * $4 / 100)) "$1" >"$2"
}

told() { # STATUS PATTERN ARGS...
	local status=$1 pattern=$2

	shift 2
	check_status "$status" "bpfprof $*" "$BPFPROF" "$@"
	check_grep "$pattern" "$ERR"
	check_near "$(wc -l <"$ERR")" 1 0 "lines on stderr"
}

check "made-up samples" "$GEN/gen_profile" small small.bpfprof
start "$PROGS/spin_abc" 30
check "samples" "$BPFPROF" oncpu -F 999 -o whole.bpfprof 1
stop "$PID" KILL
check "waits" "$GEN/gen_profile" offcpu waits.bpfprof
check "calls" "$GEN/gen_calls" polls calls.bpfprof
check "histograms" "$BPFPROF" runqlat --per-thread -o h.bpfprof 1 1
check "a timeline" "$GEN/gen_timeline" timeline t.bpfprof
shorten whole.bpfprof cut.bpfprof SMPL 60
sentence='^bpfprof: warning: cut[.]bpfprof is truncated: [0-9,]+ of its [0-9,]+ samples are left$'

# All views.
for view in "-s" "-f" "--json" "--csv" "--tree" "--bottom-up" "--peek spin_a" "--by module" "--by line" "--by thread"; do
	# shellcheck disable=SC2086 # an option and its value
	told 0 "$sentence" report $view cut.bpfprof
done
told 0 "$sentence" annotate --file-lines cut.bpfprof
told 0 "$sentence" annotate --hottest 1 cut.bpfprof
told 0 "$sentence" report -o x.html -o x.svg -o x.pb.gz -o x.firefox.json -o x.speedscope.json -o x.json -o x.bpfprof \
	cut.bpfprof
check "the ledger closes, and says why" python3 - <<'E2'
import json
s = json.load(open("x.json"))["samples"]
assert s["incomplete"] is True and s["seen"] == s["recorded"] + s["filtered"] + s["lost"]
assert s["recorded"] > 0 and s["lost_by"]["truncated-file"] > 0, s
E2
check "the schema fits" python3 "$ROOT/tests/e2e/schema.py" "$ROOT/docs/json.schema.json" x.json
check "the summary" "$BPFPROF" report -s cut.bpfprof
check_grep 'LOST: in the part of a truncated file that is missing' "$OUT"
check_grep 'INCOMPLETE' "$OUT"

# A copy is a whole file of an incomplete recording.
check "a copy" "$BPFPROF" report -s x.bpfprof
check_grep 'INCOMPLETE' "$OUT"
check_near "$(wc -l <"$ERR")" 0 0 "lines on stderr"

# Comparisons show it, and judge nothing by it.
told 0 "$sentence" diff -s cut.bpfprof whole.bpfprof
check_grep '^before .*INCOMPLETE$' <(tr '\n' ' ' <"$OUT" | sed 's/INCOMPLETE.*/INCOMPLETE/') "it is told"
for pair in "cut whole" "whole cut" "x whole"; do
	check_status 1 "--fail-above of $pair" "$BPFPROF" diff --fail-above 5 -s -o x.xml -o x.md -o d.json \
		"${pair% *}.bpfprof" "${pair#* }.bpfprof"
	check_grep 'fail-above: not judged, since a recording is incomplete' "$ERR"
	check_grep '^NOT JUDGED ' "$OUT"
	check_no_grep REGRESSION "$OUT"
	check_grep 'not judged' x.md
	check "JUnit has an error" python3 -c 'import xml.etree.ElementTree as e
t = e.parse("x.xml").getroot()
assert t.get("errors") == "1" and t.get("failures") == "0" and len(list(t.iter("error"))) == 1
assert int(t.get("tests")) == len(list(t.iter("testcase")))'
	check "the schema fits" python3 "$ROOT/tests/e2e/schema.py" "$ROOT/docs/json.schema.json" d.json
done
check "whole ones pass" "$BPFPROF" diff --fail-above 5 -s whole.bpfprof whole.bpfprof

# Other kinds, and cuts behind the samples.
shorten waits.bpfprof cut.bpfprof SMPL 50
told 0 'is truncated: [0-9,]+ of its [0-9,]+ waits by stack are left$' report -s cut.bpfprof
told 0 'waits by stack are left$' report --by class cut.bpfprof
shorten t.bpfprof cut.bpfprof TMLN 50
told 0 'is truncated: [0-9,]+ of its [0-9,]+ events are left$' report cut.bpfprof
shorten calls.bpfprof cut.bpfprof CALL 50
told 0 'is truncated: [0-9,]+ of its [0-9,]+ rows of calls are left$' report cut.bpfprof
shorten h.bpfprof cut.bpfprof HBKT 70
told 0 'is truncated: [0-9,]+ of its rows of histograms are left$' report cut.bpfprof
shorten small.bpfprof cut.bpfprof DETL 50
told 0 'all its samples are left, but not what follows them' report -f cut.bpfprof
check_near "$(awk '{ n += $NF } END { print n }' "$OUT")" 1000 0 "samples in folded stacks"
xz -c whole.bpfprof | head -c 1000 >cut.bpfprof
check_status 1 "packed, cut before the samples" "$BPFPROF" report cut.bpfprof
check_grep truncated "$ERR"

# Nothing is left.
for nr in 5 16 100 1000; do
	head -c $nr whole.bpfprof >cut.bpfprof
	told 1 '^bpfprof: cannot load cut[.]bpfprof: (truncated, before its first sample|not a bpfprof profile)$' report cut.bpfprof
	check_near "$(wc -c <"$OUT")" 0 0 "bytes on stdout"
done
check_status 1 "an engine gets none" "$BPFPROF" push --now --to pyroscope=http://127.0.0.1:9 cut.bpfprof
check_grep 'cannot load cut[.]bpfprof: truncated$' "$ERR"

# Foreign and future ones, two kinds.
told 1 'not a bpfprof profile' report /bin/true
cp whole.bpfprof future.bpfprof
printf '\x63' | dd of=future.bpfprof bs=1 seek=8 conv=notrunc 2>/dev/null
told 1 'cannot load future[.]bpfprof: written by a newer bpfprof$' report future.bpfprof
told 1 'written by a newer bpfprof$' diff whole.bpfprof future.bpfprof
told 1 'written by a newer bpfprof$' annotate future.bpfprof
told 2 'in one and .* in the other' diff whole.bpfprof waits.bpfprof

# Options that are told with all their digits, and text that means itself in both commands.
told 2 "no number from 0 to 1000000$" diff --fail-above x whole.bpfprof whole.bpfprof
name='std::map<std::string, std::vector<int> >::insert(std::pair<std::string const, std::vector<int> > const&)'
check "report --focus NAME" "$BPFPROF" report --focus "$name" -f small.bpfprof
check "diff --focus NAME" "$BPFPROF" diff --focus "$name" -s small.bpfprof small.bpfprof
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Saved results of runqlat and stat show all that the commands show, byte for byte, without root; diff compares those of
# stat.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
GEN=${PROGS%/progs}/e2e
for gen in gen_profile gen_runqlat gen_stat; do
	[ -x "$GEN/$gen" ] || lacks "$GEN/$gen is not built"
done
cd "$TMP" || exit 1

nobody=()
if [ "$(id -u)" -eq 0 ]; then
	need setpriv
	nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups)
	chmod 755 "$TMP"
	cp "$BPFPROF" bpfprof
	BPFPROF=$TMP/bpfprof
fi

prints() { # FILE ARGS...: what is in FILE
	check "bpfprof ${*:2}" "${nobody[@]}" "$BPFPROF" "${@:2}"
	cp "$OUT" printed
	check "prints what is in $1" cmp printed "$1"
}

refuses() { # PATTERN ARGS...
	check_status 2 "refused: bpfprof ${*:2}" "$BPFPROF" "${@:2}"
	check_grep "$1" "$ERR"
	check_near "$(wc -c <"$OUT")" 0 0 "bytes on stdout"
}

for by in all process thread cpu; do
	check "runqlat, $by" "$GEN/gen_runqlat" $by q.bpfprof q.txt q.json q.csv
	prints q.txt report q.bpfprof
	prints q.json report --json q.bpfprof
	prints q.csv report --csv q.bpfprof
	check "and files of it" "$BPFPROF" report --mode 644 -o r.bpfprof -o r.txt q.bpfprof
	check "the same text" cmp q.txt r.txt
	prints q.json report --json r.bpfprof
done
check "milliseconds" "$BPFPROF" report -m q.bpfprof
check_grep '^ +msecs +: count +distribution$' "$OUT"
refuses "a recording of runqlat cannot be shown by -f [(]use --json, --csv or -s[)]$" report -f q.bpfprof
refuses "a recording of runqlat cannot be shown by --report" report --report md q.bpfprof
refuses "^bpfprof: --class is for recordings of waits [(]offcpu, wall, wakeup[)]; this is a recording of runqlat$" report --class lock q.bpfprof
refuses "--merge-threads is for recordings of stacks; this is a recording of runqlat" report --merge-threads q.bpfprof
refuses "x.svg: a recording of runqlat has no such form; use one of .json .csv .bpfprof .txt$" report -o x.svg q.bpfprof
refuses "one of .json .csv .bpfprof .txt" report -o x.svg q.bpfprof

"$GEN/gen_stat" json hotspots=4 >s.bpfprof
for form in "text" "json --json" "csv --csv" "md --report=md"; do
	"$GEN/gen_stat" "${form%% *}" hotspots=4 >s.out
	# shellcheck disable=SC2046
	prints s.out report $([ "$form" = text ] || echo "${form#* }") s.bpfprof
done
check "files of stat" "$BPFPROF" report -o x.bpfprof -o x.json -o x.md s.bpfprof
check "are the same" cmp x.bpfprof s.bpfprof
check "as JSON too" cmp x.json s.bpfprof
check "as Markdown too" cmp x.md s.out
"$GEN/gen_stat" json threads=3 >threads.json
refuses "does not go with rows of threads" report --report md threads.json
refuses "does not go with rows of threads" report -o not.md threads.json
check "no file" test ! -e not.md
refuses "a result of stat cannot be shown by -f [(]use --json, --csv, --report or -s[)]$" report -f s.bpfprof
refuses "a result of stat cannot be shown by --table" report --table s.bpfprof
refuses "cannot be shown by --table [(]use" report --table --json s.bpfprof
refuses "-m is for recordings of runqlat, and of calls with --latency; this is a result of stat" report -m s.bpfprof
refuses "does not go with -I" stat -I 100 -o not.bpfprof 1

cp s.bpfprof a.json
"$GEN/gen_stat" json hotspots=4 time=1.1 | tee b.json >b.bpfprof
"$BPFPROF" diff --json a.json b.json | sed 's/\.json/.bpfprof/' >d.json
cp s.bpfprof a.bpfprof
prints d.json diff --json a.bpfprof b.bpfprof
check "a profile of stacks" "$GEN/gen_profile" small small.bpfprof
refuses "a.bpfprof is a result of stat, small.bpfprof is not: they do not compare" diff a.bpfprof small.bpfprof
refuses "it has no stacks to compare" diff q.bpfprof q.bpfprof

# Damaged ones.
head -c 300 q.bpfprof >short.bpfprof
check_status 1 "truncated" "$BPFPROF" report short.bpfprof
check_grep truncated "$ERR"
head -c 300 s.bpfprof >short.json
check_status 1 "truncated JSON" "$BPFPROF" report short.json
check_grep truncated "$ERR"
echo '{"format": "bpfprof-profile", "version": 1}' >other.json
check_status 1 "other JSON" "$BPFPROF" report other.json
check_grep "is no result of 'bpfprof stat" "$ERR"
finish

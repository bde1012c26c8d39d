#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What a recording has nothing for is said in one sentence, with the status of that, and costs nothing else.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
GEN=${PROGS%/progs}/e2e
cd "$TMP" || exit 1

told() { # STATUS PATTERN ARGS...
	local status=$1 pattern=$2

	shift 2
	check_status "$status" "told: bpfprof $*" "$BPFPROF" "$@"
	check_grep "$pattern" "$ERR"
	check_near "$(wc -l <"$ERR")" 1 0 "lines on stderr"
	check_near "$(wc -c <"$OUT")" 0 0 "bytes on stdout"
}

check "samples" "$GEN/gen_profile" small small.bpfprof
check "waits" "$GEN/gen_profile" offcpu waits.bpfprof
check "calls" "$GEN/gen_calls" polls calls.bpfprof
echo x >x.txt

told 2 '^bpfprof: --by class is for recordings of waits ' diff --by class small.bpfprof small.bpfprof
check "classes of waits compare" "$BPFPROF" diff --by class waits.bpfprof waits.bpfprof
check "calls without stacks compare by name" "$BPFPROF" diff -s calls.bpfprof calls.bpfprof
check_grep '^No function changed by more than noise[.]$' "$OUT"
check_grep '%  *[+]0[.]00 .* app::slow$' "$OUT"

told 1 '^bpfprof: -o x[.]afdo[.]txt: .*lines functions of .* begin' report -o x.html -o x.afdo.txt -o x.svg small.bpfprof
check "the other files are written" test -s x.html -a -s x.svg -a ! -e x.afdo.txt
told 2 '^bpfprof: -o y[.]afdo[.]txt: ' report -o y.afdo.txt small.bpfprof

told 1 '^bpfprof: cannot read nosuch: No such file' diff small.bpfprof nosuch
told 1 '^bpfprof: cannot read nosuch: No such file' diff nosuch small.bpfprof
told 2 '^bpfprof: x[.]txt is neither a recording nor a result of stat' diff small.bpfprof x.txt
told 2 "'vs' stands once" diff small.bpfprof vs small.bpfprof vs small.bpfprof

told 3 "^bpfprof: no stack matches --focus 'nosuch'" report --focus nosuch small.bpfprof
told 3 "^bpfprof: no stack matches --focus 'nosuch'" report --focus nosuch -o z.html small.bpfprof
check "no empty graph" test ! -e z.html
told 3 "^bpfprof: --ignore '[.]' matches all stacks" report --ignore . small.bpfprof
told 3 "^bpfprof: no stack matches --focus 'nosuch'" diff --focus nosuch --fail-above 5 small.bpfprof small.bpfprof

told 2 '^bpfprof: -o x[.]csv: .*--csv prints the table' report -o x.csv small.bpfprof
check "rows of CSV" "$BPFPROF" report --csv --rows 2 small.bpfprof
check_near "$(wc -l <"$OUT")" 3 0 "lines"
check "rows in a pipe are of the summary" "$BPFPROF" report --rows 2 small.bpfprof
check_grep '^… [0-9]+ more functions$' "$OUT"
for pair in "dso module" "comm thread" "symbol function"; do
	check "--by ${pair#* }" "$BPFPROF" report --by "${pair#* }" small.bpfprof
	cp "$OUT" ours
	check "--by ${pair% *}" "$BPFPROF" report --by "${pair% *}" small.bpfprof
	cp "$OUT" theirs
	check "is the same" cmp ours theirs
done
check "--by class" "$BPFPROF" report --by class waits.bpfprof
cp "$OUT" ours
check "--sort class" "$BPFPROF" report --sort class waits.bpfprof
cp "$OUT" theirs
check "is the same" cmp ours theirs

{
	echo start_s,name,value
	at=0
	for value in 100 101 99 100 101 148 149 147 148; do
		echo "$((at += 86400)),time,$value"
	done
} >h.csv
check_status 4 "a new step" "$BPFPROF" history --fail-on 'time>5%' h.csv
check "not to the good" "$BPFPROF" history --fail-on 'time<-5%' h.csv
head -4 h.csv >short.csv
check "too few runs" "$BPFPROF" history --fail-on 'time>5%' short.csv
check_grep '1 --fail-on rule judged nothing: there are fewer than 5 runs' "$ERR"
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Tables keep to the width of the terminal and always have the function; colour is for terminals, and never in a file.
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need python3
GEN=${PROGS%/progs}/e2e
for gen in gen_profile gen_pmu gen_runqlat gen_stat gen_timeline; do
	[ -x "$GEN/$gen" ] || lacks "$GEN/$gen is not built"
done
cd "$TMP" || exit 1

# The rows of the table whose heading matches, up to an empty line or a sentence.
table() { # PATTERN
	awk -v head="$1" '$0 ~ head { inside = 1 } !length || / of it in / { inside = 0 } inside' "$OUT"
}
fits() { # WIDTH HEAD COLUMN ARGS...: the table is there, has the column, and no line of it is longer
	local width=$1 head=$2 column=$3

	shift 3
	check "$width columns: bpfprof $*" on_terminal "$width" 50 env NO_COLOR=1 "$BPFPROF" "$@"
	table "$head" >shown
	check_grep "$column" shown "$column is there"
	check "no line is longer" python3 -c 'import sys
for line in open("shown"):
    assert len(line) <= int(sys.argv[1]) + 1 and line == line.rstrip() + "\n", line' "$width"
}

for kind in 400 broken offcpu wall; do
	check "a profile, $kind" "$GEN/gen_profile" $kind $kind.bpfprof
done
check "a profile of several events" "$GEN/gen_pmu" pmu.bpfprof
check "a recording of runqlat" "$GEN/gen_runqlat" thread threads.bpfprof
check "a timeline" "$GEN/gen_timeline" timeline timeline.bpfprof
check "its sums" "$GEN/gen_runqlat" all all.bpfprof
"$GEN/gen_stat" json >a.json
"$GEN/gen_stat" json time=1.1 >b.json

for width in 60 120 ${NIGHTLY:+80 200}; do # by day two widths
	fits "$width" 'SELF.*TOTAL' FUNCTION report -s 400.bpfprof
	fits "$width" 'SELF.*TOTAL' FUNCTION report -s offcpu.bpfprof
	fits "$width" 'CLASS.*TIME' lock report -s offcpu.bpfprof
	fits "$width" 'CLASS.*TIME' P99 report -s wall.bpfprof
	fits "$width" 'SHARE.*WAITS' P99 report --by thread wall.bpfprof
	fits "$width" 'cycles.*FUNCTION' cycles report -s pmu.bpfprof
	fits "$width" '^PROCESS' ON-CPU report --table wall.bpfprof
	fits "$width" 'STOPPED' WHY report --broken broken.bpfprof
	fits "$width" 'TID.*COUNT' NAME report threads.bpfprof
	fits "$width" 'TIME.*THREAD' 'RUN ms' report timeline.bpfprof
	fits "$width" '^NAME +.*RUNTIME' 'MAX DELAY' report --table timeline.bpfprof
	fits "$width" 'A +B +CHANGE' CHANGE diff a.json b.json
	fits "$width" '^NAME' STATE list
	fits "$width" '^GROUP' FOUND doctor report
	fits "$width" '^topdown' investigate report a.json
	fits "$width" '^events' 'cpu_cycles .*G/s' report a.json
	fits "$width" '^ +usecs' ' 4 +[|][*]+[|]$' report all.bpfprof
done
check "the table of times on 60 columns" on_terminal 60 50 "$BPFPROF" report --table --color never wall.bpfprof
check_grep '^… [0-9]+ more columns \(--json has all\)$' "$OUT" "says that columns are left out"
check "in a pipe" "$BPFPROF" report --table wall.bpfprof
check_grep 'RESIDUAL us +%$' "$OUT" "none is left out"
check "idle threads of the kernel come last" test "$(grep -n '^kworker' "$OUT" | cut -d : -f 1)" -eq \
	$(($(wc -l <"$OUT") - 1))

ESC=$'\x1b'
coloured() { # YES|NO WHAT COMMAND...
	check "$2" "${@:3}"
	if [ "$1" = yes ]; then
		check_grep "$ESC\[1m" "$OUT" "has colour"
	else
		check_no_grep "$ESC" "$OUT" "has no colour"
	fi
}
tty=(on_terminal 80 50 env -u NO_COLOR TERM=xterm)
report=("$BPFPROF" report -s offcpu.bpfprof)
coloured yes "a terminal" "${tty[@]}" "${report[@]}"
check_grep "^$ESC\[31m +10 LOST" "$OUT" "what was lost is red"
coloured yes "NO_COLOR that is empty" "${tty[@]}" NO_COLOR= "${report[@]}"
coloured no "NO_COLOR" "${tty[@]}" NO_COLOR=1 "${report[@]}"
coloured no "a dumb terminal" "${tty[@]}" TERM=dumb "${report[@]}"
coloured no "never" "${tty[@]}" "${report[@]}" --color=never
coloured no "a pipe" "${report[@]}"
coloured yes "a pipe that wants it" "${report[@]}" --color always
coloured yes "so do others" "$BPFPROF" list --color always
coloured no "a file beside it" "$BPFPROF" report -f -o x.txt --color always offcpu.bpfprof
check_no_grep "$ESC" x.txt "the file has none"
check_status 2 "a choice that there is not" "$BPFPROF" report --color=nevr offcpu.bpfprof
check_grep "did you mean 'never'" "$ERR"
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# timeout: 300
# Real recordings of several kinds: tables by every key, trees both ways, CSV, JSON, folded stacks, pprof, speedscope,
# Firefox, HTML, SVG and lines add up to one total each. By day fewer kinds.
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3
need_prog waits_lengths
cd "$TMP" || exit 1

views() { # FILE OPTION...: into a folder
	local file=$1 form key out=()

	shift
	rm -rf views
	mkdir views || return
	for form in folded html svg json speedscope.json firefox.json pb.gz; do
		out+=(-o "views/x.$form")
	done
	"$BPFPROF" report "$@" "${out[@]}" "$file" || return
	for key in function module thread process class file line; do
		[ "$key" != class ] || [ "${file%-*}" = waits ] || continue
		"$BPFPROF" report "$@" --by "$key" --json "$file" >"views/by-$key.json" &&
			"$BPFPROF" report "$@" --by "$key" --csv "$file" >"views/by-$key.csv" || return
	done
	"$BPFPROF" report "$@" --tree --json "$file" >views/tree.json &&
		"$BPFPROF" report "$@" --bottom-up --json "$file" >views/up.json &&
		"$BPFPROF" annotate --file-lines --rows 1000000 --json "$file" >views/lines.json
}

agree() { # FILE [EVENT]
	check "$*: its views" views "$1" ${2:+--value "$2"}
	check "$*: add up to the same" python3 "$ROOT/tests/e2e/totals.py" views ${2:+"$2"}
}

# What there is to see: running, waiting, many short processes.
start bash -c 'while :; do
	/bin/true
	sleep 0.01
	python3 -c "print(sum(range(100000)))" >/dev/null
done'
start "$PROGS/waits_lengths" 100

check "oncpu" "$BPFPROF" oncpu -F 499 -o cpu.bpfprof 2
agree cpu.bpfprof
for what in $(by_day offcpu "offcpu wall wakeup"); do
	check "$what" "$BPFPROF" "$what" -o "waits-$what.bpfprof" 2
	agree "waits-$what.bpfprof"
done
check "pmu" "$BPFPROF" pmu -e page-faults,context-switches -c 1 -o events.bpfprof 2
[ -z "${NIGHTLY:-}" ] || agree events.bpfprof page-faults
agree events.bpfprof context-switches
if [ -n "${NIGHTLY:-}" ]; then
	check "with tables that are full" "$BPFPROF" offcpu --max-stacks 16 -o waits-lost.bpfprof 1
	agree waits-lost.bpfprof
fi
check "of samples in tables that are full" "$BPFPROF" oncpu -F 999 --max-stacks 16 -o lost.bpfprof 1
agree lost.bpfprof
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A thousand threads that come and go are there with their names, also in a table with less room, since rows of those
# that are gone are used again. What finds no row is counted as lost, and the sums still are what was counted.
# shellcheck source=lib.sh disable=SC2119
. "${0%/*}/lib.sh"
need_bpf
need_prog accounts_work
# shellcheck source=accounts.sh
. "${0%/*}/accounts.sh"

# Room for the threads that live now, and some.
live=$(cut -d ' ' -f 4 /proc/loadavg | cut -d / -f 2)
names() {
	awk '$1 == "row" && $NF ~ /^worker-/ { print $NF }' "$ROWS" | sort -u | wc -l
}

count "threads that come and go" "$EVENTS" "$PROGS/accounts_work" 1000
check_near "$(names)" 1000 0 "threads by name"
check_near "$(nr_rows 'worker-[0-9]+')" 1000 0 "and each once"
check_near "$(value lost)" 0 0 "switches without a row"
check_closes

count "in less room" -m 2 -r $((live + 512)) "$EVENTS" "$PROGS/accounts_work" 2000
check_near "$(names)" 2000 0 "threads by name"
check_near "$(value lost)" 0 0 "switches without a row"
check_closes

# On a CPU without counters there is nothing to tell of them, but their rows must not stay.
if [ "$(nproc)" -ge 2 ]; then
	count "on another CPU" -c 0 -m 2 -r $((live + 512)) "$EVENTS" taskset -c 1 "$PROGS/accounts_work" 2000
	check_near "$(names)" 0 0 "threads by name"
	check_near "$(value lost)" 0 0 "switches without a row"
	check_closes
fi

count "without room" -m 0 -r 16 "$EVENTS" "$PROGS/accounts_work" 200
check "some threads have a row" [ "$(grep -c '^row' "$ROWS")" -ge 10 ]
# The flush at the end makes room once more.
check "no more than fit" [ "$(grep -c '^row' "$ROWS")" -le 32 ]
check "switches without a row are counted: $(value lost)" [ "$(value lost)" -ge 150 ]
check "and what was counted meanwhile: $(value lost 4) page faults" [ "$(value lost 4)" -ge 1500 ]
check_closes
finish

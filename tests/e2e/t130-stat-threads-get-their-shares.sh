#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Threads of known work get their shares of every counter, and all rows together are what the counters counted.
# alone: it judges times
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need_prog accounts_work
# shellcheck source=accounts.sh
. "${0%/*}/accounts.sh"

count "threads are counted" "$EVENTS" "$PROGS/accounts_work" 3 2
check_near "$(nr_rows 'work-[0-9]+')" 3 0 "rows of the threads"
for share in 50 30 20; do
	check_near "$(rows tid "work-$share")" "$(truth "work-$share" 3)" 0 "work-$share: number of the thread"
	check_cpu_time "work-$share" "work-$share"
	check_near "$(pct "$(rows time "work-$share")" "$(rows v1 "work-$share")")" 100 1 "work-$share: time on a CPU"
	# Its first steps and its last fault too.
	check_near "$(($(rows v2 "work-$share") - $(truth "work-$share" 5)))" 30 30 "work-$share: page faults besides its own"
	check "work-$share: each nap is a switch" [ "$(rows switches "work-$share")" -ge $((share * 2)) ]
	check_near "$(pct "$(rows v2 "work-$share")" "$(rows v2 'work-[0-9]+')")" $share 2 "work-$share: share of page faults"
	[ -z "$HARDWARE" ] || check_near "$(pct "$(rows v5 "work-$share")" "$(rows v5 'work-[0-9]+')")" $share 1 \
		"work-$share: share of instructions"
done
# The end of a switch is counted for who comes.
check_near "$(pct "$(rows v3 '.*')" "$(rows switches '.*')")" 100 5 "switches that were counted, of those we saw, percent"
check_closes
check_near "$(value missed)" 0 0 "switches that were not told"
check_near "$(value lost)" 0 0 "switches without a row"

# They begin before the accounts do, by up to 10 ms where memory that was idle is far away.
count "counters that go on all the time" -o "$EVENTS" "$PROGS/accounts_work" 3 16
check_closes 2
count "counters that are replaced" -a "$EVENTS" "$PROGS/accounts_work" 3 4
check_closes
finish

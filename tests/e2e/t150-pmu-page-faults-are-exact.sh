#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Every page fault is a sample, in the function that touched the page: so many as there were, not one more or less.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need_prog faulter

of() { # FUNCTION: weight of the stacks that end in it, in $OUT
	awk -v leaf="$1" '{ n = split($0, f, /[; ]/) } f[n - 1] == leaf { sum += $NF } END { print sum + 0 }' "$OUT"
}
faults() { # ARGS... -- PAGES ROUNDS: stacks in $OUT, what the program printed is taken out
	local args=()

	while [ "$1" != -- ]; do
		args+=("$1")
		shift
	done
	shift
	check "pmu ${args[*]}" "$BPFPROF" pmu "${args[@]}" -U -o "$TMP/x.folded" -o "$TMP/x.json" -o "$TMP/x.bpfprof" \
		-- "$PROGS/faulter" "$@"
	cp "$TMP/x.folded" "$OUT"
}

faults -e page-faults -- 5000 4
check_near "$(of touch_pages)" 20000 0 "faults in touch_pages"
check_near "$(of touch_twice)" 5000 0 "faults in touch_twice"
check_near "$(json "$TMP/x.json" unit | grep -cx page-faults)" 1 0 "the unit is the event"
check_near "$(json "$TMP/x.json" samples lost)" 0 0 "lost"
check_grep '"period": 1,' "$TMP/x.json"
check_folded "$OUT"

check "report" "$BPFPROF" report -f "$TMP/x.bpfprof"
check_near "$(of touch_pages)" 20000 0 "faults in touch_pages, as they were saved"

faults -e minor-faults --call-graph fp -- 3000 1
check_near "$(of touch_pages)" 3000 0 "minor faults in touch_pages"

# Every 100th fault on a CPU, of whatever process, stands for 100: where stretches of faults begin and end, one may be too
# many or too few.
faults -e page-faults -c 100 -- 5000 4
check_near "$(of touch_pages)" 20000 $((100 * ($(nproc) + 3))) "faults in touch_pages, by every 100th"
recorded=$(json "$TMP/x.json" samples recorded)
check_near "$(json "$TMP/x.json" samples period_sum)" $((100 * recorded)) 0 "periods add up"

faults -e page-faults:u -- 2000 1
check_near "$(of touch_pages)" 2000 0 "faults in touch_pages, of user code only"
finish

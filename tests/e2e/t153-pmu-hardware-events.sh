#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# With a hardware counter: cycles by rate and by period, beside events of the kernel; the periods add up to what was
# counted, and what is not precise says so. Where instructions are counted, IPC is what the emulator makes it.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need_prog count spin_abc faulter
has_pmu || skip "no hardware counters here"

shares() { # FOLDED
	check_pct "$1" spin_a 50 10
	check_pct "$1" spin_b 30 10
	check_pct "$1" spin_c 20 10
}

check "cycles by default" "$BPFPROF" pmu -F 199 -U -o "$TMP/x.json" -o "$TMP/x.folded" -- "$PROGS/count" "$PROGS/spin_abc" 2.5
shares "$TMP/x.folded"
counted=$(awk '$1 == "cycles" { print $2 }' "$ERR")
check_near "$(folded_sum "$TMP/x.folded")" "$counted" $((counted / 20)) "weights add up to the cycles counted"
check_near "$(json "$TMP/x.json" unit | grep -cx cycles)" 1 0 "the unit is cycles"
check_grep '"note": "skid possible' "$TMP/x.json" "what is not precise says so"

# No round number: 10 ms is what timers go by, bpfprof's among them, and samples would fall on the same work each time.
check "every so many cycles" "$BPFPROF" pmu -e cycles -c 9973001 -U -s -o "$TMP/x.json" -o "$TMP/x.folded" -- \
	"$PROGS/count" "$PROGS/spin_abc" 2.5
shares "$TMP/x.folded"
counted=$(awk '$1 == "cycles" { print $2 }' "$ERR")
check_near "$(folded_sum "$TMP/x.folded")" "$counted" $((counted / 20)) "weights add up to the cycles counted"
check_near "$(json "$TMP/x.json" samples period_sum)" "$(($(json "$TMP/x.json" samples recorded) * 9973001))" 0 \
	"each sample is its period"
check_grep 'cycles every 9,973,001 on' "$OUT" "the summary says so"

# Arm's driver takes any precision and samples as ever; elsewhere it depends on the PMU.
for how in "--precise -e cycles" "-e cycles:p"; do
	[ "$(uname -m)" = aarch64 ] || continue
	# shellcheck disable=SC2086
	check "$how" "$BPFPROF" pmu $how -U -o "$TMP/x.json" -- "$PROGS/spin_abc" 0.5
	check_grep '"note": "skid possible' "$TMP/x.json" "and it is said that it is not"
done

check "two kinds of events" "$BPFPROF" pmu -e cycles,page-faults -U -o "$TMP/x.json" -o "$TMP/x.folded" -- "$PROGS/faulter" 2000 20
check_near "$(python3 -c 'import json, sys
for f in json.load(open(sys.argv[1]))["functions"]:
    if f["name"] == "touch_pages": print(f["self"]["page-faults"])' "$TMP/x.json")" 40000 0 "page faults in touch_pages"

if grep -qx inst_retired <(cd /sys/bus/event_source/devices/armv8*/events && printf '%s\n' *); then
	check "IPC" "$BPFPROF" pmu -e cycles -F 199 -M ipc -U -s -o "$TMP/x.json" -- "$PROGS/spin_abc" 2
	check_grep '^ *cycles +IPC +FUNCTION' "$OUT"
	ipc() { # FUNCTION WHAT
		python3 -c 'import json, sys
for f in json.load(open(sys.argv[1]))["functions"]:
    if f["name"] == sys.argv[2]: print(f["columns"]["IPC"][sys.argv[3]])' "$TMP/x.json" "$@"
	}
	for function in spin_a spin_b spin_c; do
		check_near "$(ipc $function value)" "$(awk 'BEGIN { print 1 / 4 }')" 0.0125 "IPC of $function"
		check_near "$(ipc $function coverage_pct)" 100 1 "coverage of $function"
	done
fi
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What was seen is compared with what the kernel's clock and counts promise: on a busy machine nothing is missing, what
# small tables lose makes --strict fail and is named, and saved files say the same. By day fewer commands.
# alone: it needs the CPUs for itself
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=waits.sh
. "${0%/*}/waits.sh"
need_bpf
need_prog faulter many_stacks spin_abc waits_switcher

expected() { json "$TMP/x.json" samples expected "$@"; }

strict() { # STATUS ARGUMENTS...
	local status=$1

	shift
	run "$BPFPROF" "$@"
	check_is "$STATUS" "$status" "exit status of $*,"
}

for _ in 1 2 3 4; do
	start "$PROGS/spin_abc" 60
done
commands=("oncpu -e cpu-clock -F 999" offcpu wall)
[ -z "${NIGHTLY:-}" ] || commands+=("oncpu -e cpu-clock -F 99" "pmu -e cpu-clock -c 5000000")
for command in "${commands[@]}"; do
	limit=0.5
	# shellcheck disable=SC2086
	strict 0 $command --strict $limit -o "$TMP/x.bpfprof" -o "$TMP/x.json" -o "$TMP/x.txt" 1
	check_between "$(expected least)" 1 "$(expected most)" "least of ${command}"
	check_between "$(expected difference_pct)" -$limit $limit "% of difference, $command"
	check_grep "^expected  [0-9,]+( to [0-9,]+)? .* counted: " "$TMP/x.txt"
	before=$(expected)
	"$BPFPROF" report "$TMP/x.bpfprof" --json >"$TMP/x.json"
	check_is "$(expected)" "$before" "saved"
done
strict 0 runqlat --strict 2 1 1

# A ring that is too small for what was asked for has lost it.
start "$PROGS/waits_switcher" 60
switcher=$PID
for command in timeline ${NIGHTLY:+sched}; do
	strict 0 "$command" --strict 2 --ring 64 -o "$TMP/x.json" -o "$TMP/x.txt" 0.5
	check_between "$(json "$TMP/x.json" ledger expected least)" 100 "$(json "$TMP/x.json" ledger expected most)" "switches, $command"
	check_between "$(json "$TMP/x.json" ledger expected difference_pct)" -2 2 "% of difference, $command"
	check_grep "^expected  [0-9,]+( to [0-9,]+)? switches, [0-9,]+ counted: " "$TMP/x.txt"
	strict 1 "$command" --strict 2 --ring 1 -o "$TMP/x.txt" 1
	check_grep "bpfprof: --strict 2: [0-9.]+ % of what was expected is lost or missing" "$ERR"
done
stop "$switcher"

# By another reader: around all of it the kernel counts at least as many switches.
switches() { awk '/^ctxt/ { print $2 }' /proc/stat; }
for command in offcpu wakeup; do
	from=$(switches)
	run "$BPFPROF" "$command" -o "$TMP/x.json" 1
	to=$(switches)
	least=$(expected least)
	check_between "$(expected most)" "$least" $((to - from)) "switches, $command"
	check_between "$(expected seen)" $((least - least / 200)) $((to - from)) "seen, $command"
done

# A program that knows its page faults, and what the kernel counts of all.
faults() { awk '/^pgfault / { print $2 }' /proc/vmstat; }
from=$(faults)
strict 0 faults --strict 0.5 -o "$TMP/x.json" -o "$TMP/x.txt" -- "$PROGS/faulter" 1000 20
to=$(faults)
check_between "$(ledger "$TMP/x.json" recorded)" 21000 22500 "faults, of 21,000 and the begin of a program"
check_between "$(expected least)" 21000 $((to - from)) "faults of the machine"
check_between "$(expected most)" "$(expected least)" $((to - from)) "and at most"
check_between "$(expected seen)" "$(($(expected least) * 199 / 200))" "$(($(expected most) * 201 / 200))" "faults seen"
check_grep "^expected  [0-9,]+( to [0-9,]+)? samples, [0-9,]+ counted: " "$TMP/x.txt"

# Of these there is no such count.
run "$BPFPROF" syscalls -o "$TMP/x.json" -- "$PROGS/faulter" 1 1
check_is "$(json "$TMP/x.json" samples expected)" None "expected of system calls"

strict 1 oncpu -e cpu-clock --strict 0.5 --call-graph fp -U -F 4999 --max-stacks 16 -o "$TMP/x.txt" 1 -- \
	"$PROGS/many_stacks" 3 28
check_grep "bpfprof: --strict 0.5: [0-9.]+ % of what was expected is lost or missing \\([0-9,]+ lost, " "$ERR"
check_grep "LOST: stack table full" "$TMP/x.txt"

# A timeline has wake-ups besides, which nobody else counts: what is overwritten of all is no more than all.
start "$PROGS/waits_switcher" 100
run "$BPFPROF" timeline --ring 1 --strict 0.5 -p "$PID" -o "$TMP/x.json" 2
check_is "$STATUS" 1 "exit status of timeline, most of it overwritten,"
check_between "$(sed -n 's/^bpfprof: --strict 0.5: \([0-9.]*\) % of what.*/\1/p' "$ERR")" 20 100 "% of it is lost"
stop "$PID"

# Those with outputs of their own, and those of which nobody else counts anything.
for command in ${NIGHTLY:+wakeup faults} syscalls; do
	strict 1 "$command" --strict 0.5 --max-stacks 16 -o "$TMP/x.txt" -d 1.5 -- "$PROGS/many_stacks" 2 28
	check_grep "bpfprof: --strict 0.5: [0-9.]+ % of what was expected is lost or missing" "$ERR"
done
strict 0 faults --strict 2 -o "$TMP/x.txt" -d 1.5 -- "$PROGS/many_stacks" 2 28

mistake 2 "--strict" oncpu --strict much 1
mistake 2 "--strict" oncpu --strict 101 1
finish

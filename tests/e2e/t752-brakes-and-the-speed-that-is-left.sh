#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# From next to nothing to as many switches as two CPUs can do, and 20,000 samples a second asked for: what programs that do
# nothing but switch keep of the speed that they have alone, two seconds later, by their own CPU time. The median of rounds, in
# each of which one run follows the other. 90 % is what we want; 89 to 92 with offcpu, and 73 to 79 with wall, which has a
# program at wake-ups, were measured beside other load.
# alone: it judges times
# timeout: 900
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=waits.sh
. "${0%/*}/waits.sh"
need_bpf
need taskset
need_nightly
need_prog waits_switcher
[ -z "${IN_GUEST:-}" ] || skip "needs real time"
unset BPFPROF_MAX_OVERHEAD

mapfile -t cpus < <(taskset -cp $$ | sed 's/.*: //' | tr , '\n' | awk -F- '{ for (i = $1; i <= ($2 == "" ? $1 : $2); i++) print i }')
[ ${#cpus[@]} -ge 2 ] || skip "needs two CPUs"

ops() { # SECONDS: of a pair on each of two CPUs, for a second of CPU time
	taskset -c "${cpus[0]}" "$PROGS/waits_switcher" "$1" >"$TMP/one" &
	local one=$!

	taskset -c "${cpus[1]}" "$PROGS/waits_switcher" "$1" >"$TMP/two"
	wait "$one"
	awk '$1 == "ops_per_cpu_s" { s += $2 } $1 == "ops_per_s" { n += 2 * $2 } END { printf "%.0f %.0f\n", s, n }' "$TMP/one" "$TMP/two"
}
under() { # COMMAND OPTIONS...
	start_bpfprof "$@" -o "$TMP/x.json" 60
	sleep 1
	ops 2.2 >"$TMP/step"
	ops 2.5 >"$TMP/beside"
	stop "$PID" INT
	check_ledger_closes "$TMP/x.json"
}
for ((round = 0; round < 5; round++)); do
	for how in "offcpu" "wall" "oncpu -F 20000"; do
		ops 2.5 >"$TMP/alone"
		# shellcheck disable=SC2086
		under $how
		read -r alone switches <"$TMP/alone"
		awk -v a="$alone" '{ printf "%.1f\n", 100 * $1 / a }' "$TMP/beside" >>"$TMP/${how%% *}"
	done
done
declare -A least=([offcpu]=80 [wall]=65 [oncpu]=90)
for how in offcpu wall oncpu; do
	kept=$(sort -n "$TMP/$how" | sed -n 3p)
	echo "# figure: brake/$how $(uname -m) $(uname -r | cut -d . -f 1,2) $kept % ($(sort -n "$TMP/$how" | tr '\n' ' ')), $switches switches/s alone"
	check_between "$kept" "${least[$how]}" 130 "% of the speed is kept, $how"
done
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Several bpfprofs record at once, beside perf and bpftrace where these are there: what each says is what it says alone,
# nothing is missing, each keeps to its own budget, and none counts the others' time as its own.
# alone: it judges times
# timeout: 120
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=waits.sh
. "${0%/*}/waits.sh"
need_bpf
need_prog spin_abc waits_sleeper
cd "$TMP" || exit 1
start "$PROGS/spin_abc" 300
spin=$PID

# Peers that cannot record here are none.
beside=()
peer() { # NAME COMMAND...
	local name=$1

	shift
	! command -v "$1" >/dev/null || {
		"$@" >"$name.log" 2>&1 &
		pids+=($!)
		beside+=("$name $!")
	}
}
peer perf perf record -e cpu-clock -F 99 -a -g -o perf.data -- sleep 8
peer bpftrace bpftrace -e 'profile:hz:99 { @[kstack] = count(); } tracepoint:sched:sched_switch { @s = count(); } interval:s:8 { exit(); }'
echo "# beside: ${beside[*]:-none}"
sleep 1

others=()
other() { # NAME COMMAND...
	local name=$1

	shift
	"$BPFPROF" "$@" -o "$name.json" >"$name.log" 2>&1 &
	others+=("$name $!")
	pids+=($!)
}
# Of some hundred samples of one program that others preempt, how many there are is known to some percent only.
other a oncpu -p "$spin" -e cpu-clock -F 199 -o a.folded --strict 8 -d 6
other b oncpu -e cpu-clock -F 499 -o b.folded --strict 1 -d 6
other c oncpu -p "$spin" -e cpu-clock -F 99 --call-graph fp -o c.folded --strict 8 -d 6
other d wall -p "$spin" -d 6
other e runqlat --strict 2 -d 6 # some switches are not reported, here or elsewhere
sleep 1
record offcpu -- "$PROGS/waits_sleeper" often 200 10000
check_truth nap_often
for other in "${others[@]}"; do
	read -r name pid <<<"$other"
	wait_for "$pid"
	check_is "$STATUS" 0 "exit status of $name"
	[ "$STATUS" -eq 0 ] || sed 's/^/# /' "$name.log"
	check_ledger_closes "$name.json"
	[ "$name" = e ] && continue
	check_near "$(ledger "$name.json" lost)" 0 0 "$name: lost"
	check_near "$(json "$name.json" cost over_budget_s | awk '{ printf "%d", $1 }')" 0 2 "$name: s above its budget"
done
# Within four standard deviations of that many samples.
check_share() { # FUNCTION PCT
	check_pct spin.folded "$1" "$2" "$(awk -v p="$2" -v n="$(folded_sum spin.folded)" 'BEGIN { printf "%.1f", 400 * sqrt(p / 100 * (1 - p / 100) / n) }')"
}
for name in a b c; do
	grep '^spin_abc;' "$name.folded" >spin.folded
	check_share spin_a 50
	check_share spin_b 30
	check_share spin_c 20
done
for peer in "${beside[@]}"; do
	read -r name pid <<<"$peer"
	wait_for "$pid"
	echo "# $name: exit status $STATUS: $(tail -n 1 "$name.log" | cut -c 1-100)"
done
finish

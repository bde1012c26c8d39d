#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Several bpfprofs record at once, beside perf and bpftrace where these are there: what each says is what it says alone,
# nothing is missing, and none counts the others' time as its own. With budgets (the first part has none, so that all of it is
# counted), two that would cost more together keep each to its own, and together to both: programs and interrupts.
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
peer bpftrace bpftrace -e "profile:hz:99 /pid == $spin/ { @[usym(reg(\"ip\"))] = count(); } tracepoint:sched:sched_switch { @s = count(); } interval:s:8 { exit(); }"
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
"$BPFPROF" agent --keep "$TMP/keep" -i 2 -F 99 -p "$spin" -d 6 >agent.log 2>&1 &
agent="agent $!"
pids+=($!)
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
# The agent's windows have all time of the thread; of that, samples of running code have the shares.
read -r name pid <<<"$agent"
wait_for "$pid"
check_is "$STATUS" 0 "exit status of the agent"
check "its windows" "$BPFPROF" report "$TMP/keep" -o agent.folded
grep '^spin_abc;' agent.folded >spin.folded
for function in "spin_a 50" "spin_b 30" "spin_c 20"; do
	read -r name pct <<<"$function"
	check_pct spin.folded "$name" "$pct" 12
done

# What the peers say: of their own samples of the program, as many in each function, within four standard deviations.
peer_says() { # NAME: of lines "FUNCTION COUNT" on standard input
	awk -v name="$1" '$1 ~ /^spin_[abc]$/ { n[$1] += $2; all += $2 }
		END {
			pct["spin_a"] = 50; pct["spin_b"] = 30; pct["spin_c"] = 20
			bad = all < 50
			for (f in pct) {
				may = 400 * sqrt(pct[f] / 100 * (1 - pct[f] / 100) / (all ? all : 1))
				got = all ? 100 * n[f] / all : 0
				bad = bad || got - pct[f] > may || pct[f] - got > may
				printf "# %s: %s %.1f %% of %d, expected %d +- %.1f\n", name, f, got, all, pct[f], may
			}
			exit bad
		}'
}
for peer in "${beside[@]}"; do
	read -r name pid <<<"$peer"
	wait_for "$pid"
	check_is "$STATUS" 0 "exit status of $name"
	case $name in
	perf) perf script -i perf.data --comm spin_abc -G -F ip,sym 2>/dev/null | awk '{ print $2, 1 }' >"$name.counts" ;;
	bpftrace) sed -n 's/^@\[\(spin_[abc]\)\]: \([0-9]*\)$/\1 \2/p' bpftrace.log >"$name.counts" ;;
	esac
	if peer_says "$name" <"$name.counts"; then pass "$name has the shares that it has alone"; else fail "$name has other shares"; fi
done

# --- budgets ---

share_pct() { # FILE.json: what it says it cost, of the CPUs
	echo "$(json "$1" cost bpf_share_of_cpus) $(json "$1" cost interrupts_share_of_cpus)" | awk '{ printf "%.3f", 100 * ($1 + $2) }'
}
others=()
other f oncpu -e cpu-clock -F 3999 --max-overhead 1 -d 8 # which would cost 4 to 6 %
other g oncpu -e cpu-clock -F 2999 --max-overhead 1 -d 8
sum=0
for other in "${others[@]}"; do
	read -r name pid <<<"$other"
	wait_for "$pid"
	check_is "$STATUS" 0 "exit status of $name"
	pct=$(share_pct "$name.json")
	echo "# figure: $name took $pct % of the CPUs, $(json "$name.json" cost over_budget_s) s above its 1 %"
	check_between "$pct" 0.01 1.25 "% of the CPUs, $name, which may be above it for a while"
	sum=$(awk -v a="$sum" -v b="$pct" 'BEGIN { print a + b }')
done
check_between "$sum" 0.2 2 "% of the CPUs, both"
for name in f g; do
	check_between "$(json "$name.json" cost thinned_s)" 0.5 9 "s thinned, $name"
done
finish

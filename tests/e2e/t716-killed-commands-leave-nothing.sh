#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# alone: it needs the CPUs for itself
# timeout: 28800
# Commands that are killed at random moments leave nothing: within a second there is no BPF program or link of theirs, no
# breakpoint in the program that they looked at, no probe in tracefs, no child, no file without its final name and no setting
# that they changed; and no map once the kernel has got round to it. After that the target is as fast as before, within 1 %
# (by day 4), against a program of the same kind that nobody looked at. By day 15 kills, at night 1,000 of each command, six
# of the same at one moment, which takes two hours or less. KILLS sets their number in all, AT_ONCE how many together, SEED
# the moments. By day others may use the CPUs, which the kernel needs to clean up: then it may take ten seconds, and the log
# says what took more than one.
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3 taskset
need_prog waits_convoy paces
KILLS_PROG=${PROGS%/progs}/e2e/kills
[ -x "$KILLS_PROG" ] || lacks "$KILLS_PROG is not built"
kills=${NIGHTLY:+15000}
kills=${KILLS:-${kills:-15}}
seed=${SEED:-1}
at_once=${NIGHTLY:+6}
at_once=${AT_ONCE:-${at_once:-1}}
limit=${NIGHTLY:+1000}
limit=${limit:-10000}
windows=${NIGHTLY:+600}
windows=${windows:-200}
tolerance=${NIGHTLY:+1}
tolerance=${tolerance:-4}
[ -z "${NIGHTLY:-}" ] || seed=${SEED:-$RANDOM}
# Those that no other process here changes, and the kernel does not by itself.
settings() {
	local name

	for name in perf_event_paranoid perf_event_mlock_kb perf_event_max_stack perf_cpu_time_max_percent bpf_stats_enabled \
		kptr_restrict nmi_watchdog unprivileged_bpf_disabled sched_schedstats randomize_va_space; do
		echo "$name $(cat "/proc/sys/kernel/$name" 2>/dev/null)"
	done
}

start "$PROGS/waits_convoy" 4 100000000
convoy=$PID
# Both on one CPU: they take turns there, with whatever else it does.
cpu=$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')
start taskset -c "$cpu" "$PROGS/paces" "$TMP/pace" 30000
target=$PID
start taskset -c "$cpu" "$PROGS/paces" "$TMP/beside" 30000
beside=$PID
wait_until 5 [ -s "$TMP/pace" -a -s "$TMP/beside" ]
paces() { # DESC; sets $pace and $quotient
	local of_beside

	check "$1" env PYTHONDONTWRITEBYTECODE=1 python3 "${0%/*}/paces.py" "$windows" "$target" "$TMP/pace" "$beside" "$TMP/beside"
	read -r pace of_beside quotient <"$OUT"
	echo "# $1: $pace rounds for 1 ms of CPU time, and $of_beside of the program beside it; quotient $quotient"
}
commands=(
	"oncpu -F 499 -p $target -o x.svg 0.6"
	"oncpu -F 499 -o all.folded 0.6"
	"offcpu -p $target -o off.folded 0.6"
	"wall -o wall.html 0.6"
	"runqlat 0.6"
	"stat -p $target -e task-clock,context-switches --per-thread -o stat.json 0.6"
	"uprobe -p $target $PROGS/paces:paced -o calls.json 0.6"
	"alloc -p $target -o alloc.json 0.6"
	"lock -p $convoy -o lock.json 0.6"
	"syscalls -p $target 0.6"
	"wakeup -o wakeup.folded 0.6"
	"timeline -p $target -o t.json 0.6"
	"pmu -e page-faults,sched:sched_switch 0.6"
	"top --batch 0.2 5"
	"agent --keep keep -i 1s -d 2"
)
settings >"$TMP/before"
paces "before"
quotient_before=$quotient
# Those that nobody looks at need no CPU meanwhile.
kill -STOP "$beside"
# More of them at once take longer to begin, and to end.
moment=$((750 + 150 * at_once))
began=$(date +%s)
check "$kills kills leave nothing" "$KILLS_PROG" "$kills" "$seed" "$moment" "$limit" "$at_once" "$target" "$BPFPROF" "${commands[@]}"
cp "$OUT" "$TMP/killed"
sed 's/^/# /' "$TMP/killed"
echo "# in $(($(date +%s) - began)) s, seed $seed"
killed=$(awk '/^killed/ { n += $2 } END { print n + 0 }' "$TMP/killed")
check_between "$killed" $((kills * 2 / 3)) "$kills" "that were not at their end before it"
check "programs, links and children were there" awk '/^killed/ { gsub(/[(),]/, ""); p += $6; l += $8; c += $10 }
	END { exit !(p > 0 && l > 0 && c > 0) }' "$TMP/killed"
paces "after"
check_near "$(awk -v a="$quotient" -v b="$quotient_before" 'BEGIN { printf "%.2f", 100 * a / b }')" 100 "$tolerance" \
	"% of the target's speed before"
settings >"$TMP/after"
check "settings are as before" cmp "$TMP/before" "$TMP/after"
finish

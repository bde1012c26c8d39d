#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# alone: it needs the CPUs for itself
# timeout: 3600
# Commands that are killed at random moments leave nothing: within a second there is no BPF program or link of theirs, no
# breakpoint in the program that they looked at, no probe in tracefs, no child, no file without its final name and no setting
# that they changed; and no map once the kernel has got round to it. By day 30 kills, at night 1,000 of all commands together.
# KILLS sets their number, SEED the moments. By day others may use the CPUs, which the kernel needs to clean up: then it may
# take ten seconds, and the log says what took more than one.
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need_prog waits_convoy
KILLS_PROG=${PROGS%/progs}/e2e/kills
[ -x "$KILLS_PROG" ] || lacks "$KILLS_PROG is not built"
kills=${NIGHTLY:+1000}
kills=${KILLS:-${kills:-30}}
seed=${SEED:-1}
limit=${NIGHTLY:+1000}
limit=${limit:-10000}
[ -z "${NIGHTLY:-}" ] || seed=${SEED:-$RANDOM}
# Those that no other process here changes, and the kernel does not by itself.
settings() {
	local name

	for name in perf_event_paranoid perf_event_mlock_kb perf_event_max_stack perf_cpu_time_max_percent bpf_stats_enabled \
		kptr_restrict nmi_watchdog unprivileged_bpf_disabled sched_schedstats randomize_va_space; do
		echo "$name $(cat "/proc/sys/kernel/$name" 2>/dev/null)"
	done
}

start "$PROGS/waits_convoy" 4 1000000
target=$PID
commands=(
	"oncpu -F 499 -p $target -o x.svg 0.6"
	"oncpu -F 499 -o all.folded 0.6"
	"offcpu -p $target -o off.folded 0.6"
	"wall -o wall.html 0.6"
	"runqlat 0.6"
	"stat -p $target -e task-clock,context-switches --per-thread -o stat.json 0.6"
	"uprobe -p $target $PROGS/waits_convoy:hold -o calls.json 0.6"
	"alloc -p $target -o alloc.json 0.6"
	"lock -p $target -o lock.json 0.6"
	"syscalls -p $target 0.6"
	"wakeup -o wakeup.folded 0.6"
	"timeline -p $target -o t.json 0.6"
	"pmu -e page-faults,sched:sched_switch 0.6"
	"top --batch 0.2 5"
	"agent --keep keep -i 1s -d 2"
)
settings >"$TMP/before"
began=$(date +%s)
check "$kills kills leave nothing" "$KILLS_PROG" "$kills" "$seed" 900 "$limit" "$target" "$BPFPROF" "${commands[@]}"
cp "$OUT" "$TMP/killed"
sed 's/^/# /' "$TMP/killed"
echo "# in $(($(date +%s) - began)) s, seed $seed"
killed=$(awk '/^killed/ { n += $2 } END { print n + 0 }' "$TMP/killed")
check_between "$killed" $((kills * 2 / 3)) "$kills" "that were not at their end before it"
check "programs, links and children were there" awk '/^killed/ { gsub(/[(),]/, ""); p += $6; l += $8; c += $10 }
	END { exit !(p > 0 && l > 0 && c > 0) }' "$TMP/killed"
settings >"$TMP/after"
check "settings are as before" cmp "$TMP/before" "$TMP/after"
finish

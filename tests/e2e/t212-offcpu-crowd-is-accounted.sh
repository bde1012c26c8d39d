#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Thousands of threads, each blocking once a second: all their time is there, or counted as lost. Nightly 100,000 of them, as
# far as the machine lets them be, for a minute.
# alone: it judges times
# timeout: 900
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=waits.sh
. "${0%/*}/waits.sh"
need_bpf
need python3
need_prog waits_crowd

threads=${IN_GUEST:+300}
threads=${threads:-3000}
seconds=2
if [ -n "${NIGHTLY:-}" ]; then
	threads=100000
	seconds=60
	ulimit -u unlimited 2>/dev/null
	# A machine of our own may have more than its distribution allows.
	if [ -n "${IN_GUEST:-}" ]; then
		threads=10000
		seconds=20
		echo 4194304 >/proc/sys/kernel/pid_max
		echo 200000 >/proc/sys/kernel/threads-max
	fi
fi
record offcpu -m 1 --idle=show -- "$PROGS/waits_crowd" "$threads" "$seconds"
had=$(awk '$1 == "threads" { print $2 }' "$TMP/did")
echo "# figure: crowd/threads $(uname -m) $(uname -r | cut -d . -f 1,2) $had of $threads"
check_between "$had" $((threads / 10)) "$threads" "threads"
# Of threads that all begin at once not every stack is walked (--walks), or can wait for unwind tables to be there (defer-full);
# that is said, and their time is there.
not_sampled_us=$(us_of "$TMP/x.folded" '^crowd;\[not sampled\]')
least=80
[ "$(ledger "$TMP/x.json" defer-full)" -eq 0 ] || least=30
check_truth nap "" $least 101
lost_us=$(($(ledger "$TMP/x.json" lost-ns) / 1000))
check_between "$(pct_of $(($(us_of "$TMP/x.folded" '(;nap;|clock_nanosleep|common_nsleep)') + lost_us + not_sampled_us)) "$(truth nap)")" 99 101.5 \
	"with $lost_us us counted as lost and $not_sampled_us us not sampled: %"
finish

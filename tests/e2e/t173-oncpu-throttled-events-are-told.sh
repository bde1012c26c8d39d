#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Samples that the kernel does not take since it throttles the event are in no counter of ours, so the ledger says for
# how long that was: with that time, there are as many samples as there should be.
# alone: it changes, or asks, what holds for the whole host
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=waits.sh
. "${0%/*}/waits.sh"
need_guest
need_bpf
need python3
need_prog spin_abc

limit=/proc/sys/kernel/perf_event_max_sample_rate
was=$(cat $limit)
# Guests let samples take any time (100 %); then the kernel takes no other limit.
percent=/proc/sys/kernel/perf_cpu_time_max_percent
was_percent=$(cat $percent)
rate=4000
start "$PROGS/spin_abc" 1000

sample() { # LIMIT; for 4 s; samples seen as of all there should be, in percent, in $seen_pct; with those throttled in $sum_pct
	echo 25 >$percent
	start_bpfprof oncpu -I -F $rate -K --json 4
	echo "$1" >$limit
	wait_for "$PID"
	echo "$was" >$limit
	echo "$was_percent" >$percent
	read -r seen_pct sum_pct throttles < <(python3 - "$OUT" $rate <<-'EOF'
		import json, sys
		d = json.load(open(sys.argv[1]))
		led, rate = d["samples"], int(sys.argv[2])
		all_ = d["profile"]["duration_s"] * d["profile"]["cpus"] * rate
		throttled = led["throttled_ns"] / 1e9 * rate
		print(round(100 * led["seen"] / all_, 2), round(100 * (led["seen"] + throttled) / all_, 2), led["throttles"])
	EOF
	)
}

sample "$was"
check_near "$STATUS" 0 0 "exit status"
check_between "$seen_pct" 90 102 "% of the samples, not throttled"
check_no_grep 'throttled' "$ERR" "no word of throttling"

# Two or three samples in a tick, of 16 or more.
sample 500
check_near "$STATUS" 0 0 "exit status"
check_between "$throttles" 100 100000 "times throttled"
check_between "$seen_pct" 0 60 "% of the samples, throttled"
check_between "$sum_pct" 85 110 "% of the samples with those that were throttled"
check_grep 'the kernel throttled the event for .* of CPU time' "$ERR"
check_grep 'lower -F, or raise kernel.perf_event_max_sample_rate' "$ERR"
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# timeout: 200
#
# Counting costs next to nothing: at most 0.1 % of a CPU over 20 seconds, its start and its end among them, and counters
# run within 50 ms.
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=stat.sh
. "${0%/*}/stat.sh"
need_root
need python3
# An emulated CPU has some hundred million instructions a second.
[ -z "${IN_GUEST:-}" ] || skip "guests are too slow for times to tell"

# Where a hypervisor takes memory away that is idle, each page that is touched again is a long fault, and no time is short.
# There bpfprof may take twice as much as a python that only sleeps, which touches about as many pages (750; stat 630). Of
# three of each, which start in turn, that count of bpfprof that took least, and the sleeper in the middle.
read -r status us wakes idle_us idle_all < <(python3 - "$BPFPROF" stat -v 20 <<'END'
import os, subprocess, sys, time

SLEEPER = """import time
begin = time.thread_time()
for i in range(19): time.sleep(1)
print(round((time.thread_time() - begin) * 1e6))"""

def used(process):
    _, status, u = os.wait4(process.pid, 0)
    return round((u.ru_utime + u.ru_stime) * 1e6), u.ru_nvcsw, os.waitstatus_to_exitcode(status)

counts, sleepers = [], []
for _ in range(3):
    counts.append(subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
    sleepers.append(subprocess.Popen([sys.executable, "-I", "-S", "-c", SLEEPER], stdout=subprocess.PIPE))
    time.sleep(1)
counts = [used(c) for c in counts]
slept = sorted(int(s.stdout.read()) for s in sleepers)
print(max(c[2] for c in counts), min(c[0] for c in counts), max(c[1] for c in counts), slept[1],
      sorted(used(s)[0] for s in sleepers)[1])
END
)
check_is "$status" 0 "exit status"
echo "# $us us in 20 s: $(awk -v us="$us" 'BEGIN { printf "%.3f\n", us / 200000 }') %; $wakes wake-ups"
echo "# a program that sleeps: $idle_us us, with its start $idle_all us"
check_near "$wakes" 0 50 "times that it woke in 20 s"
if [ "$idle_us" -le 2000 ]; then
	check_near "$us" 0 20000 "us of CPU time in 20 s"
else
	check_near "$us" 0 $((idle_all > 10000 ? 2 * idle_all : 20000)) "us of CPU time in 20 s, on a slow machine"
fi

ms() {
	sed -nE 's/.*opened ([0-9.]+) ms after the start.*/\1/p' "$ERR"
}
for args in "" "-M all" "-e page-faults,context-switches,cycles,instructions"; do
	# The best of three: others are at work on this machine.
	best=
	for _ in 1 2 3; do
		# shellcheck disable=SC2086
		run "$BPFPROF" stat -v $args 0.1
		best=$(printf '%s\n' "${best:-1000000}" "$(ms)" | sort -g | head -n 1)
	done
	check_near "${best:-none}" 0 50 "ms until 'stat $args' counts"
done
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A process whose cgroup has CPUs of its own wakes no other one: those have no event. When it gets more, it is sampled
# there, too.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need_root
need_prog spin_abc
[ "$(nproc)" -ge 2 ] || skip "needs 2 CPUs"

mount=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
group=$mount/bpfprof-test-$$
make_group() {
	[ -n "$mount" ] && grep -qw cpuset "$mount/cgroup.controllers" && echo +cpuset >"$mount/cgroup.subtree_control" &&
		mkdir "$group" && echo 1 >"$group/cpuset.cpus" && [ "$(<"$group/cpuset.cpus.effective")" = 1 ]
} 2>/dev/null
make_group || skip "no cgroup with a cpuset can be made here"
trap 'cleanup; wait_until 5 rmdir "$group" 2>/dev/null' EXIT

timers() { # of CPU 0
	awk '$1 == "LOC:" || /arch_timer/ { print $2; exit }' /proc/interrupts
}

cpu_ms() { # PID
	awk -v hz="$(getconf CLK_TCK)" '{ printf "%.0f\n", ($14 + $15) * 1000 / hz }' "/proc/$1/stat"
}

runs() { # FILE: of the program, whose samples are all of others
	awk '/ filtered: / { gsub(",", "", $1); nr += $1 } END { print nr + 0 }' "$1"
}

start sleep 60
sleeper=$PID
echo "$sleeper" >"$group/cgroup.procs"
sleep 1
before=$(timers)
sleep 2
idle=$(($(timers) - before))
start_bpfprof oncpu -v -e cpu-clock -F 499 -p "$sleeper" 4
before=$(timers)
sleep 2
busy=$(($(timers) - before))
wait_for "$PID"
check_is "$STATUS" 3 "who sleeps has no samples"
check_grep 'only CPUs 1 are sampled' "$ERR"
# 1,000 more, if CPU 0 had an event.
check_between $((busy - idle)) -100000 600 "more interrupts of CPU 0 in 2 s ($busy, $idle without bpfprof)"
check_between "$(runs "$ERR")" 1 2500 "runs of the program: 2,000 for one CPU"

start "$PROGS/spin_abc" 200
spinner=$PID
echo "$spinner" >"$group/cgroup.procs"
start_bpfprof oncpu -v -e cpu-clock -F 99 --max-overhead 0 -p "$spinner" -o "$TMP/x.json" 100
bpfprof=$PID
sleep 1
echo 0 >"$group/cpuset.cpus"
follows() { grep -q 'CPU 0 is sampled from now on' "$ERR"; }
wait_until 30 follows
check_grep 'CPU 0 is sampled from now on' "$ERR" "what it was given is sampled, too"
before=$(cpu_ms "$spinner")
sleep 3
stop "$bpfprof" INT
# An emulator that shares its CPUs skips many.
check_between "$(json "$TMP/x.json" samples recorded)" "$(samples_in $((($(cpu_ms "$spinner") - before) / 2)) 99)" 100000 \
	"samples: of the time on the second CPU, too"

echo "$spinner" >"$mount/cgroup.procs"
check "a process of the root cgroup" "$BPFPROF" oncpu -v -e cpu-clock -F 99 -p "$spinner" -f 0.5
check_no_grep 'are sampled' "$ERR" "has no CPUs of its own"
finish

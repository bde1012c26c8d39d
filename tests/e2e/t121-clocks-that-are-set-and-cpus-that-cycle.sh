#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The clock of the host is set by a day, there and back, and a CPU leaves and returns again and again (100 times at night),
# while each command records: it records for as long as it should, with a result, and its ledger closes. A CPU that has
# returned is sampled within a second.
# timeout: 1500
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=waits.sh
. "${0%/*}/waits.sh"
need_guest
need_bpf
need python3
need_prog spin_abc waits_switcher
CPU1=/sys/devices/system/cpu/cpu1/online
[ -w "$CPU1" ] || skip "needs a second CPU that can be switched off"
cycles=${NIGHTLY:+20}
cycles=${cycles:-3} # of each command
day=86400

start "$PROGS/spin_abc" 3000
spinner=$PID

recorded() { # DESC
	wait_for "$PID"
	check_is "$STATUS" 0 "$1: exit status"
	check_ledger_closes x.json
	check_between "$(ledger x.json recorded)" 100 100000000 "$1: recorded"
}

# What was recorded lasted for six seconds, whatever the host's clock said.
is_steady() { # DESC
	check_near "$(grep -o '"duration_s": *[0-9]*' x.json | head -n 1 | tr -dc 0-9)" 7 1 "$1: seconds recorded"
}

# Takes the CPU away and brings it back; ms from its return to its first sample, a line for each time. How often the program
# of samples ran is counted by the kernel as long as bpf_stats_enabled is set. One process does all: in a guest without
# KVM it is starting them that takes the time, and is measured.
cycle() { # TIMES RECORDER SPINNER
	python3 -S - "$CPU1" "$@" <<'END'
import os, sys, time

online, times, recorder, spinner = sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4])

def read(fd):
    try:
        fields = open(f"/proc/{recorder}/fdinfo/{fd}").read().split()
    except FileNotFoundError:
        return {}
    return dict(zip(fields[::2], fields[1::2]))

def runs():
    return sum(int(read(fd)["run_cnt:"]) for fd in programs)

def switch(value):
    with open(online, "w") as f:
        f.write(value)

programs = [fd for fd in os.listdir(f"/proc/{recorder}/fdinfo") if read(fd).get("prog_type:") == "7"]
for _ in range(times):
    os.sched_setaffinity(spinner, {0, 1})
    switch("0")
    time.sleep(0.3)
    before = runs()
    switch("1")
    os.sched_setaffinity(spinner, {1})
    began = time.monotonic()
    while runs() <= before and time.monotonic() - began < 9:
        time.sleep(0.01)
    print(round((time.monotonic() - began) * 1000), flush=True)
os.sched_setaffinity(spinner, {0, 1})
END
}

cd "$TMP" || exit 1
echo 1 >/proc/sys/kernel/bpf_stats_enabled
start env --default-signal=INT "$BPFPROF" oncpu -F 99 -C 1 -o x.json
wait_until 60 recording "$PID"
cycle $((5 * cycles)) "$PID" "$spinner" | sort -n >times.txt
echo 0 >/proc/sys/kernel/bpf_stats_enabled
kill -INT "$PID"
recorded "a CPU that returns"
check_is "$(wc -l <times.txt)" $((5 * cycles)) "returns of the CPU"
echo "# figure: hotplug/sampled-again $(uname -m) $(uname -r | cut -d . -f 1,2) $(tail -n 1 times.txt) ms at most, $(sed -n "$((5 * cycles / 2 + 1))p" times.txt) half of the time"
check_between "$(tail -n 1 times.txt)" 0 1000 "ms until it is sampled, at most"

start "$PROGS/waits_switcher" 3000
for command in "oncpu -F 99" offcpu wall runqlat wakeup; do
	rm -f x.json
	# shellcheck disable=SC2086
	start "$BPFPROF" $command -o x.json -o x.bpfprof -d 6
	wait_until 60 recording "$PID"
	for step in $day -$((2 * day)) $day; do
		date -s "@$(($(date +%s) + step))" >/dev/null
		sleep 0.5
	done
	recorded "$command, clock set"
	is_steady "$command, clock set"
	rm -f x.json
	# shellcheck disable=SC2086
	start env --default-signal=INT "$BPFPROF" $command -o x.json
	wait_until 60 recording "$PID"
	for ((i = 0; i < cycles; i++)); do
		echo 0 >"$CPU1"
		sleep 0.2
		echo 1 >"$CPU1"
		sleep 0.2
	done
	kill -INT "$PID"
	recorded "$command, a CPU cycles"
done
finish

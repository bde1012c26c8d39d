#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The clock of the host is set by a day, there and back, and a CPU leaves and returns again and again (100 times at night),
# while each command records: it records for as long as it should, with a result, and its ledger closes.
# timeout: 1500
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=waits.sh
. "${0%/*}/waits.sh"
need_guest
need_bpf
need_prog spin_abc waits_switcher
CPU1=/sys/devices/system/cpu/cpu1/online
[ -w "$CPU1" ] || skip "needs a second CPU that can be switched off"
cycles=${NIGHTLY:+20}
cycles=${cycles:-3} # of each command
day=86400

start "$PROGS/spin_abc" 3000
start "$PROGS/waits_switcher" 3000

recorded() { # DESC
	wait_for "$PID"
	check_is "$STATUS" 0 "$1: exit status"
	check_ledger_closes x.json
	check_between "$(ledger x.json recorded)" 100 100000000 "$1: recorded"
}

# What was recorded lasted for three seconds, whatever the host's clock said.
is_steady() { # DESC
	check_near "$(grep -o '"duration_s":[0-9]*' x.json | head -n 1 | tr -dc 0-9)" 4 1 "$1: seconds recorded"
}

cd "$TMP" || exit 1
for command in "oncpu -F 99" offcpu wall runqlat wakeup; do
	rm -f x.json
	# shellcheck disable=SC2086
	start "$BPFPROF" $command -o x.json -o x.bpfprof -d 3
	wait_until 300 recording "$PID"
	for step in $day -$((2 * day)) $day; do
		date -s "@$(($(date +%s) + step))" >/dev/null
		sleep 0.5
	done
	recorded "$command, clock set"
	is_steady "$command, clock set"
	rm -f x.json
	# shellcheck disable=SC2086
	start env --default-signal=INT "$BPFPROF" $command -o x.json
	wait_until 300 recording "$PID"
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

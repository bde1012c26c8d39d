#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The machine is suspended for some seconds while commands record: each recording goes on, has a result, tells how long
# the machine was suspended, and counts that nowhere; its ledger closes, and nothing that was expected is missing. Guests
# for aarch64 have s2idle alone, during which their clock goes on: that is time like any other. Those for x86-64, which
# their clock would not wake from that, have S3.
# timeout: 1500
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=waits.sh
. "${0%/*}/waits.sh"
need_guest
need_bpf
need python3 rtcwake
need_prog spin_abc
grep -qw freeze /sys/power/state 2>/dev/null || skip "this guest cannot be suspended"
[ -w /sys/class/rtc/rtc0/wakealarm ] || skip "no clock would wake it again"

# ns since the boot without and with what the machine was suspended.
clocks() {
	python3 -S -c 'import time
print(time.clock_gettime_ns(time.CLOCK_MONOTONIC), time.clock_gettime_ns(time.CLOCK_BOOTTIME))'
}

cd "$TMP" || exit 1
start "$PROGS/spin_abc" 3000
start python3 -c 'import time
while True: time.sleep(0.005)'
cp "$(command -v sleep)" rests
start ./rests 3000
rests=$PID
mode=freeze
! grep -q deep /sys/power/mem_sleep || mode=mem
seconds=4

# Sets $awake_s, what of it went by on the clock, and $away_s, what did not. The emulator leaves S3 at once now and then: that
# is a suspension, too, but one to be followed by another.
suspend() {
	local before after from slept=0 tries

	before=$(clocks)
	for ((tries = 0; tries < 5 && slept < seconds; tries++)); do
		from=$(</sys/class/rtc/rtc0/since_epoch)
		run rtcwake -u -d rtc0 -m $mode -s $seconds
		[ "$STATUS" -eq 0 ] || break
		slept=$(($(</sys/class/rtc/rtc0/since_epoch) - from))
	done
	check_is "$STATUS" 0 "the machine was suspended ($mode, $tries times): exit status of rtcwake"
	[ "$STATUS" -eq 0 ] || show
	after=$(clocks)
	check_between $slept $seconds 600 "seconds by the real-time clock"
	read -r awake_s away_s < <(awk -v a="$before" -v b="$after" 'BEGIN {
		split(a, from); split(b, to); went = to[1] - from[1]
		printf "%.2f %.2f\n", went / 1e9, (to[2] - from[2] - went) / 1e9 }')
	echo "# $awake_s s by the clock, $away_s s besides"
	[ $mode != mem ] || check_between "$away_s" 2 600 "seconds that the clock leaves out"
}

# All of them record while the machine is suspended once: this emulator leaves S3 at once when it was there before.
declare -A pid_of=() log_of=() from_of=() most_s=()
begin() { # COMMAND OPTIONS...
	local name=$1

	read -r "from_of[$name]" _ < <(clocks)
	start env --default-signal=INT,TERM "$BPFPROF" "$@"
	pid_of[$name]=$PID
	log_of[$name]=$LOG
	wait_until 120 recording "$PID"
}

end() { # COMMAND
	stop "${pid_of[$1]}" INT
	check_is "$STATUS" 0 "$1: exit status"
	[ "$STATUS" -eq 0 ] || sed 's/^/# /' "${log_of[$1]}"
	most_s[$1]=$(awk -v a="${from_of[$1]}" -v b="$(clocks)" 'BEGIN { split(b, to); print (to[1] - a) / 1e9 }')
}

check_lasted() { # COMMAND JSON KEY...: all of the time that the clock says, and no more
	check_between "$(json "${@:2}")" "$(awk -v s="$awake_s" 'BEGIN { print s + 2 }')" "${most_s[$1]}" "$1: seconds"
}

ledger_is_right() { # COMMAND
	check_ledger_closes "$1.json"
	check_between "$(ledger "$1.json" recorded)" 50 100000000 "$1: recorded"
	[ "$1" = runqlat ] || check_near "$(json "$1.json" profile suspended_s)" "$away_s" 0.3 "$1: suspended_s"
}

recorders=(oncpu offcpu wall runqlat wakeup stat agent)
begin oncpu -e cpu-clock -F 99 -o oncpu.json -o oncpu.folded
begin offcpu -o offcpu.json -o offcpu.folded
begin wall -o wall.json -o wall.folded
begin runqlat -o runqlat.json
begin wakeup -o wakeup.json
begin stat -a -e task-clock,context-switches -o stat.json
begin agent --keep kept -i 2s
sleep 1.5
suspend
sleep 1.5
for name in "${recorders[@]}"; do
	end "$name"
done

for name in oncpu offcpu wall runqlat wakeup; do
	ledger_is_right "$name"
	check_lasted "$name" "$name.json" "$([ $name = runqlat ] && echo runqlat || echo profile)" duration_s
done
for name in oncpu offcpu; do
	check_between "$(json $name.json samples expected difference_pct)" -2 100 "$name: % against what was expected (below 0: missing)"
done
for name in offcpu wall; do
	# The programs are there before the recording begins, for a second on a slow guest.
	lasted=$(json $name.json profile duration_s)
	check_between "$(awk -v us="$(us_of $name.folded '^rests;')" 'BEGIN { print us / 1e6 }')" \
		"$(awk -v s="$lasted" 'BEGIN { print s - 0.5 }')" "$(awk -v s="$lasted" 'BEGIN { print s + 3 }')" \
		"$name: s of what waits all of the time, of $lasted"
done
check_lasted stat stat.json seconds mean

# Windows of an agent: together they have all of it.
check "windows of an agent are read" "$BPFPROF" report --json kept
cp "$OUT" agent.json
ledger_is_right agent
check_lasted agent agent.json profile duration_s
check "nothing ended meanwhile" kill -0 "$rests"
finish

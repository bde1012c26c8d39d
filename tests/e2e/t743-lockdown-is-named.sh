#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Under lockdown=integrity each command records as before. What records while it is raised to confidentiality ends with its
# result or one sentence; what is begun then is refused in one sentence that names it, which doctor says too.
# timeout: 1500
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=waits.sh
. "${0%/*}/waits.sh"
need_guest
[[ ${GUEST:-} == *-lockdown ]] || skip "nothing lowers lockdown again: it has guests of its own"
need_bpf
need python3
need_prog spin_abc waits_switcher
LOCKDOWN=/sys/kernel/security/lockdown
[ -e $LOCKDOWN ] || mount -t securityfs security /sys/kernel/security
[ -w $LOCKDOWN ] || lacks "this kernel has no lockdown"

raise() { # MODE
	echo "$1" >$LOCKDOWN
	check_grep "\[$1\]" $LOCKDOWN
}

row() { # KEY: of doctor's row
	"$BPFPROF" doctor --json | python3 -c 'import json, sys
print(next(r for r in json.load(sys.stdin)["checks"] if r["name"] == "lockdown")[sys.argv[1]])' "$1"
}

cd "$TMP" || exit 1
start "$PROGS/spin_abc" 1000
spinner=$PID
start "$PROGS/waits_switcher" 1000
switcher=$PID
commands=("oncpu -F 99" offcpu wall runqlat wakeup syscalls timeline sched
	"uprobe -p $switcher libc.so.6:read" "kprobe vfs_read" "stat -a -e task-clock" "stat --per-thread -e task-clock")

recorded() { # MODE COMMAND
	if [[ $2 == stat* ]]; then
		check_between "$(json x.json seconds mean)" 0.9 1500 "$1: $2: seconds"
	else
		check_ledger_closes x.json
		check_between "$(ledger x.json recorded)" 1 100000000 "$1: $2: recorded"
	fi
}

all_record() { # MODE
	local command

	for command in "${commands[@]}"; do
		rm -f x.json
		# shellcheck disable=SC2086
		check "$1: $command" "$BPFPROF" $command -d 1 -o x.json
		recorded "$1" "$command"
	done
	check "$1: what a sample leads to" "$BPFPROF" oncpu -F 99 -d 1 -o x.folded
	check_between "$(folded_pct x.folded ';(__x64_sys|__arm64_sys|do_syscall_64|el0t?_[a-z_]*sys?v?c?|entry_SYSCALL)')" 0.1 100 "$1: % in the kernel, by name"
}

check_is "$(row state)/$(row found)" ok/none "doctor, before"
all_record none
raise integrity
check_is "$(row state)/$(row found)" ok/integrity "doctor"
all_record integrity

# Those that record already. While thirteen of them begin and end, which share one CPU, what they record rests.
kill -STOP "$spinner" "$switcher"
declare -A running=()
for command in "${commands[@]}" "agent --keep kept -i 2s"; do
	name=${command//[^a-z]/}
	out="-o $name.json"
	[[ $command != agent* ]] || out=
	# shellcheck disable=SC2086
	start env --default-signal=INT,TERM "$BPFPROF" $command $out
	running[$command]="$PID $LOG"
	wait_until 8 recording "$PID" || echo "# $command has no perf event"
done
kill -CONT "$spinner" "$switcher"
sleep 2
raise confidentiality
sleep 8
kill -STOP "$spinner" "$switcher"
for command in "${!running[@]}"; do
	read -r pid log <<<"${running[$command]}"
	stop "$pid" INT
	name=${command//[^a-z]/}
	nr=$(grep -c '^bpfprof: [^w]' "$log")
	if [ "$STATUS" -eq 0 ]; then
		pass "raised while it recorded: $command: a result"
		if [[ $command == agent* ]]; then
			"$BPFPROF" report --json kept >x.json
		else
			cp "$name.json" x.json
		fi
		recorded "raised while it recorded" "$command"
	elif [ "$STATUS" -eq 1 ] && [ "$nr" -eq 1 ]; then
		pass "raised while it recorded: $command: $(grep '^bpfprof: [^w]' "$log")"
	else
		fail "raised while it recorded: $command: exit status $STATUS, $nr sentences"
	fi
	sed 's/^/# /' "$log" | grep -a 'bpfprof:' | head -n 5
done

kill -CONT "$spinner" "$switcher"
for command in "${commands[@]}" "agent --keep kept2" top; do
	[[ $command != "stat -a"* ]] || continue
	# shellcheck disable=SC2086
	mistake 77 "lockdown=confidentiality forbids" $command
done
check "what uses no BPF still counts" "$BPFPROF" stat -a -e task-clock -d 1
check_is "$(row state)/$(row found)" missing/confidentiality "doctor, at the end"
check_status 1 "doctor says so" "$BPFPROF" doctor
check_grep 'lockdown=confidentiality forbids BPF programs to read the kernel' "$OUT"
check "what was recorded is read" "$BPFPROF" report --json kept
finish

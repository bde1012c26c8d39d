#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# alone: it needs the CPUs for itself
# timeout: 120
# Once all is attached, a recording by root has the capabilities that are still needed and no others, and for good; what it
# starts is not touched by that, and names of processes of others and files in folders of others are as before. With
# CAP_BPF and CAP_PERFMON alone, each command runs for a user without rights. By day fewer commands.
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need setpriv python3
need_prog spin_abc waits_sleeper
cd "$TMP" || exit 1
chmod 755 "$TMP"

# As linux/capability.h numbers them.
declare -A number=([chown]=0 [dac_override]=1 [dac_read_search]=2 [fowner]=3 [kill]=5 [setgid]=6 [setuid]=7 [ipc_lock]=14
	[sys_ptrace]=19 [sys_admin]=21 [syslog]=34 [perfmon]=38 [bpf]=39 [checkpoint_restore]=40)
field() { # PID FIELD
	awk -v f="$2:" '$1 == f { print $2 }' "/proc/$1/status"
}
mask() { # NAME...: hexadecimal, of those that this shell has
	local name bits=0

	for name; do bits=$((bits | 1 << ${number[$name]})); done
	printf '%016x\n' $((bits & 0x$(field $$ CapEff)))
}
has_dropped() { # PID
	[ "$(field "$1" NoNewPrivs)" = 1 ]
}
recorder=(bpf perfmon sys_ptrace dac_read_search checkpoint_restore ipc_lock setuid setgid kill)
[ "$(cat /proc/sys/kernel/perf_event_paranoid)" -le 2 ] || recorder+=(sys_admin)

keeps() { # WHAT CAPABILITIES -- OPTIONS...
	local what=$1 wanted=()

	shift
	while [ "$1" != -- ]; do wanted+=("$1") && shift; done
	start_bpfprof "${@:2}"
	wait_until 10 has_dropped "$PID"
	for kind in CapEff CapPrm; do
		check "$what: $kind" test "$(field "$PID" $kind)" = "$(mask "${recorder[@]}" "${wanted[@]}")"
	done
	stop "$PID" INT
}
start setpriv --reuid 65534 --regid 65534 --clear-groups "$PROGS/spin_abc" 300
spinner=$PID
start "$PROGS/waits_sleeper" often 100000 1000
sleeper=$PID
for command in oncpu lock ${NIGHTLY:+offcpu wall wakeup syscalls}; do
	keeps "$command" syslog -- "$command" -f -p "$spinner"
done
keeps runqlat -- runqlat
keeps timeline syslog -- timeline -p "$spinner" -o t.json
keeps uprobe syslog -- uprobe -f -p "$sleeper" libc:nanosleep
keeps top syslog -- top --batch -p "$spinner"
keeps "top, where it may save" syslog -- top -p "$spinner"
keeps "with a program" syslog -- oncpu -f -- sleep 30
keeps "asking JVMs, which a child does" syslog -- oncpu --java-names -f -p "$spinner"
mkdir theirs
chown 65534 theirs
keeps "into a folder of others" syslog chown dac_override fowner -- oncpu -p "$spinner" -o theirs/x.svg
keeps "into its own folder" syslog -- oncpu -p "$spinner" -o x.svg

# What it starts has what it would have without bpfprof.
check "a program" "$BPFPROF" oncpu -o y.folded -- sh -c 'grep -E "^(CapEff|CapPrm|NoNewPrivs)" /proc/self/status >rights
	i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done'
check "its rights" test "$(cat rights)" = "$(grep -E '^(CapEff|CapPrm|NoNewPrivs)' /proc/self/status)"

# A process of another user, with a program that only he can read.
install -o 65534 -g 65534 -m 700 "$PROGS/spin_abc" theirs/secret
chmod 700 theirs
start setpriv --reuid 65534 --regid 65534 --clear-groups theirs/secret 300
check "his process" "$BPFPROF" oncpu -p "$PID" -F 199 -o theirs/z.folded 1.5
check_pct theirs/z.folded spin_a 50 15
check "whose file it is" test "$(stat -c '%u %a' theirs/z.folded)" = "0 600"

# Nobody, with the two capabilities only.
caps=-all,+bpf,+perfmon
as_nobody() {
	setpriv --reuid 65534 --regid 65534 --clear-groups --bounding-set=$caps --inh-caps=$caps --ambient-caps=$caps "$@"
}
install -m 755 "$BPFPROF" bpfprof
export CACHE_DIRECTORY=
own=$spinner
all=("offcpu -f -d 1" "runqlat -d 1" "uprobe -d 1 libc:nanosleep" "alloc -f -p $own -d 1" "syscalls -p $own -d 1")
[ -z "${NIGHTLY:-}" ] || all+=("oncpu -f -p $own -d 1" "wall -f -p $own -d 1" "lock -d 1" "stat -p $own -e task-clock -d 1")
for options in "${all[@]}"; do
	# shellcheck disable=SC2086
	STATUS=0 && as_nobody ./bpfprof $options >"$OUT" 2>"$ERR" || STATUS=$?
	case $STATUS in
	0) pass "as nobody: $options" ;;
	3) check_grep 'nothing was recorded' "$ERR" "as nobody, with nothing to see: $options" ;;
	*) check_grep 'CAP_[A-Z_]+' "$ERR" "as nobody: $options (status $STATUS) names the capability" ;;
	esac
done
as_nobody ./bpfprof oncpu -f -p "$own" -F 199 -d 1 >"$OUT" 2>"$ERR"
check_pct "$OUT" spin_a 50 15
finish

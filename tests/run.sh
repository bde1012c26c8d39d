#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Runs tests and prints one line each:
#
#	tests/run.sh [--unit|--e2e] [UNIT-PROGRAM|E2E-SCRIPT]...
#
# Without names: the unit programs of the sanitizer build, else of the plain one, then tests/e2e/t*.sh. Each
# test function of a unit program counts, and each script. Exit status 77 of a script is a skip. Logs of what
# failed stay in build/tests/log. The last line is "N passed, N failed, N skipped"; exit status 1 when any failed, 77 when
# all were skipped.
#
# Environment: TIMEOUT (seconds per test, 120), BPFPROF, PROGS, NIGHTLY, QUICK (leaves out scripts that have "# long" in their first
# lines, unless they are named), JOBS (so many at a time, 1; scripts that have
# "# alone: WHY" in their first lines run one at a time all the same, before the others), AGAIN (so many scripts and unit
# programs that fail may pass at a second try, alone, when the machine may be shared; which ones did is told at the end, and that is a fault to be
# found).

set -u
export LC_ALL=C.UTF-8
cd "${BASH_SOURCE[0]%/*}/.." || exit 1

LOGS=build/tests/log
TIMEOUT=${TIMEOUT:-120}
AGAIN=${AGAIN:-0}
JOBS=${JOBS:-1}
passed=0
failed=0
skipped=0
left=0
what=all
units=()
scripts=()
alone=()  # scripts that nothing runs beside
beside=() # the others
again=()  # failed once
second=() # passed at the second try
bad=()    # what failed, for the end
declare -A running=() # scripts by PID

report() { # ok|not ok|skip NAME [SECONDS] [REASON]
	case $1 in
	ok) passed=$((passed + 1)) ;;
	skip) skipped=$((skipped + 1)) ;;
	*)
		failed=$((failed + 1))
		bad+=("$2")
		;;
	esac
	printf '%-6s %s%s%s\n' "$1" "$2" "${3:+ ($3 s)}" "${4:+: $4}"
}

# Checks that failed, with what follows them, and how it ended. Lines of a log of which somebody sees a part only are few.
show_tail() { # LOG
	echo "       log: $1"
	{
		head -n -15 "$1" | grep -a -A 3 '^not ok' | grep -av '^ok ' | head -n 24
		tail -n 15 "$1"
	} | cut -c 1-200 | sed 's/^/       | /'
}

# Runs a command with a limit; sets $status and $seconds.
timed() { # LIMIT LOG CMD...
	local limit=$1 log=$2 from=$EPOCHREALTIME

	shift 2
	status=0
	timeout --kill-after=5 "$limit" "$@" >"$log" 2>&1 </dev/null || status=$?
	seconds=$(awk -v a="$from" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f", b - a }')
}

says() { # alone|long SCRIPT: in its first lines
	grep -qE "^# $1(:|\$)" < <(head -n 10 "$2")
}

reason() { # LIMIT: why $status is not 0
	case $status in
	124 | 137) echo "no end after $1 s" ;;
	*) echo "exit status $status" ;;
	esac
}

# In the background: how it ended goes to a file beside its log.
run_unit() { # PROGRAM
	CMOCKA_MESSAGE_OUTPUT=TAP timed "$TIMEOUT" "$LOGS/${1##*/}.log" "$1"
	echo "$status $seconds" >"$LOGS/${1##*/}.status"
}

# cmocka writes TAP: "ok 1 - name", "not ok 1 - name", "ok 1 # SKIP name" ("not ok …" in older versions).
unit_ended() { # PROGRAM
	local name=${1##*/} log=$LOGS/${1##*/}.log before=$failed line

	read -r status seconds <"$LOGS/$name.status"
	rm -f "$LOGS/$name.status"
	if [ "$status" -ne 0 ] && [ $((AGAIN--)) -gt 0 ]; then
		echo "again  $name ($seconds s)"
		show_tail "$log"
		mv "$log" "$log.first"
		again+=("$1")
		return
	fi
	while IFS= read -r line; do
		case $line in
		*'# SKIP'*) report skip "$name: ${line##*# SKIP }" ;;
		'ok '[0-9]*) report ok "$name: ${line#ok * - }" ;;
		'not ok '[0-9]*) report 'not ok' "$name: ${line#not ok * - }" ;;
		esac
	done < <(grep -aE '^(not )?ok [0-9]+ ' "$log")
	# A crash, a leak or a time-out is a failure of its own.
	if [ "$status" -ge 124 ] || { [ "$status" -ne 0 ] && [ "$failed" -eq "$before" ]; }; then
		report 'not ok' "$name" "$seconds" "$(reason "$TIMEOUT")"
	elif ! grep -aqE '^1\.\.[1-9]' "$log"; then
		report 'not ok' "$name" "$seconds" "ran no test"
	fi
	if [ "$failed" -eq "$before" ]; then
		rm -f "$log"
		[ ! -f "$log.first" ] || second+=("$name")
	else
		show_tail "$log"
	fi
}

# The first check of $log that failed, or how its script ended.
why_failed() {
	local why

	why=$(grep -a -m 1 '^not ok' "$log" | sed 's/^not ok [0-9]* *-* *//')
	[ "$status" -eq 1 ] && [ -n "$why" ] || why=$(reason "${limit:-$TIMEOUT}")
	echo "$why"
}

# As run_unit.
run_script() { # SCRIPT
	local name=${1##*/} limit

	name=${name%.sh}
	limit=$(limit_of "$1")
	# A background job of a shell ignores SIGINT; env puts it back.
	timed "${limit:-$TIMEOUT}" "$LOGS/$name.log" env --default-signal=INT,QUIT bash "$1"
	echo "$status $seconds" >"$LOGS/$name.status"
}

limit_of() { # SCRIPT
	sed -n '1,10s/^# timeout: *\([0-9][0-9]*\).*/\1/p' "$1"
}

# Tells how it ended. What failed and may be tried again is in $again then.
script_ended() { # SCRIPT
	local name=${1##*/} log why limit

	name=${name%.sh}
	log=$LOGS/$name.log
	limit=$(limit_of "$1")
	read -r status seconds <"$LOGS/$name.status"
	rm -f "$LOGS/$name.status"
	if [ "$status" -ne 0 ] && [ "$status" -ne 77 ] && [ $((AGAIN--)) -gt 0 ]; then
		echo "again  $name ($seconds s): $(why_failed)"
		mv "$log" "$log.first"
		show_tail "$log.first"
		again+=("$1")
		return
	fi
	case $status in
	0)
		report ok "$name" "$seconds"
		sed -n 's/^# figure: /       figure: /p' "$log"
		rm -f "$log"
		[ ! -f "$log.first" ] || second+=("$name")
		;;
	77)
		why=$(sed -n 's/^# skip: *//p' "$log" | tail -n 1)
		report skip "$name" "$seconds" "${why:-no reason given}"
		rm -f "$log"
		;;
	*)
		report 'not ok' "$name" "$seconds" "$(why_failed)"
		show_tail "$log"
		;;
	esac
}

run_all() { # unit|script JOBS FILE...
	local what=$1 jobs=$2 file pid

	shift 2
	for file; do
		while [ ${#running[@]} -ge "$jobs" ]; do one_ends; done
		"run_$what" "$file" &
		running[$!]=$file
	done
	while [ ${#running[@]} -gt 0 ]; do one_ends; done
}

one_ends() {
	wait -n -p pid "${!running[@]}"
	"${what}_ended" "${running[$pid]}"
	unset "running[$pid]"
}

# What runs ends what it has started.
interrupted() {
	local pid

	for pid in "${!running[@]}"; do pkill -TERM -P "$pid"; done
	wait
	exit 130
}

for arg; do
	case $arg in
	--unit) what=unit ;;
	--e2e) what=e2e ;;
	*.sh) scripts+=("$arg") ;;
	-*)
		echo "usage: tests/run.sh [--unit|--e2e] [UNIT-PROGRAM|E2E-SCRIPT]..." >&2
		exit 2
		;;
	*) units+=("$arg") ;;
	esac
done

if [ "$what" != e2e ] && [ ${#units[@]} -eq 0 ] && [ ${#scripts[@]} -eq 0 ]; then
	for dir in build-san build; do
		for file in "$dir"/tests/unit/test_*; do
			[ -f "$file" ] && [ -x "$file" ] && units+=("$file")
		done
		[ ${#units[@]} -eq 0 ] || break
	done
	[ ${#units[@]} -gt 0 ] || report 'not ok' "unit programs" "" "none is built"
fi
if [ "$what" != unit ] && [ ${#scripts[@]} -eq 0 ]; then
	for file in tests/e2e/t*.sh; do
		if [ -n "${QUICK:-}" ] && says long "$file"; then left=$((left + 1)); else scripts+=("$file"); fi
	done
fi

mkdir -p "$LOGS" || exit 1
trap interrupted INT
if [ "$what" != e2e ]; then
	rm -f "$LOGS"/test_*.log.first
	run_all unit "$JOBS" "${units[@]}"
	tries=$AGAIN AGAIN=0
	run_all unit 1 "${again[@]}"
	AGAIN=$tries again=()
fi
if [ "$what" != unit ]; then
	for file in "${scripts[@]}"; do
		if says alone "$file"; then alone+=("$file"); else beside+=("$file"); fi
	done
	rm -f "$LOGS"/t*.log.first
	run_all script 1 "${alone[@]}"
	run_all script "$JOBS" "${beside[@]}"
	AGAIN=0 # there is no third try
	run_all script 1 "${again[@]}"
fi
[ ${#second[@]} -eq 0 ] || echo "flaky  ${#second[@]} passed at the second try: ${second[*]}"
[ "$left" -eq 0 ] || echo "left out: $left long scripts (make check-all runs them)"
for name in "${bad[@]}"; do echo "failed $name"; done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] || exit 1
[ "$passed" -gt 0 ] || exit $((skipped ? 77 : 1))

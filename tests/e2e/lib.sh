# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
#
# What the end-to-end tests share. A test is a script that says what must be true, and counts as one test:
#
#	#!/bin/bash
#	# shellcheck source=lib.sh
#	. "${0%/*}/lib.sh"
#	need_bpf
#	start "$PROGS/spin_abc" 10
#	check "oncpu records" "$BPFPROF" oncpu -p "$PID" -f 3
#	check_pct "$OUT" spin_a 50 5
#	finish
#
# Variables: $BPFPROF, $PROGS, $TMP (removed at exit), $OUT and $ERR (what the last checked command printed),
# $STATUS (its exit status), $PID and $LOG (of the last start). Background programs are ended at exit, by PID.
# A comment "# timeout: SECONDS" in the first lines of a test raises the limit of tests/run.sh.

set -u
export LC_ALL=C.UTF-8
# Tests load the host as no program does, and count what is taken: t73x are about what is left out.
export BPFPROF_MAX_OVERHEAD=0

# What a test runs must not wait for long for what it has started in the background, above all where one CPU has to do for
# all. But where other tests run beside it (natively, but for those that are "alone"), it may not take all from what they have
# started: of a CPU that such a program shares with one command of a test, a quarter is left to it. With -19 it was a
# ninetieth, and programs that spin used no CPU time in a second.
if [ -z "${TEST_GOES_FIRST:-}" ] && [ "$(id -u)" -eq 0 ]; then
	TEST_GOES_FIRST=-5
	[ -z "${IN_GUEST:-}" ] && ! grep -q '^# alone:' < <(head -n 10 "$0") || TEST_GOES_FIRST=-19
	export TEST_GOES_FIRST
	exec nice -n "$TEST_GOES_FIRST" bash "$0" "$@"
fi

ROOT=$(cd "${BASH_SOURCE[0]%/*}/../.." && pwd)
BPFPROF=${BPFPROF:-$ROOT/bpfprof}
PROGS=${PROGS:-$ROOT/build/tests/progs}
case $BPFPROF in /*) ;; *) BPFPROF=$PWD/$BPFPROF ;; esac
case $PROGS in /*) ;; *) PROGS=$PWD/$PROGS ;; esac
export BPFPROF PROGS ROOT

TMP=$(mktemp -d "${TMPDIR:-/tmp}/bpfprof-test.XXXXXX") || exit 1
# What bpfprof keeps of debug information, it keeps there.
export CACHE_DIRECTORY=$TMP/.cache
# What Go has compiled for one test, its standard library above all, is there for the next.
export GOCACHE=${GOCACHE:-$ROOT/build/tests/go-cache}
OUT=$TMP/.stdout
ERR=$TMP/.stderr
STATUS=0
PID=
LOG=
pids=()
nr_started=0
niceness=$(nice)
nr_checks=0
nr_failed=0

cleanup() {
	local pid

	for pid in "${pids[@]}"; do
		kill -KILL "$pid" 2>/dev/null
		wait "$pid" 2>/dev/null
	done
	rm -rf "$TMP"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# --- what a test needs -------------------------------------------------------------------------------------

skip() { # REASON
	echo "# skip: $*"
	exit 77
}

need() { # TOOL...
	local tool

	for tool; do
		command -v "$tool" >/dev/null 2>&1 || skip "needs $tool"
	done
}

# A guest has all that we build, and may do everything: there a skip would hide that it is broken.
lacks() { # REASON
	[ -n "${IN_GUEST:-}" ] || skip "$*"
	fail "$*"
	exit 1
}

need_root() {
	[ "$(id -u)" -eq 0 ] || lacks "needs root"
}

# The host can run BPF programs. Whether ours load is for the test to find out: that would be no skip.
need_bpf() {
	need_root
	[ -r /sys/kernel/btf/vmlinux ] || lacks "this kernel has no BTF"
	"$("$ROOT/tools/find-bpftool.sh")" prog show >/dev/null 2>&1 || lacks "the bpf() system call is not allowed here"
	[ -x "$BPFPROF" ] || lacks "$BPFPROF is not built"
}

# What only a machine of our own may be put through.
need_guest() {
	[ -n "${IN_GUEST:-}" ] || skip "runs in guests (make check-vm)"
}

# The event source with the hardware's cycle counter.
has_pmu() {
	compgen -G '/sys/bus/event_source/devices/cpu*' >/dev/null ||
		compgen -G '/sys/bus/event_source/devices/armv8*' >/dev/null
}

need_prog() { # NAME...
	local name

	for name; do
		[ -x "$PROGS/$name" ] || lacks "$PROGS/$name is not built"
	done
}

# What the command shows on a terminal of that size.
on_terminal() { # COLUMNS ROWS COMMAND...
	python3 "$ROOT/tests/e2e/terminal.py" "$@"
}

# For tests that take minutes: make check-nightly sets NIGHTLY=1.
need_nightly() {
	[ -n "${NIGHTLY:-}" ] || skip "runs nightly (NIGHTLY=1)"
}

# Of what takes long there is less by day.
by_day() { # DAY NIGHT
	if [ -n "${NIGHTLY:-}" ]; then echo "$2"; else echo "$1"; fi
}

# The path of a shared library that the loader finds by that name, or nothing.
library() { # NAME: "libjemalloc.so" is also the one of libjemalloc.so.2
	PATH=$PATH:/sbin:/usr/sbin ldconfig -p | awk -v name="$1" 'index($1, name) == 1 { print $NF; exit }'
}

# --- programs in the background ----------------------------------------------------------------------------

start() { # CMD...; sets $PID, and $LOG: where its output goes
	LOG=$TMP/start-$((++nr_started)).log
	nice -n $((niceness < 0 ? -niceness : 0)) "$@" >"$LOG" 2>&1 &
	PID=$!
	pids+=("$PID")
	wait_until 1 started "$PID"
}

# Until it calls exec, the process is a copy of this shell; then it is nice, which calls exec again.
started() { # PID
	[[ $(readlink "/proc/$1/exe") != @("$(readlink "/proc/$$/exe")"|*/nice) ]]
}

# What a program does by itself, or its threads among themselves, is the same beside what else runs when it comes first. Where
# the kernel shares CPUs between sessions, priorities count within one: so it has its own.
start_first() { # CMD...; sets $PID and $LOG
	start setsid "$@"
	[ "$niceness" -lt 0 ] || return 0
	wait_until 1 leads "$PID"
	renice -n -15 -p "$PID" >/dev/null
	[ ! -w "/proc/$PID/autogroup" ] || echo -15 >"/proc/$PID/autogroup"
}

leads() { # PID: a session
	[ "$(ps -o sid= -p "$1" | tr -d ' ')" = "$1" ]
}

# In the background, until it ends or is stopped: recording PID tells when it has begun.
start_bpfprof() { # OPTIONS...; sets $PID; what it prints goes to $OUT and $ERR
	# A background job of a shell ignores SIGINT; env puts it back.
	env --default-signal=INT,TERM,HUP "$BPFPROF" "$@" >"$OUT" 2>"$ERR" &
	PID=$!
	pids+=("$PID")
	wait_until 10 recording "$PID"
}

# It has its perf events. (By one program: on a slow guest one for each file took longer than some recordings.)
recording() { # PID
	[[ $(ls -l "/proc/$1/fd" 2>/dev/null) == *'anon_inode:[perf_event]'* ]]
}

stop() { # PID [SIGNAL]; sets $STATUS
	kill -"${2:-TERM}" "$1" 2>/dev/null
	STATUS=0
	wait "$1" 2>/dev/null || STATUS=$?
	forget "$1"
}

wait_for() { # PID; sets $STATUS
	STATUS=0
	wait "$1" 2>/dev/null || STATUS=$?
	forget "$1"
}

forget() { # PID
	local pid left=()

	for pid in "${pids[@]}"; do
		[ "$pid" = "$1" ] || left+=("$pid")
	done
	pids=("${left[@]}")
}

wait_until() { # SECONDS CMD...: tries ten times a second
	local tries=$(($1 * 10))

	shift
	while ! "$@"; do
		[ $((tries--)) -gt 0 ] || return 1
		sleep 0.1
	done
}

nr_threads() { # PID
	local t=(/proc/"$1"/task/*)

	echo ${#t[@]}
}

# --- checks: each prints one line and counts; none ends the test ---------------------------------------------

pass() { # DESC
	nr_checks=$((nr_checks + 1))
	echo "ok $nr_checks - $*"
}

fail() { # DESC
	nr_checks=$((nr_checks + 1))
	nr_failed=$((nr_failed + 1))
	echo "not ok $nr_checks - $*"
}

# Runs a command with stdout in $OUT, stderr in $ERR, its exit status in $STATUS.
run() { # CMD...
	STATUS=0
	"$@" >"$OUT" 2>"$ERR" || STATUS=$?
	return "$STATUS"
}

# What the last command printed, as comments, for whoever reads the log of a failure.
show() {
	echo "#   exit status $STATUS"
	tail -n 20 "$ERR" | sed 's/^/#   stderr: /'
	tail -n 10 "$OUT" | cut -c 1-200 | sed 's/^/#   stdout: /'
}

# A check that is not there checks nothing; programs that are not there are the script's business. bash asks in a subshell.
command_not_found_handle() {
	[[ $1 != @(check|check_*|mistake|need|need_*|wait_*|start|start_*|stop|value) ]] || echo "$1" >>"$TMP/.missing"
	echo "no such command: $1" >&2
	return 127
}

check() { # DESC CMD...
	local desc=$1

	shift
	if run "$@"; then
		pass "$desc"
	else
		fail "$desc: exit status $STATUS"
		show
	fi
}

check_status() { # STATUS DESC CMD...
	local want=$1 desc=$2

	shift 2
	run "$@"
	if [ "$STATUS" -eq "$want" ]; then
		pass "$desc"
	else
		fail "$desc: exit status $STATUS, not $want"
		show
	fi
}

# The command must refuse, by itself: a crash, a signal or a time-out is no refusal.
check_fail() { # DESC CMD...
	local desc=$1

	shift
	run "$@"
	if [ "$STATUS" -ne 0 ] && [ "$STATUS" -lt 124 ]; then
		pass "$desc"
	else
		fail "$desc: exit status $STATUS"
		show
	fi
}

check_near() { # VALUE EXPECTED TOLERANCE_POINTS [DESC]
	local desc="${4:-value} is $1, expected $2 ± $3"

	if awk -v v="$1" -v e="$2" -v t="$3" 'BEGIN {
		number = "^[-+]?[0-9]*[.]?[0-9]+([eE][-+]?[0-9]+)?$"
		exit !(v ~ number && v - e <= t && e - v <= t)
	}'; then
		pass "$desc"
	else
		fail "$desc"
	fi
}

check_between() { # VALUE LOW HIGH DESC
	if awk -v v="$1" -v low="$2" -v high="$3" 'BEGIN { exit !(v ~ /^-?[0-9.]+$/ && v >= low && v <= high) }'; then
		pass "$4: $1, from $2 to $3"
	else
		fail "$4: $1, not from $2 to $3"
	fi
}

check_is() { # VALUE EXPECTED DESC
	if [ "$1" = "$2" ]; then
		pass "$3 is $1"
	else
		fail "$3 is $1, not $2"
	fi
}

# One sentence, nothing on stdout.
mistake() { # STATUS PATTERN ARGS...
	local status=$1 pattern=$2

	shift 2
	check_status "$status" "refused: bpfprof $*" "$BPFPROF" "$@"
	check_grep "$pattern" "$ERR"
	check_near "$(wc -l <"$ERR")" 1 0 "lines on stderr"
	check_near "$(wc -c <"$OUT")" 0 0 "bytes on stdout"
}

# Share of a folded file's weight on lines that match an awk pattern, in percent.
folded_pct() { # FILE PATTERN
	pattern=$2 awk '
		{ n = $NF; total += n; sub(/ [0-9]+$/, ""); if ($0 ~ ENVIRON["pattern"]) part += n }
		END { printf "%.2f\n", total ? 100 * part / total : 0 }' "$1"
}

folded_sum() { # FILE
	awk '{ total += $NF } END { printf "%.0f\n", total }' "$1"
}

# A value of a summary in JSON, by the path of its keys.
json() { # FILE KEY...
	python3 -S -c 'import json, sys
value = json.load(open(sys.argv[1]))
for key in sys.argv[2:]: value = value[key]
print(value)' "$@"
}

# Samples of one CPU that is busy for some time, at a rate.
samples_in() { # MILLISECONDS HZ
	awk -v ms="$1" -v hz="$2" 'BEGIN { printf "%d\n", ms * hz / 1000 }'
}

# Lines where FUNCTION is a frame of its own.
check_pct() { # FOLDED_FILE FUNCTION EXPECTED_PCT TOLERANCE_POINTS
	check_near "$(folded_pct "$1" "(^|;)$2(;|\$)")" "$3" "$4" "share of $2"
}

# A figure with a number kept in tests/kept: it may not grow above that by more than PCT percent, or SLACK if that is
# more, nor be above LIMIT.
# Rows are "NAME ARCHITECTURE KERNEL VALUE"; the one of this kernel counts, else that of the newest before it, else the
# oldest. tests/run.sh shows figures also of tests that pass, and tests/vm/keep.sh writes them into the file.
# Kernels with PREEMPT_RT have no numbers of their own there: for them LIMIT alone counts.
check_kept() { # NAME VALUE UNIT PCT [LIMIT [SLACK]]
	local arch kernel kept

	if [ -e /sys/kernel/realtime ] && [ -n "${5:-}" ]; then
		check_between "$2" 1 "$5" "$1: $3 with PREEMPT_RT"
		return
	fi
	arch=$(uname -m | sed 's/x86_64/amd64/; s/aarch64/arm64/')
	kernel=$(uname -r | cut -d . -f 1,2)
	kept=$(awk -v name="$1" -v arch="$arch" '$1 == name && $2 == arch { print $3, $4 }' "$ROOT/tests/kept" |
		sort -V | awk -v kernel="$kernel" '
			function number(v, part) { split(v, part, "."); return part[1] * 1000 + part[2] }
			NR == 1 || number($1) <= number(kernel) { kept = $2 }
			END { print kept }')
	echo "# figure: $1 $arch $kernel $2 $3 (kept: ${kept:-none})"
	if [ -z "$kept" ]; then
		fail "tests/kept has no number for $1 on $arch"
	elif awk -v v="$2" -v kept="$kept" -v pct="$4" -v limit="${5:-}" -v slack="${6:-0}" 'BEGIN {
		more = kept * pct / 100 > slack ? kept * pct / 100 : slack
		exit !(v ~ /^[0-9]+$/ && v > 0 && v <= kept + more && (limit == "" || v <= limit)) }'; then
		pass "$1: $2 $3"
	else
		fail "$1: $2 $3; kept is $kept, and it may grow by $4 %${5:+ and not above $5}"
	fi
}

check_grep() { # PATTERN FILE [DESC]
	if grep -Eq -- "$1" "$2" 2>/dev/null; then
		pass "${3:-${2##*/} has /$1/}"
	else
		fail "${3:-${2##*/} has no /$1/}"
		head -n 20 "$2" 2>&1 | cut -c 1-200 | sed 's/^/#   /'
	fi
}

check_no_grep() { # PATTERN FILE [DESC]
	if [ -r "$2" ] && ! grep -Eq -- "$1" "$2"; then
		pass "${3:-${2##*/} is without /$1/}"
	else
		fail "${3:-${2##*/} has /$1/}"
		grep -Em 5 -- "$1" "$2" 2>&1 | cut -c 1-200 | sed 's/^/#   /'
	fi
}

# Every line is a stack, a space and a count, with no control bytes.
check_folded() { # FILE
	if [ -s "$1" ] && ! LC_ALL=C grep -Evq '^[^[:cntrl:]]+ [0-9]+$' "$1"; then
		pass "${1##*/} is in the folded grammar"
	else
		fail "${1##*/} is not in the folded grammar"
		LC_ALL=C grep -Evm 5 '^[^[:cntrl:]]+ [0-9]+$' "$1" 2>&1 | cat -v | sed 's/^/#   /'
	fi
}

# A program of ours that drives a browser; each of its lines "ok DESC" and "not ok DESC" is a check.
drive() { # SCRIPT ARGUMENTS...
	local line

	run env PYTHONDONTWRITEBYTECODE=1 python3 "$ROOT/tests/e2e/$1" "${@:2}"
	while IFS= read -r line; do
		case $line in
		'ok '*) pass "${line#ok }" ;;
		'not ok '*) fail "${line#not ok }" ;;
		*) echo "# $line" ;;
		esac
	done <"$OUT"
	[ "$STATUS" -eq 0 ] || { fail "the browser was driven to the end" && show; }
}

finish() {
	[ ! -e "$TMP/.missing" ] || fail "no such command: $(sort -u "$TMP/.missing" | tr '\n' ' ')"
	echo "1..$nr_checks"
	[ "$nr_checks" -gt 0 ] || echo "not ok - nothing was checked"
	[ "$nr_checks" -gt 0 ] && [ "$nr_failed" -eq 0 ]
	exit
}

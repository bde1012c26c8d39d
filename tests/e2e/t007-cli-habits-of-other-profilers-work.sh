#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What people type out of habit works, or the message names what to type.
# alone: it judges times
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"

refused() { # PATTERN ARGS...
	local pattern=$1

	shift
	check_status 2 "refused: bpfprof $*" timeout -s KILL 20 "$BPFPROF" "$@"
	check_grep "$pattern" "$ERR"
}

# Commands of perf and bcc.
refused "'bpfprof oncpu' does that" record -F 99 -g
refused "'bpfprof oncpu' does that" profile
refused "'bpfprof offcpu' does that" offcputime 5
refused "'bpfprof report -f' does that" script
refused "'bpfprof --version' does that" -v
refused "is not a duration.*after '--'" oncpu sleep 1
refused "is not a duration.*after '--'" stat sleep 1

# What is named instead is there, with its options.
for name in argdist biolatency biosnoop cpudist deadlock flamegraph funccount funclatency klockstat llcstat memleak \
	offwaketime probe runqslower stackcount strace syscount tcpconnlat timehist trace wakeuptime; do
	check_status 2 "bpfprof $name" "$BPFPROF" "$name"
	read -ra words < <(sed -n "s/.*there is no command '$name': 'bpfprof \(.*\)' does that$/\1/p" "$ERR")
	check "which is bpfprof ${words[*]:-?}" "$BPFPROF" "${words[0]:-?}" --help
	for word in "${words[@]:1}"; do
		[[ $word != -* ]] || check_grep "(^|[ ,])$word( |,|$)" "$OUT"
	done
done

# -p without anybody, with a number that is a process, and the mistake that ran for ever.
refused "no process given" oncpu -p '' 1
refused "no process given" stat -p ' ,' 1
check_status 1 "a name that nobody has" "$BPFPROF" oncpu -p bpfprof-test-slee 1
check_grep "no process has this name" "$ERR"
refused "never ends" oncpu -p 1
refused "never ends" stat -p 1
refused "both the duration" oncpu -d 1 2

need_bpf
cp "$(command -v sleep)" "$TMP/bpfprof-test-sleep" || exit 1
start "$TMP/bpfprof-test-sleep" 60
one=$PID
start "$TMP/bpfprof-test-sleep" 61
two=$PID
wait_until 5 grep -q bpfprof-test-sl "/proc/$two/comm"

refused "'$one' is a process [(]bpfprof-test-sl[)]: write -p $one" oncpu "$one"
check_status 1 "a name that is nearly one" "$BPFPROF" oncpu -p bpfprof-test-slep 1
check_grep "did you mean 'bpfprof-test-sl" "$ERR"
refused "does not go with -p" oncpu -a -p "$one" 1

target() { # EXPECTED ARGS...
	local expected=$1

	shift
	check "bpfprof $*" "$BPFPROF" "${1}" -s "${@:2}"
	check_grep "$expected" "$OUT"
}

# shellcheck disable=SC2086 # blanks between them are the point
target "process $one .*, $two " offcpu -p $one $two 0.3
target "process $one .*, $two " offcpu -p "$one $two" -d 300ms
target "process $one .*, $two " offcpu -p bpfprof-test-sleep 0.3
target "of process $one " offcpu -p "$one" -m 1ms -g 0.3
target "the whole machine" offcpu -a -g -- sleep 0.3

# A number behind -p that is a kernel thread (or nothing) is a duration: 0.3 s of process one, not process 2 as well.
check "a small number is the duration" "$BPFPROF" offcpu -p "$one" -s 2
check_grep "offcpu: 2 s of process $one " "$OUT"
check "and so is one that is selected already" "$BPFPROF" offcpu -p 1 -s 1
check_grep "offcpu: (1|[1-9][0-9]*\.[0-9]+) s of process 1 " "$OUT"

# Children that run already belong to their parent, unless they are left out.
start bash -c '"$1" 30 & wait' _ "$TMP/bpfprof-test-sleep"
parent=$PID
wait_until 5 pgrep -P "$parent" bpfprof-test-sl
check "children of a running process" "$BPFPROF" offcpu -p "$parent" -f --idle=show 0.5
check_grep "^bpfprof-test-sl;" "$OUT"
check "without them" "$BPFPROF" offcpu -p "$parent" --no-children -f --idle=show 0.5
check_near "$(grep -c '^bpfprof-test-sl' "$OUT")" 0 0 "stacks of the child"

# Somebody new at each look into /proc: the recording begins, and ends, all the same. Many that sleep make looks long.
need python3
cat >"$TMP/storm.py" <<'P'
import ctypes, os, signal, time
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
prctl = ctypes.CDLL(None).prctl
def child(run):
    if not os.fork():
        prctl(1, signal.SIGKILL) # with its parent
        run()
        os._exit(0)
def storm():
    while True:
        child(lambda: time.sleep(0.3))
for i in range(300):
    child(lambda: time.sleep(60))
for i in range(4):
    child(storm)
print("begins", flush=True)
time.sleep(60)
P
start python3 "$TMP/storm.py"
wait_until 20 grep -q begins "$LOG"
sleep 1
limit=10
[ -z "${IN_GUEST:-}" ] || limit=60
check "processes that fork all the time" timeout -s KILL "$limit" "$BPFPROF" oncpu -p "$PID" -s 0.5
stop "$PID" KILL

# A program that used no CPU is named, with what to type.
# To begin takes it a millisecond, in which a sample may fall: at one a second in one run of a thousand.
check_status 3 "a program that slept" "$BPFPROF" oncpu -F 1 -- sleep 0.2
check_grep "sleep used no CPU time.*bpfprof wall" "$ERR"
finish

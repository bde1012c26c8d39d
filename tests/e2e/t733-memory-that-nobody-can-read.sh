#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A process can keep the lock of its mappings for as long as it likes; whoever looks at its memory then waits, where not
# even SIGKILL may end it. Recordings come to their end all the same, answer Ctrl-C within a second, have all that others
# do, name the process, and count what it cost.
# alone: it needs the CPUs for itself
# timeout: 180
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=waits.sh
. "${0%/*}/waits.sh"
need_bpf
need python3
need_prog spin_abc waits_asleep locks_held
# shellcheck source=silent.sh
. "${0%/*}/silent.sh"

# A thread reads a page that never comes, which keeps the lock; another wants to map something, which keeps readers out.
cat >silent.py <<'EOS'
import ctypes, mmap, os, signal, sys, threading, time
fd = os.open(sys.argv[1], os.O_RDONLY)
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
page = libc.mmap(None, ctypes.c_size_t(4096), 1, 1, fd, ctypes.c_long(0))
memory = os.open("/proc/self/mem", os.O_RDONLY)
threads = [threading.Thread(target=lambda: os.pread(memory, 1, page)),
           threading.Thread(target=lambda: libc.mmap(None, ctypes.c_size_t(4096), 1, 34, -1, ctypes.c_long(0)))]
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
def waits():
    print("ready", flush=True)
    signal.sigwait([signal.SIGUSR1])
    for t in threads:
        t.start()
        time.sleep(0.1)
    time.sleep(1000)
waits()
EOS

began() {
	begin=$EPOCHREALTIME
}

took() { # FROM TO DESC: ms since began
	check_between "$(awk -v a="$begin" -v b="$EPOCHREALTIME" 'BEGIN { printf "%d", 1000 * (b - a) }')" "$1" "$2" "$3: ms"
}

# For 1 s. How long that takes when nobody is silent, for its programs to be loaded, is measured first.
recorded() { # OPTIONS...
	rm -f x.folded x.json
	check "$*" timeout -s KILL 12 bash -c '(sleep 9; sed "s/^/# hangs in /" /proc/$$/stack >>hangs) 2>/dev/null & exec "$@"' - "$BPFPROF" "$@" \
		-o x.folded -o x.json -d 1
}

interrupted() { # OPTIONS...
	rm -f x.folded x.json
	start_bpfprof "$@" -o x.folded -o x.json
	sleep 1
	began
	kill -INT "$PID"
	wait_for "$PID"
	took 0 $((${answered:-9000} + 1000)) "Ctrl-C of $*"
	cp "$ERR" interrupted.err
	check "... with a result" [ "$STATUS" -eq 0 ]
}

is_told() {
	check_grep "process $silent \\(.*\\) does not let its memory be read" "$ERR" "$1: it is named"
	check_between "$(json x.json stacks ends silent)" 0.0001 100 "$1: % that it cost"
}

start "$PROGS/waits_asleep" 200
asleep=$PID
wait_until 20 grep -q '^threads' "$LOG"
start "$PROGS/spin_abc" 300
spinner=$PID
start "$PROGS/locks_held" two 100000 # a host where nobody waits for a lock gives no result
others_are_whole() { # DESC
	check_between "$(grep '^asleep;' x.folded | awk '{ all += $NF; if (/;asleep_for_good;/) whole += $NF } END { print all ? 100 * whole / all : 0 }')" \
		99.9 100 "$1: % of the others' time with its stack"
}

# How long each takes when nobody is silent, and to answer Ctrl-C at most: beside load once so, once three times so long.
all=("offcpu --idle=show" "oncpu -F 199" "oncpu -F 199 -p $spinner")
[ -z "${NIGHTLY:-}" ] || all+=("wall --idle=show" lock)
declare -A usual
answered='' slowest=0
for command in "${all[@]}"; do
	began
	# shellcheck disable=SC2086
	recorded $command
	usual[$command]=$(awk -v a="$begin" -v b="$EPOCHREALTIME" 'BEGIN { printf "%d", 1000 * (b - a) }')
done

for command in "offcpu --idle=show" lock "oncpu -F 199"; do
	# shellcheck disable=SC2086
	interrupted $command
	ms=$(awk -v a="$begin" -v b="$EPOCHREALTIME" 'BEGIN { printf "%d", 1000 * (b - a) }')
	slowest=$((ms > slowest ? ms : slowest))
done
answered=$slowest

in_time() { # COMMAND [LIKE]: to record for 1 s, as LIKE did
	began
	# shellcheck disable=SC2086
	recorded $1
	took 1000 $((${usual[${2:-$1}]} + 1000)) "$1"
	check_ledger_closes x.json
}

silence "$PROGS/silent_memory"
for command in "offcpu --idle=show" ${NIGHTLY:+"wall --idle=show"}; do
	in_time "$command"
	is_told "$command"
	others_are_whole "$command"
done
interrupted offcpu --idle=show
check_ledger_closes x.json
others_are_whole "offcpu"
speak

if [ -n "${NIGHTLY:-}" ]; then
	silence "$PROGS/silent_memory"
	in_time lock
	interrupted lock
	check_ledger_closes x.json
	speak
fi

# It burns CPU time, out of a file that is not the system's.
install -o 65534 -m 755 "$PROGS/silent_memory" burner
silence ./burner busy
in_time "oncpu -F 199"
grep '^spin_abc;' x.folded >spin.folded
check_pct spin.folded 'main' 100 2
check_grep '^burner;.*;burn' x.folded "the silent program's own file is opened by its path"
check_grep "process $silent \(.*\) does not let its memory be read" "$ERR" "oncpu: it is named"
in_time "oncpu -F 199 -p $silent" "oncpu -F 199 -p $spinner"
interrupted oncpu -F 199
check_ledger_closes x.json
speak

silence python3 "" silent.py
in_time "offcpu --idle=show"
is_told "offcpu of Python"
others_are_whole "offcpu of Python"
in_time "oncpu -F 199"
interrupted offcpu --idle=show
speak
stop "$asleep"
[ ! -e hangs ] || cat hangs
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A process can keep the lock of its mappings for as long as it likes; whoever looks at its memory then waits, where not
# even SIGKILL may end it. Recordings come to their end all the same, answer Ctrl-C within a second, have all that others
# do, name the process, and count what it cost. While it is silent, ps, pgrep and top hang: none is used here, and the file
# system is killed after 25 seconds in any case, which frees all.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=waits.sh
. "${0%/*}/waits.sh"
need_bpf
need python3
need_prog silent_fs silent_memory spin_abc waits_asleep locks_held
[ -c /dev/fuse ] || skip "no FUSE here"
cd "$TMP" || exit 1
chmod 755 "$TMP"
head -c 65536 /dev/zero >file
fs= mounts=0
trap '[ -z "$fs" ] || kill -KILL $fs; for m in $TMP/mnt*; do umount -l $m; done 2>/dev/null; cleanup' EXIT

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

silence() { # PROGRAM [ARGUMENT]: sets $silent, which has become so, and $fs
	local folder=mnt$((++mounts))

	mkdir "$folder"
	start "$PROGS/silent_fs" "$folder" file
	fs=$PID
	wait_until 10 grep -q ready "$LOG" || skip "FUSE cannot be mounted here"
	(sleep 25 && kill -KILL "$fs") 2>/dev/null &
	pids+=($!)
	start "$1" ${3:+"$3"} "$folder/lib.so" ${2:+"$2"}
	silent=$PID
	wait_until 10 grep -q ready "$LOG"
	kill -USR1 "$fs"
	sleep 0.2
	kill -USR1 "$silent"
	sleep 0.6
	cat "/proc/$silent/cmdline" >/dev/null 2>&1 &
	sleep 0.2
	check "whoever looks at the memory of $1 waits" kill -0 $!
}

speak() {
	kill -KILL "$fs"
	stop "$silent" KILL
	fs=
}

began() {
	begin=$EPOCHREALTIME
}

took() { # FROM TO DESC: ms since began
	check_between "$(awk -v a="$begin" -v b="$EPOCHREALTIME" 'BEGIN { printf "%d", 1000 * (b - a) }')" "$1" "$2" "$3: ms"
}

# For 1 s. How long that takes when nobody is silent, for its programs to be loaded, is measured first.
recorded() { # OPTIONS...
	rm -f x.folded x.json
	check "$*" timeout -s KILL 12 "$BPFPROF" "$@" -o x.folded -o x.json -d 1
}

interrupted() { # OPTIONS...
	rm -f x.folded x.json
	start_bpfprof "$@" -o x.folded -o x.json
	sleep 1
	began
	kill -INT "$PID"
	wait_for "$PID"
	took 0 1000 "Ctrl-C of $*"
	is_told "$*"
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
others_are_whole() { # DESC
	check_between "$(grep '^asleep;' x.folded | awk '{ all += $NF; if (/;asleep_for_good;/) whole += $NF } END { print all ? 100 * whole / all : 0 }')" \
		99.9 100 "$1: % of the others' time with its stack"
}

all=("offcpu --idle=show" "wall --idle=show")
usual=()
for command in "${all[@]}"; do
	began
	# shellcheck disable=SC2086
	recorded $command
	usual+=("$(awk -v a="$begin" -v b="$EPOCHREALTIME" 'BEGIN { printf "%d", 1000 * (b - a) }')")
done

silence "$PROGS/silent_memory"
for i in "${!all[@]}"; do
	command=${all[i]}
	began
	# shellcheck disable=SC2086
	recorded $command
	took 1000 $((usual[i] + 1000)) "$command"
	is_told "$command"
	check_ledger_closes x.json
	others_are_whole "$command"
done
interrupted offcpu --idle=show
check_ledger_closes x.json
others_are_whole "offcpu"
speak
stop "$asleep"
finish

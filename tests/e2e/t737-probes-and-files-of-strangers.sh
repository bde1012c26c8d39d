#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# alone: it judges times
# timeout: 120
# Probes go into files of strangers: children open and read these, the main process does not. On a file system that has
# stopped to answer, in a file that is larger than any memory, or where the children are killed, uprobe ends with one
# sentence at its deadline, and within a second of Ctrl-C.
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3
need_prog spin_abc
# shellcheck source=silent.sh
. "${0%/*}/silent.sh"

ms_since() { # EPOCHREALTIME
	awk -v a="$1" -v b="$EPOCHREALTIME" 'BEGIN { printf "%d", 1000 * (b - a) }'
}
mounted() { # NAME: sets $fs
	mkdir "$1"
	start "$PROGS/silent_fs" "$1" spinner who
	fs=$PID
	answers=$LOG
	wait_until 10 grep -q ready "$LOG" || skip "FUSE cannot be mounted here"
	(sleep 40 && kill -KILL "$fs") 2>/dev/null &
	pids+=($!)
}
ends() { # DESC SENTENCE FROM TO -- OPTIONS...: by itself
	local desc=$1 sentence=$2 from=$3 to=$4 begin=$EPOCHREALTIME

	shift 5
	check_status 1 "$desc" timeout -s KILL 20 "$BPFPROF" uprobe "$@" -d 1
	check_between "$(ms_since "$begin")" "$from" "$to" "$desc: ms"
	check_grep "$sentence" "$ERR" "$desc: it is told"
	check_is "$(grep -vc warning "$ERR")" 1 "$desc: in one sentence"
}
interrupted() { # DESC OPTIONS...
	local desc=$1 begin log

	shift
	log=$TMP/interrupted.$RANDOM
	env --default-signal=INT "$BPFPROF" uprobe "$@" -d 1 2>"$log" &
	local pid=$!
	pids+=("$pid")
	sleep 1.5
	check "$desc: it waits" kill -0 "$pid"
	begin=$EPOCHREALTIME
	kill -INT "$pid"
	wait "$pid"
	check_is $? 130 "$desc: how it ended"
	check_between "$(ms_since "$begin")" 0 1000 "$desc: ms after Ctrl-C"
	check_grep 'interrupted while .*: no probe is placed' "$log" "$desc: a sentence"
}

cp "$PROGS/spin_abc" spinner

# Who asks while all answer.
mounted mnt1
start mnt1/lib.so 300
spinner=$PID
"$BPFPROF" uprobe -p "$spinner" spin_a -o x.folded -d 2 2>err.txt &
bpfprof=$!
wait "$bpfprof"
check_is $? 0 "a file of that file system is probed"
check_grep spin_a x.folded
check_no_grep "^asked $bpfprof\$" "$answers" "the main process asked it for nothing"
"$BPFPROF" uprobe mnt1/lib.so:spin_b -p "$spinner" -o x.folded -d 2 2>err.txt &
bpfprof=$!
wait "$bpfprof"
check_is $? 0 "by its path"
check_grep spin_b x.folded
check_no_grep "^asked $bpfprof\$" "$answers" "by its path: nor then"
check_grep '^asked' "$answers" "others did"

# When it does not answer: requests are not taken, or taken and forgotten.
kill -USR1 "$fs"
ends "by name" "its file system does not answer" 2500 9000 -- mnt1/lib.so:spin_a
interrupted "by name" mnt1/lib.so:spin_a
begin=$EPOCHREALTIME
check_status 2 "of a process" timeout -s KILL 20 "$BPFPROF" uprobe -p "$spinner" nosuch -d 1
check_between "$(ms_since "$begin")" 0 9000 "of a process: ms"
check_grep 'lib.so: its file system does not answer: no probe is placed in it' "$ERR" "of a process: it is told"
check_grep 'no file of these processes has a function' "$ERR" "of a process: other files are looked into"
kill -KILL "$fs"
stop "$spinner" KILL
mounted mnt2
kill -HUP "$fs"
ends "where none is let go" "its file system does not answer" 2500 9000 -- mnt2/lib.so:spin_a
interrupted "where none is let go" mnt2/lib.so:spin_a
kill -KILL "$fs"
fs=''

# A file of 8 TB, the most that many file systems take, whose code is all of it.
cp "$PROGS/spin_abc" huge
truncate -s 8T huge 2>/dev/null || truncate -s 15T huge 2>/dev/null || truncate -s 1T huge
begin=$EPOCHREALTIME
timeout -s KILL 60 "$BPFPROF" uprobe -p $$ ./huge:spin_a -d 1 >/dev/null 2>err.txt
check_between "$(ms_since "$begin")" 0 20000 "a huge file: ms"
python3 - <<'PY'
import struct
with open("huge", "r+b") as f:
    head = f.read(64)
    at, size, nr = struct.unpack_from("<Q", head, 32)[0], *struct.unpack_from("<HH", head, 54)
    for i in range(nr):
        f.seek(at + i * size)
        kind, flags, *rest = struct.unpack("<IIQQQQQQ", f.read(56))
        if kind == 1:
            f.seek(at + i * size + 32)
            f.write(struct.pack("<QQ", 1 << 39, 1 << 39))
PY
begin=$EPOCHREALTIME
timeout -s KILL 60 "$BPFPROF" uprobe -p $$ './huge:spin_*' -d 1 >/dev/null 2>err.txt
check_between "$(ms_since "$begin")" 0 30000 "a huge file that says it is all code: ms"

# Whoever kills the children gets no further than that.
large=$(command -v node || command -v python3)
python3 - <<'PY' &
import os, signal, time
end = time.monotonic() + 12
while time.monotonic() < end:
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as f:
                ours = b"begin_of_t737" in f.read()
            with open(f"/proc/{pid}/comm") as f:
                if ours and f.read() == "bpfprof-reader\n":
                    os.kill(int(pid), signal.SIGKILL)
        except OSError:
            pass
PY
killer=$!
pids+=("$killer")
sleep 0.3
begin=$EPOCHREALTIME
check_status 1 "children that are killed" timeout -s KILL 20 "$BPFPROF" uprobe "$large:[a-z]*" -p $$ -o begin_of_t737.folded -d 1
check_between "$(ms_since "$begin")" 0 12000 "children that are killed: ms"
check_grep 'died' "$ERR" "children that are killed: it is told"
kill "$killer"
finish

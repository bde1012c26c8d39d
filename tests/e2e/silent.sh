# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
#
# A process that keeps the lock of its mappings: whoever looks at its memory waits until a file system answers. While it
# does, ps, pgrep and top hang: tests that source this use none of them, and the file system is killed after 25 seconds in
# any case, which frees all. Goes to $TMP.
need_prog silent_fs silent_memory
[ -c /dev/fuse ] || skip "no FUSE here"
cd "$TMP" || exit 1
chmod 755 "$TMP"
head -c 65536 /dev/zero >file
fs=''
mounts=0
leave() {
	local folder

	[ -z "$fs" ] || kill -KILL "$fs"
	for folder in "$TMP"/mnt*; do
		umount -l "$folder"
	done
	cleanup
}
trap 'leave 2>/dev/null' EXIT

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
	fs=''
}

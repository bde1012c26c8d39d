#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A process can keep the lock of its mappings for as long as it likes, and burn CPU time meanwhile. A recording of the whole
# machine comes to its end all the same, with what others do; on newer kernels, which show mappings without the lock, also
# with the names of that process, whose file is opened by its path.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need_prog silent_fs silent_memory spin_abc
[ -c /dev/fuse ] || skip "no FUSE here"
cd "$TMP" || exit 1
chmod 755 "$TMP"

mkdir mnt
head -c 65536 /dev/zero >file
start "$PROGS/silent_fs" mnt file
fs=$PID
wait_until 10 grep -q ready "$LOG" || skip "FUSE cannot be mounted here"
# Whatever waits for it ends with it.
trap 'kill -KILL $fs 2>/dev/null; umount -l $TMP/mnt 2>/dev/null; cleanup' EXIT
install -m 755 "$PROGS/silent_memory" silent
install -o 65534 -m 755 "$PROGS/silent_memory" theirs
for program in silent theirs; do
	start "./$program" mnt/lib.so busy
	wait_until 10 grep -q ready "$LOG"
	sleepers+=("$PID")
done
kill -USR1 "$fs"
sleep 0.2
kill -USR1 "${sleepers[@]}"
sleep 1
start "$PROGS/spin_abc" 300
cat "/proc/${sleepers[0]}/cmdline" >"$OUT" 2>"$ERR" &
sleep 0.5
check "whoever looks at its memory waits" kill -0 $!

began=$EPOCHREALTIME
check "oncpu of all" timeout -s KILL 20 "$BPFPROF" oncpu -F 199 -o x.folded 2
check_between "$(awk -v a="$began" -v b="$EPOCHREALTIME" 'BEGIN { printf "%d", 1000 * (b - a) }')" 2000 10000 "ms"
grep '^spin_abc;' x.folded >spin.folded
check_pct spin.folded ';main;spin_a' 50 20
check_grep '^silent;' x.folded
check_grep '^theirs;' x.folded
if [ "$(timeout 2 cat "/proc/${sleepers[0]}/maps" | wc -l)" -gt 0 ]; then
	check_grep '^silent;.*;main;burn' x.folded
	check_grep '^theirs;.*;main;burn' x.folded
	check_grep "bpfprof: warning: .*nobody can look at its mappings" "$ERR"
else
	check_grep "bpfprof: warning: .*nobody can look at its mappings" "$ERR"
fi
check "oncpu of it" timeout -s KILL 20 "$BPFPROF" oncpu -F 199 -p "${sleepers[0]}" -o y.folded 1
check "offcpu of all" timeout -s KILL 20 "$BPFPROF" offcpu -o y.folded 1
finish

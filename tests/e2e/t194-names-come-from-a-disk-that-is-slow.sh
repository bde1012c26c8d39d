#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A disk that is so busy that it answers once a second costs time at the end, not names.
# timeout: 120
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_nightly
need_bpf
need_root
need_prog spin_abc
need objcopy strip
blkio=/sys/fs/cgroup/blkio
[ -w $blkio/cgroup.procs ] || skip "no blkio cgroup (v1) here"

# Nobody maps a debug file, so it can be forgotten; the rest is read once before, and stays.
dir=$(mktemp -d -p "${BPFPROF%/*}/build") || skip "no folder on a disk"
group=
at_exit() {
	rm -rf "$dir"
	[ -z "$group" ] || { echo $$ >"$blkio/cgroup.procs" && rmdir "$group"; }
}
trap 'at_exit; cleanup' EXIT
cp "$PROGS/spin_abc" "$dir/slow_disk"
(cd "$dir" && objcopy --only-keep-debug slow_disk slow_disk.debug &&
	truncate -s 8M padding && objcopy --add-section .padding=padding slow_disk.debug &&
	strip slow_disk && objcopy --add-gnu-debuglink=slow_disk.debug slow_disk && sync slow_disk.debug)
device=$(stat -c %Hd:%Ld "$dir/slow_disk.debug")
[ "${device%:*}" -ne 0 ] || skip "$dir is not on a disk"
start "$dir/slow_disk" 100
target=$PID

record() {
	rm -f "$TMP/x.folded"
	check "$1" "$BPFPROF" oncpu --symbol-time 0 -p "$target" -F 199 -o "$TMP/x.folded" 1
	check_grep ';main;.*spin_a' "$TMP/x.folded" "$1: has names"
}
record "while the disk is quick"

group=$blkio/bpfprof-test-$$
mkdir "$group" || skip "no group can be made"
echo "$device 1" >"$group/blkio.throttle.read_iops_device" || skip "the disk cannot be slowed down"
dd if="$dir/slow_disk.debug" iflag=nocache count=0 status=none
echo $$ >"$group/cgroup.procs"
began=$(date +%s%N)
for block in 200 100 0; do
	dd if="$dir/slow_disk.debug" of=/dev/null bs=4096 skip=$block count=1 iflag=direct status=none
done
took=$((($(date +%s%N) - began) / 1000000))
echo "# three blocks take $took ms"
[ $took -gt 1800 ] || skip "the disk is not slow: three blocks take $took ms"
dd if="$dir/slow_disk.debug" iflag=nocache count=0 status=none
record "while the disk is slow"
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The first process of a guest. Runs the command that is in /guest/run and reports on the second serial line,
# where kernel messages never cut into it; the last line is "@@EXIT STATUS". Then it leaves the machine.

export PATH=/usr/sbin:/usr/bin HOME=/root LC_ALL=C.UTF-8 IN_GUEST=1
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
mkdir -p /dev/shm /dev/pts
mount -t tmpfs tmp /tmp
mount -t devpts pts /dev/pts
mount -t bpf bpf /sys/fs/bpf
mount -t tracefs trace /sys/kernel/tracing
mount -t cgroup2 cgroup /sys/fs/cgroup
ln -s /proc/self/fd /dev/fd
case $(uname -m) in
x86_64) port=/dev/ttyS1 ;;
*) port=/dev/ttyS0 ;;
esac
stty -F "$port" raw -echo
# Under emulation a sample looks expensive; perf must not lower its rate for that.
echo 0 >/proc/sys/kernel/perf_cpu_time_max_percent
{
	echo "@@BOOT $(uname -r) after $(cut -d ' ' -f 1 /proc/uptime) s"
	cd /bpfprof && bash /guest/run
	echo "@@EXIT $?"
} >"$port" 2>&1 </dev/null
# Closing the port waited until all was sent. With -no-reboot this ends the emulator.
echo b >/proc/sysrq-trigger

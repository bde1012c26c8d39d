# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
#
# A cgroup with a CPU quota, $group, for as long as the test runs; besides lib.sh. Skips where none can be made.

# 20 of 100 ms, by either version of cgroups.
make_group() {
	local mount

	mount=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
	if [ -n "$mount" ] && grep -qw cpu "$mount/cgroup.controllers" && echo +cpu >"$mount/cgroup.subtree_control"; then
		group=$mount/bpfprof-test-$$
		mkdir "$group" && echo '20000 100000' >"$group/cpu.max" && return
	fi 2>/dev/null
	mount=$(awk '$3 == "cgroup" && $4 ~ /(^|,)cpu(,|$)/ { print $2; exit }' /proc/mounts)
	group=$mount/bpfprof-test-$$
	[ -n "$mount" ] && mkdir "$group" && echo 100000 >"$group/cpu.cfs_period_us" &&
		echo 20000 >"$group/cpu.cfs_quota_us"
} 2>/dev/null
make_group || skip "no cgroup with a CPU quota can be made here"
# Who was in it is gone a moment after it has ended.
trap 'wait_until 5 rmdir "$group" 2>/dev/null; cleanup' EXIT

throttled() { # us, so far
	awk '$1 == "throttled_usec" { print $2 } $1 == "throttled_time" { printf "%.0f\n", $2 / 1000 }' "$group/cpu.stat"
}

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What runs at every switch and wake-up looks up and adds: of all helpers that it could reach, none inserts into a map,
# takes a lock that is shared, or allocates. States of threads are made where threads are born.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
helpers=$ROOT/build/tests/e2e/helpers
[ -x "$helpers" ] || lacks "$helpers is not built"

# map_lookup_elem takes no lock, of whatever map; functions of the kernel are a cast, and for locks the look-up of a thread
# under RCU. The rest reads memory, clocks and stacks.
harmless='map_lookup_elem|task_storage_get|ktime_get_ns|get_smp_processor_id|get_current_task_btf|get_current_pid_tgid'
harmless+='|task_pt_regs|get_stack|probe_read_user|probe_read_kernel|probe_read_kernel_str|current_task_under_cgroup'
harmless+='|kernel_function|get_current_comm'

check "helpers are listed" "$helpers"
cp "$OUT" "$TMP/calls"
check_grep '^sched_switch task_storage_get$' "$TMP/calls" "sched_switch was looked at"
check_grep '^sched_wakeup task_storage_get$' "$TMP/calls" "sched_wakeup was looked at"
for program in sched_switch sched_wakeup; do
	grep "^$program " "$TMP/calls" | sort | uniq -c | sort -rn | sed 's/^/# /'
	grep "^$program " "$TMP/calls" | grep -Ev " ($harmless)\$" >"$TMP/others"
	check_no_grep . "$TMP/others" "$program calls nothing else"
done
check_grep '^sched_fork task_storage_create$' "$TMP/calls" "what a thread needs is made at its birth"
finish

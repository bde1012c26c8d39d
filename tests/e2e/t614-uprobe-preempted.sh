#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# timeout: 2700
# On a kernel that preempts itself, threads that preempt each other run into a probe all the time, and samples interrupt its
# program: nothing breaks, and no call is missed. (That the kernel complains of nothing, tests/vm/run.sh sees to.)
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need_guest
need python3
need_prog preempted
seconds=${NIGHTLY:+1800}
seconds=${seconds:-60}
mount -t debugfs none /sys/kernel/debug 2>/dev/null
modes=/sys/kernel/debug/sched/preempt
# With PREEMPT_RT it is preempted in any case.
if [ ! -e /sys/kernel/realtime ]; then
	[ -w "$modes" ] || skip "the kernel's preemption cannot be chosen"
	was=$(sed 's/.*(\(.*\)).*/\1/' "$modes")
	echo full >"$modes" || skip "the kernel cannot be preempted"
fi
echo "# $(uname -r): $(cat "$modes" 2>/dev/null)"
# Of niceness 19, it may be preempted where it holds RCU up, and then not run for so long that the kernel complains.
huge=/sys/kernel/mm/transparent_hugepage/enabled
was_huge=$(sed 's/.*\[\(.*\)\].*/\1/' $huge 2>/dev/null)
[ -z "$was_huge" ] || echo never >$huge

"$BPFPROF" oncpu -F 999 -o "$TMP/oncpu.folded" $((seconds - 10)) >"$TMP/oncpu.log" 2>&1 &
sampler=$!
pids+=("$sampler")
check "calls in threads that preempt each other" "$BPFPROF" uprobe --force -l -g -o "$TMP/calls.json" \
	"$PROGS/preempted:probed" "$PROGS/preempted:below" -- "$PROGS/preempted" "$seconds"
calls=$(sed -n 's/^calls //p' "$OUT")
counted=$(python3 -c 'import json, sys
print(sum(r["calls"] for r in json.load(open(sys.argv[1]))["calls"] if r["function"] == "probed"))' "$TMP/calls.json")
lost=$(json "$TMP/calls.json" samples lost)
check "calls: $calls, and $lost events lost" test "$calls" -gt $((seconds * 555))
check "of which recorded: $counted" test "$counted" -le "$calls" -a "$counted" -ge $((calls - lost))
check "lost: $lost" test "$lost" -le $((calls / 100))
check_near "$(json "$TMP/calls.json" stacks rooted_pct)" 100 1 "share of calls with whole stacks"
wait_for "$sampler"
check_near "$STATUS" 0 0 "sampling meanwhile"
check_near "$(folded_pct "$TMP/oncpu.folded" '^preempted;(\[|_start|__GI___clone|clone|__clone|start_thread|thread)')" 90 10 "share of samples of the threads from their roots"
[ -z "${was:-}" ] || echo "$was" >"$modes"
[ -z "$was_huge" ] || echo "$was_huge" >$huge
finish

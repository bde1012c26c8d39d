#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# With --arg-frame the values of arguments are the innermost frames: of functions, from saved files, beside times, of
# tracepoints; a stack stays complete by them.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3
need_prog called callers
called=$PROGS/called callers=$PROGS/callers
[ -r /sys/bus/event_source/devices/uprobe/type ] || lacks "the kernel has no uprobes"

of() { # PATTERN: weight of the lines of x.folded that match
	awk -v p="$1" '$0 ~ p { sum += $NF } END { print sum + 0 }' "$TMP/x.folded"
}

check "of a function" "$BPFPROF" uprobe --arg 1:int --arg 2:str --arg-frame -o "$TMP/x.folded" -o "$TMP/x.bpfprof" \
	-o "$TMP/x.json" "$called:called_23" -- "$called"
for row in '0, even:4' '0, odd:4' '1, even:4' '1, odd:4' '2, even:4' '2, odd:3'; do
	check_near "$(of ";main;work;called_23;[[]${row%:*}] [0-9]+$")" "${row#*:}" 0 "stacks that end in [${row%:*}]"
done
check_near "$(of .)" 23 0 "calls in all stacks"
check_near "$(json "$TMP/x.json" rooted_share)" 1 0 "share of complete stacks"
cp "$TMP/x.folded" "$TMP/before"
check "its file" "$BPFPROF" report -o "$TMP/x.folded" "$TMP/x.bpfprof"
check "stacks are the same" cmp "$TMP/before" "$TMP/x.folded"

check "beside times" "$BPFPROF" uprobe -l --arg 2:str --arg-frame -o "$TMP/x.json" "$callers:nap" -- "$callers"
for row in quick:40 slow:10; do
	calls=$(python3 -c 'import json, sys
print(sum(r["calls"] for r in json.load(open(sys.argv[1]))["call_stacks"] if r["stack"][-2:] == ["nap", "[%s]" % sys.argv[2]]))' \
		"$TMP/x.json" "${row%:*}")
	check_near "$calls" "${row#*:}" 0 "calls of nap() with [${row%:*}], by stack"
done

check "of a tracepoint" "$BPFPROF" tracepoint --arg filename:str --arg-frame sched:sched_process_exec -o "$TMP/x.folded" -- /bin/true
check_near "$(of ';[[]/bin/true] 1$')" 1 0 "stacks that end in [/bin/true]"

if [ -r /sys/bus/event_source/devices/kprobe/type ]; then
	check "of a function of the kernel" "$BPFPROF" kprobe --arg 3:ulong --arg-frame -o "$TMP/x.folded" ksys_write -- \
		dd if=/dev/zero of=/dev/null bs=12345 count=17
	check_near "$(of ';ksys_write;[[]12345] [0-9]+$')" 17 0 "stacks that end in [12345]"
fi

check_status 2 "no argument" "$BPFPROF" uprobe --arg-frame "$called:called_23" 1
check_grep "which argument. Add --arg" "$ERR"
finish

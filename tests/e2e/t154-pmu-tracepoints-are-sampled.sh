#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Each hit of a tracepoint is a sample, or one in so many; -C and several events hold for them as for other events.
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=waits.sh
. "${0%/*}/waits.sh"
need_bpf
need_prog syscalls_known

ROUNDS=40

of() { # PATTERN: weight of the stacks that match, in x.folded
	awk -v p="$1" '$0 ~ p { sum += $NF } END { print sum + 0 }' "$TMP/x.folded"
}
sampled() { # ARGS...; in x.folded and x.json
	check "pmu $*" "$BPFPROF" pmu "$@" -o "$TMP/x.folded" -o "$TMP/x.json" -o "$TMP/x.bpfprof" -- "$PROGS/syscalls_known" $ROUNDS
	check_ledger_closes "$TMP/x.json"
}

sampled -e syscalls:sys_enter_getppid
check_near "$(of '^syscalls_known;')" $ROUNDS 0 "samples, one for each call"
check_near "$(of ';main;')" $ROUNDS 0 "with the function that called"
check_grep '"period": 1,' "$TMP/x.json"
check "report" "$BPFPROF" report -f "$TMP/x.bpfprof"
check_near "$(awk '{ sum += $NF } END { print sum }' "$OUT")" $ROUNDS 0 "samples, as they were saved"

# The program may move to another CPU, each of which counts for itself.
sampled -e syscalls:sys_enter_getppid -c 4
check_near "$(of '^syscalls_known;')" $ROUNDS $((4 * $(nproc))) "every 4th stands for four"
recorded=$(json "$TMP/x.json" samples recorded)
check_near "$(json "$TMP/x.json" samples period_sum)" $((4 * recorded)) 0 "periods add up"

sampled -e 'page-faults,syscalls:sys_enter_getppid,syscalls:sys_enter_unlinkat'
for event in "syscalls:sys_enter_getppid $ROUNDS" "syscalls:sys_enter_unlinkat $((ROUNDS / 2))"; do
	check "report of ${event% *}" "$BPFPROF" report --value "${event% *}" -f "$TMP/x.bpfprof"
	check_near "$(awk '/;main;/ { sum += $NF } END { print sum + 0 }' "$OUT")" "${event#* }" 0 "samples of ${event% *} beside others"
done

if [ "$(nproc)" -gt 1 ]; then
	check "pmu -C" "$BPFPROF" pmu -C 0 -e syscalls:sys_enter_getppid -o "$TMP/x.folded" -- \
		taskset -c 0 "$PROGS/syscalls_known" $ROUNDS
	check_near "$(of ';main;')" $ROUNDS 0 "samples on the CPU of -C"
	check_status 3 "pmu -C, another CPU" "$BPFPROF" pmu -C 0 -e syscalls:sys_enter_getppid -o "$TMP/x.folded" -- \
		taskset -c 1 "$PROGS/syscalls_known" $ROUNDS
fi

# What the kernel runs from the tracepoint to the sample is nobody's own.
machinery='__traceiter_|perf_trace_|__bpf_trace_|bpf_trace_run|trace_event_|perf_syscall_|bpf_prog_|__probestub_'
for event in sched:sched_switch sched:sched_waking syscalls:sys_enter_getppid; do
	check "pmu $event" "$BPFPROF" pmu -e "$event" -o "$TMP/x.bpfprof" -o "$TMP/x.folded" -- "$PROGS/syscalls_known" $ROUNDS
	check_between "$(wc -l <"$TMP/x.folded")" 1 100000 "stacks at $event"
	check_no_grep ";($machinery)[^;]* [0-9]+$" "$TMP/x.folded" "none ends in the tracepoint's own frames"
done
check "report --frames all" "$BPFPROF" report --frames all -f "$TMP/x.bpfprof"
check_grep ";($machinery)[^;]* [0-9]+$" "$OUT" "they are in the recording"
check "tracepoint --stacks" "$BPFPROF" tracepoint sched:sched_switch --stacks -o "$TMP/x.folded" -- "$PROGS/syscalls_known" $ROUNDS
check_grep ';__schedule [0-9]+$' "$TMP/x.folded" "who switches is innermost"
check_no_grep ";($machinery)[^;]* [0-9]+$" "$TMP/x.folded" "of calls of a tracepoint, too"
# Of other events they are where the time goes.
check "pmu -e page-faults" "$BPFPROF" pmu -e page-faults -o "$TMP/x.bpfprof" -- "$PROGS/syscalls_known" $ROUNDS
"$BPFPROF" report -f "$TMP/x.bpfprof" >"$TMP/few"
"$BPFPROF" report --frames all -f "$TMP/x.bpfprof" >"$TMP/all"
check "of other events nothing is left out" cmp "$TMP/few" "$TMP/all"

check_status 2 "a rate" "$BPFPROF" pmu -F 99 -e sched:sched_switch 1
check_grep 'tracepoint.*-c' "$ERR"
check_status 2 "a typo" "$BPFPROF" pmu -e sched:sched_swich 1
check_grep "did you mean 'sched:sched_switch'" "$ERR"
check_status 2 "branches" "$BPFPROF" pmu --branches -e sched:sched_switch 1
check_grep "tracepoint" "$ERR"
finish

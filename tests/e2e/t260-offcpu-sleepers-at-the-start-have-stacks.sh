#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Thousands of threads are asleep when the recording begins: each has its user stack. Those that wake before their turn
# keep the kernel's half, and the reason that is theirs.
# timeout: 300
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=waits.sh
. "${0%/*}/waits.sh"
need_bpf
need python3
need_prog waits_asleep

threads=${IN_GUEST:+800}
threads=${threads:-20000}

start "$PROGS/waits_asleep" "$threads"
asleep=$PID log=$LOG
wait_until 60 grep -q '^threads' "$log"
had=$(awk '{ print $2 }' "$log")
echo "# figure: asleep/threads $(uname -m) $(uname -r | cut -d . -f 1,2) $had of $threads"
check_between "$had" $((threads * 9 / 10)) "$threads" "threads"

check "offcpu of sleepers" "$BPFPROF" offcpu -v -p "$asleep" --idle=show -o "$TMP/x.folded" -o "$TMP/x.json" 4
grep 'asleep at the start' "$ERR" | sed 's/^/# /'
check_grep "$((had + 1)) threads were asleep at the start" "$ERR" "all were found asleep"
check_grep ' 0 found no room, 0 slots not given back' "$ERR" "there was room for each"
check_stacks "$TMP/x.folded"
check_ledger_closes "$TMP/x.json"
check_near "$(ledger "$TMP/x.json" lost)" 0 0 "lost"
check_near "$(ledger "$TMP/x.json" recorded)" $((had + 1)) 0 "recorded"
check_near "$(ledger "$TMP/x.json" kernel-stack-failed)" 0 0 "kernel stacks that failed"
# All but what other tests of the machine may wake: a signal, a debugger.
check_between "$(folded_pct "$TMP/x.folded" ';asleep_for_good;')" 99.99 100 "% of the time in asleep_for_good"
check_between "$(json "$TMP/x.json" stacks rooted_pct)" 99.99 100 "% with a stack up to the root"
# By frame pointers alone they are read, too.
check "offcpu --call-graph fp" "$BPFPROF" offcpu -p "$asleep" --idle=show --call-graph fp -o "$TMP/x.json" 1
check_near "$(json "$TMP/x.json" stacks ends no-table)" 0 0 "% that wait for a table, without tables"
check_near "$(json "$TMP/x.json" stacks ends no-room)" 0 0 "% that found no room"
stop "$asleep"

# They wake hundreds of times before the recorder gets to them.
start "$PROGS/waits_asleep" 1 50
often=$PID log=$LOG
wait_until 60 grep -q '^threads' "$log"
check "offcpu of short sleepers" "$BPFPROF" offcpu -p "$often" --idle=show -o "$TMP/x.folded" -o "$TMP/x.json" 2
check_ledger_closes "$TMP/x.json"
check_near "$(json "$TMP/x.json" stacks ends no-table)" 0 0.01 "% that is said to have wanted a table"
check_between "$(json "$TMP/x.json" stacks ends moved-on)" 0.000001 10 "% that moved on before it was read"
check_between "$(folded_pct "$TMP/x.folded" '^asleep;[^;]+;(entry|el0|__arm64|__x64|do_|invoke)')" 0.000001 10 "% of them with the kernel's half"
stop "$often"
finish

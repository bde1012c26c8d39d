#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Stacks are deferred, and the tables are too small for them: the slots come back all the same, or soon none would be left.
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=waits.sh
. "${0%/*}/waits.sh"
need_bpf
need python3
need_prog waits_deep forker

check_slots() { # DESC REASON
	grep 'stacks deferred' "$ERR" | sed 's/^/# /'
	check_between "$(ledger "$TMP/x.json" "$2")" 20 1000000000 "$1: $2"
	check_between "$(ledger "$TMP/x.json" deferred)" 20 1000000000 "$1: deferred"
	check_grep ', 0 slots not given back' "$ERR" "$1: no slot is still taken at the end"
	check_ledger_closes "$TMP/x.json"
}

slots_come_back() { # DESC REASON COMMAND OPTIONS... -- PROGRAM...
	local desc=$1 reason=$2 # a counter that must have grown

	shift 2
	check "$desc" "$BPFPROF" "$1" -v -o "$TMP/x.json" "${@:2}"
	check_slots "$desc" "$reason"
}

slots_come_back "offcpu, 16 stacks" stack-table-full offcpu --max-stacks 16 -- "$PROGS/waits_deep" 8 100 10
slots_come_back "oncpu, 16 stacks" stack-table-full oncpu -F 999 --max-stacks 16 -- "$PROGS/forker" 6

# More stacks than there are slots: while the recorder is stopped nobody takes them out.
start_bpfprof offcpu -v -n waits_deep -o "$TMP/x.json" 60
recorder=$PID
kill -STOP "$recorder"
"$PROGS/waits_deep" 8 1500 1 >"$TMP/did"
kill -CONT "$recorder"
sleep 1
stop "$recorder" INT
check_near "$STATUS" 0 0 "offcpu, stopped for a while: exit status"
check_slots "offcpu, stopped for a while" defer-full
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Stacks are deferred, and the tables are too small for them: the slots come back all the same, or soon none would be left.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=waits.sh
. "${0%/*}/waits.sh"
need_bpf
need python3
need_prog waits_deep forker

slots_come_back() { # DESC REASON COMMAND OPTIONS... -- PROGRAM...
	local desc=$1 reason=$2 # a counter that must have grown

	shift 2
	check "$desc" "$BPFPROF" "$1" -v -o "$TMP/x.json" "${@:2}"
	grep 'stacks deferred' "$ERR" | sed 's/^/# /'
	check_between "$(ledger "$TMP/x.json" "$reason")" 20 1000000000 "$desc: $reason"
	check_between "$(ledger "$TMP/x.json" deferred)" 20 1000000000 "$desc: deferred"
	check_grep ', 0 slots not given back' "$ERR" "$desc: no slot is still taken at the end"
	check_ledger_closes "$TMP/x.json"
}

slots_come_back "offcpu, 16 stacks" stack-table-full offcpu --max-stacks 16 -- "$PROGS/waits_deep" 8 100 10
slots_come_back "offcpu, more than there are slots" defer-full offcpu --max-mem 1 -- "$PROGS/waits_deep" 8 2000 1
slots_come_back "oncpu, 16 stacks" stack-table-full oncpu -F 999 --max-stacks 16 -- "$PROGS/forker" 2
finish

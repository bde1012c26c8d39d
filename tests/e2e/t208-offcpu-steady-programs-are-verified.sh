#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A program that blocks where it blocked before is not walked again: at least 9 stacks of 10, and the audit agrees.
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=waits.sh
. "${0%/*}/waits.sh"
need_bpf
need python3
need_prog waits_switcher deep_switcher waits_sleeper

verified() { # DESC
	local verified walked least=${IN_GUEST:+80}

	least=${least:-90}
	verified=$(ledger "$TMP/x.json" verified)
	walked=$(ledger "$TMP/x.json" walked)
	echo "# figure: verified/$1 $(uname -m) $(uname -r | cut -d . -f 1,2) $verified of $((verified + walked)) stacks"
	# Until a program's tables are there, which takes an emulator 50 ms, nothing can be remembered.
	check_between "$(pct_of "$verified" $((verified + walked)))" "$least" 100 "$1: % of stacks verified"
}

record offcpu -m 1 --idle=show -- "$PROGS/waits_switcher" 1
verified switcher
check_grep '^waits_switcher;(.*;)?main;(.*;)?wait_turn;' "$TMP/x.folded" "whole stacks"

record offcpu -m 1 --idle=show -- "$PROGS/waits_sleeper" often 600 3000
verified sleeper
check_truth nap_often

# More than 2 KB of stack are read by pages.
record offcpu -m 1 --idle=show -- "$PROGS/deep_switcher" 1
verified deep
check_grep '^deep_switcher;(.*;)?main;([a-z_]*;)?(below;){30}([a-z]*;)?wait_turn;' "$TMP/x.folded" "whole deep stacks"

for program in waits_switcher deep_switcher; do
	record offcpu -m 1 --idle=show --audit -- "$PROGS/$program" 1
	check_near "$(ledger "$TMP/x.json" audit-wrong)" 0 0 "stacks of $program that the audit found wrong"
done
finish

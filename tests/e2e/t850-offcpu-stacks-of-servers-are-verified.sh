#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A thread that waits in several places in turns, below more than 32 calls and a local array of 12 KiB, as event loops do,
# has its stacks verified, too: at least 9 of 10, and the audit agrees.
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=waits.sh
. "${0%/*}/waits.sh"
need_bpf
need python3
need_prog waits_wide

rounds=${IN_GUEST:+60}
rounds=${rounds:-150}
least=${IN_GUEST:+80}
least=${least:-90}
# Only what blocks: a thread that is preempted is so at any instruction.
record offcpu -m 1 --idle=show --state S -- "$PROGS/waits_wide" "$rounds" 3000
verified=$(ledger "$TMP/x.json" verified)
walked=$(ledger "$TMP/x.json" walked)
echo "# figure: verified/wide $(uname -m) $(uname -r | cut -d . -f 1,2) $verified of $((verified + walked)) stacks"
# Who is preempted on its way to sleep does not sleep.
check_between "$((verified + walked))" $((rounds * 7 * 95 / 100)) $((rounds * 7 + 300)) "stacks"
check_between "$(pct_of "$verified" $((verified + walked)))" "$least" 100 "% of stacks verified"
for i in 1 2 3 4 5 6 7; do
	check_truth "nap_$i"
done
check_between "$(folded_pct "$TMP/x.folded" '^waits_wide;.*;main;down;down;down;.*;wide;nap_[1-7];')" 90 100 "% with the whole stack"

record offcpu -m 1 --idle=show --audit -- "$PROGS/waits_wide" "$rounds" 3000
check_between "$(ledger "$TMP/x.json" verified)" $((rounds * 5)) $((rounds * 8)) "stacks verified and walked"
check_near "$(ledger "$TMP/x.json" audit-wrong)" 0 0 "stacks that the audit found wrong"
finish

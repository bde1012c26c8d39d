#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# More threads than the table of counts has room for are counted by process and name: nothing is lost, and all the time that
# they lived is accounted for. Nightly 20,000 of them and the table as it is.
# timeout: 300
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=waits.sh
. "${0%/*}/waits.sh"
need_bpf
need python3
need_prog waits_crowd waits_churn

threads=1500 table=(--max-stacks 4096) seconds=2 rate=2000
if [ -n "${IN_GUEST:-}" ]; then
	threads=200 table=(--max-stacks 1024) rate=200
elif [ -n "${NIGHTLY:-}" ]; then
	threads=20000 table=() seconds=15 rate=10000
	ulimit -u unlimited 2>/dev/null
fi

# Of all threads of a process: nothing was lost, and what is known is their time.
check_accounted() { # NAME
	check_between "$(pct_of "$(ledger "$TMP/x.json" lost)" "$(ledger "$TMP/x.json" seen)")" 0 1 "% of the waits lost"
	check_between "$(ledger "$TMP/x.json" merged)" 1 1000000000 "counts merged"
	check "the table" "$BPFPROF" report --table "$TMP/x.bpfprof"
	check_grep "^  $1 \\([0-9]" "$OUT" "threads of one name are one line with their number"
	# A birth is told before the thread can run, by the time that an emulator takes.
	unknown=${IN_GUEST:+5}
	check_near "$(awk '$1 == "all" { print $NF + 0 }' "$OUT")" 0 "${unknown:-2}" "% of the time of all threads that nothing accounts for"
	check "the summary" "$BPFPROF" report -o "$TMP/x.txt" "$TMP/x.bpfprof"
	check_grep "counted together: the table of counts was half full" "$TMP/x.txt" "the summary says so"
}

record wall --idle=show "${table[@]}" -o "$TMP/x.bpfprof" -- "$PROGS/waits_crowd" "$threads" "$seconds"
check_accounted crowd
not_sampled_us=$(us_of "$TMP/x.folded" '^crowd;.*\[not sampled\]')
lost_us=$(($(ledger "$TMP/x.json" lost-ns) / 1000))
check_between "$(pct_of $(($(us_of "$TMP/x.folded" '^crowd;.*;nap;') + lost_us + not_sampled_us)) "$(truth nap)")" 98 102 \
	"with $lost_us us counted as lost and $not_sampled_us us not sampled: %"

# The same where threads come and go.
record wall --idle=show "${table[@]/4096/1024}" -o "$TMP/x.bpfprof" -- "$PROGS/waits_churn" "$rate" "$seconds"
check_accounted churn
lost_us=$(($(ledger "$TMP/x.json" lost-ns) / 1000))
not_sampled_us=$(us_of "$TMP/x.folded" '^churn;.*\[not sampled\]')
# Of each nap some us count as CPU time of its thread; where all is emulated, more.
most=${IN_GUEST:+125}
check_between "$(pct_of $(($(us_of "$TMP/x.folded" '^churn;.*;brief_nap;') + lost_us + not_sampled_us)) "$(truth brief_nap)")" 95 "${most:-110}" \
	"with $lost_us us counted as lost and $not_sampled_us us not sampled: %"
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A rate that costs too much is lowered at once, and what is taken then stands for what is not: shares and CPU time are
# right. Without a limit nothing is left out, and mistakes get one sentence.
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=stat.sh
. "${0%/*}/stat.sh"
need_bpf
need_prog spin_abc
[ -z "${IN_GUEST:-}" ] || skip "an interrupt costs far too much here"
unset BPFPROF_MAX_OVERHEAD

record() { # OPTIONS...
	run "$BPFPROF" oncpu -e cpu-clock -F 4000 "$@" --json -o "$TMP/x.bpfprof" -- "$PROGS/spin_abc" 6
	check_is "$STATUS" 0 "exit status of oncpu $*,"
	ms=$(awk '$1 == "ms" { print $2 }' "$OUT")
	"$BPFPROF" report "$TMP/x.bpfprof" --json >"$TMP/x.json"
	"$BPFPROF" report "$TMP/x.bpfprof" -f >"$TMP/x.folded"
}
value() { json "$TMP/x.json" cost "$1"; }

record --max-overhead 0.25
check_grep "4000 samples a second take .* and --max-overhead is 0.25 %" "$ERR"
check_near "$(value max_overhead_pct)" 0.25 0.001 "--max-overhead"
check_between "$(value thinned_s)" 5 100 "s that were thinned"
check_between "$(value thinned_to_one_in)" 4 64 "= one sample in how many, at worst"
check_is "$(json "$TMP/x.json" unit)" ns "unit of the values"
# The first tenth of a second is at the full rate, and is judged by itself.
check_between "$(awk -v i="$(value interrupts_share_of_cpus)" -v b="$(value bpf_share_of_cpus)" \
	'BEGIN { print 100 * (i + b) }')" 0.01 0.6 "% of the CPUs"
check_between "$(awk -v n="$(folded_sum "$TMP/x.folded")" -v ms="$ms" 'BEGIN { print n / ms / 1e6 }')" 0.9 1.1 \
	"of the CPU time that the program had"
# Three sigma of so many samples, and 2.
spread=$(awk -v n="$(json "$TMP/x.json" samples recorded)" 'BEGIN { print 150 / sqrt(n + 1) + 2 }')
check_pct "$TMP/x.folded" spin_a 50 "$spread"
check_pct "$TMP/x.folded" spin_b 30 "$spread"
check_pct "$TMP/x.folded" spin_c 20 "$spread"

cp "$TMP/x.bpfprof" "$TMP/thinned.bpfprof"
record --max-overhead 0
check_is "$(value thinned_s) $(value thinned_to_one_in)" "0.0 1" "what was left out without a limit"
if command -v script >/dev/null; then
	script -qec "'$BPFPROF' oncpu --max-overhead 0 -s -- '$PROGS/spin_abc' 0.3" /dev/null >"$TMP/screen"
	check "on a screen that is red" grep -qaF $'\e[31mwithout a limit (--max-overhead 0)' "$TMP/screen"
fi
check_is "$(json "$TMP/x.json" unit)" samples "unit of the values"

check "they compare" "$BPFPROF" diff --fail-above 20% --json "$TMP/thinned.bpfprof" "$TMP/x.bpfprof"

BPFPROF_MAX_OVERHEAD=0.25 record
check_near "$(value max_overhead_pct)" 0.25 0.001 "the environment's limit"

# Beside waits, samples are left out last. Where they are what costs (8 % here, for three tenths of a second), it comes to that.
for limit in 0.5 0.7 1; do
	run "$BPFPROF" wall -e cpu-clock -F 4000 --max-overhead "$limit" -o "$TMP/x.bpfprof" -- "$PROGS/spin_abc" 3
	check_is "$STATUS" 0 "exit status of wall --max-overhead $limit,"
	"$BPFPROF" report "$TMP/x.bpfprof" --json >"$TMP/x.json"
	check_between "$(awk -v i="$(value interrupts_share_of_cpus)" 'BEGIN { print 100 * i }')" 0.01 2.5 \
		"% of the CPUs for interrupts"
done
run "$BPFPROF" top -b -e cpu-clock -F 20000 --max-overhead 1 1 1
check_is "$STATUS" 0 "exit status of top,"

# Of several events nothing can be left out: it is said, then and in the result.
run "$BPFPROF" pmu -e cpu-clock -e page-faults -F 4000 --max-overhead 0.01 -o "$TMP/x.bpfprof" -- "$PROGS/spin_abc" 1
check_is "$STATUS" 0 "exit status with two events,"
check_grep "warning: this costs .* --max-overhead is 0.01 %: .* nothing can be left out" "$ERR"
"$BPFPROF" report "$TMP/x.bpfprof" --json >"$TMP/x.json"
check_is "$(value max_overhead_pct) $(value thinned_to_one_in)" "0.01 1" "limit, and one in how many was taken,"
check_between "$(value over_budget_s)" 0.3 100 "s above it"

mistake 2 "--max-overhead" oncpu --max-overhead much 1
mistake 2 "--max-overhead" oncpu --max-overhead 101 1
export BPFPROF_MAX_OVERHEAD=-1
mistake 2 "BPFPROF_MAX_OVERHEAD" oncpu 1
finish

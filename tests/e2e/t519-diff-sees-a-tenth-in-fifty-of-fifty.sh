#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# timeout: 5400
# Fifty times a real program twice, and one of whose functions got slower by a tenth: the first never fails, the second
# always does. Three recordings of each, in turn, of 3 s of CPU time: some 80,000 samples on a side, however busy the
# machine is.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_root
need_nightly
REPEATS=${REPEATS:-50}

need_prog five_shares
need prlimit
cd "$TMP" || exit 1

one() { # NAME SLOWER
	rm -f "$1.bpfprof"
	"$BPFPROF" oncpu -U -F 9999 -o "$1.bpfprof" -- prlimit --cpu=3:3 "$PROGS/five_shares" "$2" >/dev/null 2>&1
}

alike=0 slower=0 named=0 missing=0
for _ in $(seq "$REPEATS"); do
	for i in 1 2 3; do
		one "a$i" 1
		one "b$i" 1
		one "c$i" 1.1
		for side in a b c; do [ -s "$side$i.bpfprof" ] || missing=$((missing + 1)); done
	done
	"$BPFPROF" diff -U --fail-above 5 -s a?.bpfprof vs b?.bpfprof >alike.txt 2>&1
	[ $? != 4 ] || alike=$((alike + 1))
	"$BPFPROF" diff -U --fail-above 5 -s a?.bpfprof vs c?.bpfprof >slower.txt 2>&1
	[ $? != 4 ] || slower=$((slower + 1))
	[ "$(grep '^REGRESSION' slower.txt | cut -d: -f1)" != "REGRESSION render" ] || named=$((named + 1))
done
echo "# figure: diff/alike-fails $alike of $REPEATS"
echo "# figure: diff/tenth-fails $slower of $REPEATS"
check_near "$missing" 0 0 "recordings that came to nothing"
check_near "$alike" 0 0 "comparisons of the same program that fail"
check_near "$slower" "$REPEATS" 0 "comparisons with one that is slower by a tenth that fail"
check_near "$named" "$REPEATS" 0 "... for the function that got slower, and no other"
finish

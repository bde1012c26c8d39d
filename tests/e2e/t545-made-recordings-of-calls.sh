#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Made-up recordings of polls, driver gaps and lines of functions are shown with their known numbers, and polls that lack
# their times, as only a broken file does, without.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
GEN=${PROGS%/progs}/e2e/gen_calls

made() { # WHAT
	check "$1 is made" "$GEN" "$1" "$TMP/$1.bpfprof"
}

made polls
check "polls" "$BPFPROF" report "$TMP/polls.bpfprof"
check_grep '^ +10 ms +4 +50[.]0%' "$OUT"
check_grep '^app::slow, task 7: 4 polls' "$OUT"
made untimed
check "polls without times" "$BPFPROF" report "$TMP/untimed.bpfprof"
check_grep '^ +4 .* app::slow +7' "$OUT"
check_no_grep 'LONGER THAN' "$OUT"
check "as JSON" "$BPFPROF" report --json "$TMP/untimed.bpfprof"
made gaps
check "gaps" "$BPFPROF" report --gaps -f "$TMP/gaps.bpfprof"
check_grep '^tokio-rt-worker;[[]task[]];app::hog.* 100000$' "$OUT"
made begins
check "lines" "$BPFPROF" report -o "$TMP/x.afdo.txt" "$TMP/begins.bpfprof"
check "are counted from where the function begins" diff - "$TMP/x.afdo.txt" <<-'END'
	hot:9:9
	 2: 9
END
finish

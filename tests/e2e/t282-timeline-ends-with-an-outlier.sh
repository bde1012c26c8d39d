#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The first wait for a CPU that is too long ends a timeline, which shows who ran meanwhile, whoever is selected.
# alone: it judges times
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3
need_prog sched_known
oracle=$ROOT/tests/e2e/timeline.py

begin=$SECONDS
check "until somebody is held up" "$BPFPROF" timeline --threshold 40000 -s -o "$TMP/x.json" -d 60 -- \
	"$PROGS/sched_known" 3 60 alone
cp "$OUT" "$TMP/x.txt"
grep -q '^hog ' "$TMP/x.txt" || skip "SCHED_FIFO is not allowed here"
check_between $((SECONDS - begin)) 0 30 "seconds, not 60"
check_grep '^held \[[0-9/]+\] waited [0-9.]+ ms for CPU [0-9]+' "$TMP/x.txt"
check_grep '^ *[5-9][0-9.]+ ms +hog ' "$TMP/x.txt" "the hog ran meanwhile"
check "what it saw is whole" python3 "$oracle" threshold "$TMP/x.json" 40000

check "nobody waits for an hour" "$BPFPROF" timeline --threshold 3600000000 -s 0.3
check_grep '^no thread waited for a CPU for ' "$OUT"
check_fail "no such key" "$BPFPROF" sched --sort maximum 1
check_grep "--sort: unknown mode 'maximum'" "$ERR"
finish

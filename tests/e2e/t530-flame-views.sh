#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# timeout: 300
#
# The views of a flame graph page say what the folded stacks and report --csv say: the table of functions, the callers
# and callees of one, and the inverted tree. SHOTS=DIR keeps pictures.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"

GEN=${PROGS%/progs}/e2e/gen_profile
need python3 /usr/bin/chromium /usr/bin/chromedriver
[ -x "$GEN" ] || skip "$GEN is not built"

for kind in small offcpu wakeup 2000; do
	check "$kind is written" "$GEN" "$kind" "$TMP/$kind.bpfprof"
	check "$kind as page and svg" "$BPFPROF" report "$TMP/$kind.bpfprof" -o "$TMP/$kind.html" -o "$TMP/$kind.svg"
	check "$kind as stacks" "$BPFPROF" report "$TMP/$kind.bpfprof" -f
	cp "$OUT" "$TMP/$kind.folded"
	check "$kind as functions" "$BPFPROF" report "$TMP/$kind.bpfprof" --csv
	cp "$OUT" "$TMP/$kind.csv"
done
check "a server with another profile is written" "$GEN" 2000 "$TMP/other.bpfprof"
run "$BPFPROF" diff "$TMP/small.bpfprof" "$TMP/2000.bpfprof" -o "$TMP/diff.html"

[ -z "${SHOTS:-}" ] || mkdir -p "$SHOTS"
drive flame_views.py "$TMP" ${SHOTS:+"$SHOTS"}
finish

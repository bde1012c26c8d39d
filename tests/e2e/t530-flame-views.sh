#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# timeout: 300
#
# The views of a flame graph page say what the folded stacks and report --csv say: the table of functions, the callers
# and callees of one, and the inverted tree. SHOTS=DIR keeps pictures.
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"

GEN=${PROGS%/progs}/e2e/gen_profile
need python3 /usr/bin/chromium /usr/bin/chromedriver
[ -x "$GEN" ] || skip "$GEN is not built"

for kind in small offcpu ${NIGHTLY:+wakeup} wall 2000; do
	check "$kind is written" "$GEN" "$kind" "$TMP/$kind.bpfprof"
	check "$kind as page and svg" "$BPFPROF" report "$TMP/$kind.bpfprof" -o "$TMP/$kind.html" -o "$TMP/$kind.svg"
	check "$kind as stacks" "$BPFPROF" report "$TMP/$kind.bpfprof" -f
	cp "$OUT" "$TMP/$kind.folded"
	check "$kind as functions" "$BPFPROF" report "$TMP/$kind.bpfprof" --csv
	cp "$OUT" "$TMP/$kind.csv"
done
for kind in offcpu wall; do
	check "$kind by class" "$BPFPROF" report "$TMP/$kind.bpfprof" --by-class -f
	cp "$OUT" "$TMP/$kind.by-class"
	check "$kind as JSON" "$BPFPROF" report "$TMP/$kind.bpfprof" --json
	cp "$OUT" "$TMP/$kind.json"
done
check "samples of different weights are written" "$GEN" broken "$TMP/broken.html"
check "two events are written" "${GEN%profile}pmu" "$TMP/pmu.bpfprof"
check "two events as a page" "$BPFPROF" report "$TMP/pmu.bpfprof" -o "$TMP/pmu.html"
for event in cycles branch-misses; do
	check "$event as stacks" "$BPFPROF" report "$TMP/pmu.bpfprof" --value "$event" -f
	cp "$OUT" "$TMP/pmu.$event"
done
check "what changed is written" "$BPFPROF" diff "$TMP/small.bpfprof" "$TMP/2000.bpfprof" -o "$TMP/diff.html"

[ -z "${SHOTS:-}" ] || mkdir -p "$SHOTS"
drive flame_views.py "$TMP" ${SHOTS:+"$SHOTS"}
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# timeout: 120
#
# A heat map says when a program ran and when it waited, as its own clock does, and what is selected in it is the graph.
# SHOTS=DIR keeps pictures.
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need python3

GEN=${PROGS%/progs}/e2e/gen_profile
[ -x "$GEN" ] || skip "$GEN is not built"

check "a large one is made up" "$GEN" heat "$TMP/heat.bpfprof" "$TMP/heat.html"
check "it is reported without root" "$BPFPROF" report --heatmap -o "$TMP/again.html" "$TMP/heat.bpfprof"
check "a copy keeps it" "$BPFPROF" report -o "$TMP/copy.bpfprof" "$TMP/heat.bpfprof"
check "and is the same" cmp "$TMP/heat.bpfprof" "$TMP/copy.bpfprof"
check "the page is the same" cmp "$TMP/heat.html" "$TMP/again.html"
check "without the option there is none" "$BPFPROF" report -o "$TMP/plain.html" "$TMP/heat.bpfprof"
check_no_grep '"moments":' "$TMP/plain.html"
check_status 2 "a heat map needs a page" "$BPFPROF" report --heatmap "$TMP/heat.bpfprof"
check_grep 'add -o FILE.html' "$ERR"
check "one without times" "$GEN" small "$TMP/small.bpfprof"
check_status 2 "has no heat map" "$BPFPROF" report --heatmap -o "$TMP/no.html" "$TMP/small.bpfprof"
check_grep 'record it with --heatmap' "$ERR"

if [ "$(id -u)" = 0 ] && [ -x "$PROGS/heat_beats" ]; then
	need_bpf
	for command in "oncpu -F 499" offcpu ${NIGHTLY:+wall}; do
		name=${command%% *}
		# shellcheck disable=SC2086 # it is words
		check "$name records" "$BPFPROF" $command --heatmap -o "$TMP/$name.bpfprof" -o "$TMP/$name.html" -o "$TMP/$name.json" -- \
			"$PROGS/heat_beats" 3
		cp "$OUT" "$TMP/$name.beats"
		"$BPFPROF" report -f "$TMP/$name.bpfprof" >"$TMP/$name.folded"
		drive heat_model.py "$name" "$TMP"
	done
fi
if [ ! -x /usr/bin/chromium ] || [ ! -x /usr/bin/chromedriver ]; then
	finish
fi
[ -z "${SHOTS:-}" ] || mkdir -p "$SHOTS"
drive flame_heat.py "$TMP" ${SHOTS:+"$SHOTS"}
finish

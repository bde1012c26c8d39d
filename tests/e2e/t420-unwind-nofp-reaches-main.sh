#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Stacks of C code without frame pointers are exactly what the program called, from main's caller on: deep ones, frames larger
# than a row of a table can hold, realigned stacks, signal handlers, the stubs of the linker, children of vfork, threads.
# timeout: 240
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3
need_prog nofp_deep nofp_big nofp_drap nofp_signal nofp_plt nofp_vfork nofp_threads

START='_start;([^;]+;)?__libc_start[^;]*;([^;]+;)?main'
CLOCK='(;clock_ns)?(;[^;]*clock_gettime[^;]*|;\[[^;]*\])*' # the leaf reads the clock, by way of a stub without a name

# Of a program that runs already. What it has not called yet has no tables yet: these stacks count too.
record() { # MIN_ROOTED_PCT PROGRAM ARGS...
	local pct

	start "$PROGS/$2" "${@:3}" 60
	sleep 0.2
	# shellcheck disable=SC2086
	check "oncpu records ${*:2}" "$BPFPROF" oncpu ${HOW:-} --no-inline -p "$PID" -U -F 499 -o "$TMP/x.json" -f 2
	stop "$PID" KILL
	cp "$OUT" "$TMP/x.folded"
	pct=$(json "$TMP/x.json" stacks rooted_pct)
	echo "# figure: rooted/$(tr ' ' - <<<"${*:2}") $(uname -m) $(uname -r | cut -d . -f 1,2) $pct % of $(folded_sum "$TMP/x.folded") samples"
	check_near "$pct" 100 "$(awk -v min="$1" 'BEGIN { print 100 - min }')" "weight that reaches the root, %"
}

# Nearly all stacks have LEAF, and those that do are CHAIN and nothing else, from the program's name on.
exact() { # LEAF CHAIN [TOLERANCE [SPARE_PCT]]
	leaf=$1 chain="^[^;]+;$2$CLOCK\$" awk '
		{ n = $NF; all += n; sub(/ [0-9]+$/, "") }
		index($0 ";", ";" ENVIRON["leaf"] ";") { with += n; if ($0 ~ ENVIRON["chain"]) right += n; else print "#   " n, substr($0, 1, 300) }
		END { printf "%.2f %.2f\n", all ? 100 * with / all : 0, with ? 100 * right / with : 0 }' "$TMP/x.folded" >"$TMP/exact"
	grep '^#' "$TMP/exact"
	read -r with right < <(tail -n 1 "$TMP/exact")
	check_near "$with" 100 "${3:-2}" "samples in $1, %"
	check_near "$right" 100 "${4:-0}" "% of those, the stack being $2,"
}

# 900 times the same: too long for a pattern.
record 99.9 nofp_deep 900
sed -E 's/(;descend)+/ &/; s/(;descend)+;/& ;/' "$TMP/x.folded" | awk '
	{ frames = gsub(/;descend/, "", $2); samples[frames == 900] += $NF }
	END { printf "%.2f\n", 100 * samples[1] / (samples[0] + samples[1]) }' >"$TMP/share"
check_near "$(cat "$TMP/share")" 100 1 "stacks with exactly 900 frames of descend, %"
sed -i -E 's/(;descend)+/;descend/' "$TMP/x.folded"
exact deep_spin "$START;descend;deep_spin"

record 99.9 nofp_big
exact big_leaf "$START;outermost;frame_40k;between;frame_300k;big_leaf"

# From its start on: none of its tables are there before its first stacks, which wait for them. What was never touched of
# the large frames is not there to be copied. Where an emulator takes long for the tables, and for each copy of 350 KB, room
# for such stacks runs out; so there most of the program's time comes after its tables.
spare=${IN_GUEST:+10} runs=${IN_GUEST:+10}
check "oncpu starts nofp_big" "$BPFPROF" oncpu -U -F 499 -o "$TMP/x.json" -f -- "$PROGS/nofp_big" "${runs:-2}"
cp "$OUT" "$TMP/x.folded"
exact big_leaf "$START;outermost;frame_40k;between;frame_300k;big_leaf" 4 "${spare:-3}"

if command -v readelf >/dev/null && [ "$(uname -m)" = x86_64 ]; then
	check_grep '^[0-9a-f]+ exp ' <(readelf -wF "$PROGS/nofp_drap" 2>/dev/null | tail -n +20) "unwind data with expressions for the frame"
fi
record 99.9 nofp_drap
exact realigned_leaf "$START;outermost;realigned;below;realigned_leaf"

# What the handler returns to belongs to the C library, or to the vDSO, and need not have a name.
for how in leaf plain; do
	record 99.9 nofp_signal $how
	exact handler_spin "$START;outermost;first_instruction;[^;]+;on_signal;handler_spin"
done
# The handler's own stack is all that can be set aside while the C library's table is built, which takes an emulator long.
spare=${IN_GUEST:+1} least=${IN_GUEST:+99}
record "${least:-99.9}" nofp_signal raise
exact handler_spin "$START;outermost;(gsignal|raise);([^;]+;)+on_signal;handler_spin" 2 "${spare:-0}"

record 99.9 nofp_plt
exact call_often "$START;outermost;call_often(;abs|;[^;]*abs@plt)?"

# A process that is about to be gone has no memory any more, and no user stack: one sample in some hundreds.
record 99 nofp_vfork
exact child_spin "$START;spawn;child_spin"

record 99.9 nofp_threads
# A C library without symbols has no name for its own two.
exact thread_leaf "(([^;]*clone[^;]*|thread_start|\\[libc[^;]*);)?(start_thread|\\[libc[^;]*);thread_main;worker;thread_leaf"
finish

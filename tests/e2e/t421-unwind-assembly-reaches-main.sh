#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Hand-written code: a return address in a register of its own choice is found; functions without unwind data are left as
# their instructions say (x86-64), or by frame pointer or link register, and are called guesses. Callers below and above have no
# frame pointers.
# timeout: 180
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3
need_prog nofp_asm

START='_start;([^;]+;)?__libc_start[^;]*;([^;]+;)?main;outermost'

record() { # WHAT [SPARE_PCT]
	local pct

	start "$PROGS/nofp_asm" "$1" 60
	sleep 0.2
	# shellcheck disable=SC2086
	check "oncpu records $1" "$BPFPROF" oncpu ${HOW:-} --no-inline -p "$PID" -U -F 499 -o "$TMP/x.json" -f 2
	stop "$PID" KILL
	cp "$OUT" "$TMP/x.folded"
	pct=$(json "$TMP/x.json" stacks rooted_pct)
	echo "# figure: rooted/nofp_asm-$1 $(uname -m) $(uname -r | cut -d . -f 1,2) $pct % of $(folded_sum "$TMP/x.folded") samples"
	check_near "$pct" 100 "${2:-0.1}" "weight that reaches the root, %"
}

# Nearly all stacks have LEAF, and those that do are CHAIN and nothing else.
exact() { # LEAF CHAIN [SPARE_PCT]
	leaf=$1 chain="^[^;]+;$START;$2(;[^;]*clock_gettime[^;]*|;\\\\[[^;]*\\\\])*\$" awk '
		{ n = $NF; all += n; sub(/ [0-9]+$/, "") }
		index($0 ";", ";" ENVIRON["leaf"] ";") { with += n; if ($0 ~ ENVIRON["chain"]) right += n; else print "#   " n, substr($0, 1, 300) }
		END { printf "%.2f %.2f\n", all ? 100 * with / all : 0, with ? 100 * right / with : 0 }' "$TMP/x.folded" >"$TMP/exact"
	grep '^#' "$TMP/exact"
	read -r with right < <(tail -n 1 "$TMP/exact")
	check_near "$with" 100 3 "samples in $1, %"
	check_near "$right" 100 "${3:-0}" "% of those, the stack being $2,"
}

guessed() { # EXPECTED_PCT
	check_near "$(json "$TMP/x.json" stacks guessed_pct)" "$1" 3 "weight with guessed frames, %"
}

record register
exact ra_in_register 'call_it;ra_in_register'
guessed 0
# On aarch64 nobody knows the caller between the instructions that make and undo a frame: one sample in a thousand.
spare=0.5 guesses=100
[ "$(uname -m)" != x86_64 ] || spare=0 guesses=0
record callback $spare
exact called_back 'without_cfi;called_back' $spare
guessed $guesses
record leaf $spare
exact leaf_without_cfi 'call_it;leaf_without_cfi' $spare
guessed $guesses
record frame $spare
exact frame_without_cfi 'call_it;frame_without_cfi' $spare
guessed $guesses
finish

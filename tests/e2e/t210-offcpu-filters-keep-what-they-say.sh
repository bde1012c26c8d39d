#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# By length, state, class; which half of the stack; by thread; without stacks. What is left out is counted under its name.
# alone: it judges times
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=waits.sh
. "${0%/*}/waits.sh"
need_bpf
need python3
need_prog waits_migrate waits_convoy waits_sleeper

# This seed has all three lengths within 0.4 s.
mix() { # OPTIONS...
	record offcpu --idle=show "$@" -- "$PROGS/waits_migrate" 6 0.7 stay
}
check_without() { # FUNCTION
	check_near "$(us_of "$TMP/x.folded" ";$1(;|\$)")" 0 0 "us in $1"
}
check_counted() { # NAME [FEWEST]
	check_between "$(ledger "$TMP/x.json" "$1")" "${2:-1}" 1000000000 "waits counted as $1"
}

mix -m 5000
# But for those that were longer, since they had to wait for a busy CPU: the program knows them.
check_between "$(us_of "$TMP/x.folded" ";block_1ms(;|\$)")" 0 $(($(did late block_1ms) * 105 / 100 + 5000)) "us in block_1ms, of $(did late block_1ms) in long ones"
check_truth block_10ms
check_truth block_100ms
check_counted too-short $(($(did truth block_1ms 4) - $(did late block_1ms 4)))

mix -m 1 -M 50000
# Of an idle CPU that takes its time to come, what the kernel counts as running is more of the short ones.
# Those that had to wait for a busy CPU may be too long.
check_between "$(us_of "$TMP/x.folded" ";block_1ms(;|\$)")" $((($(truth block_1ms) - $(did long block_1ms)) * 93 / 100)) \
	$(($(truth block_1ms) * 115 / 100)) "us in block_1ms, of $(truth block_1ms), $(did long block_1ms) of them in long ones"
check_between "$(us_of "$TMP/x.folded" ";block_10ms(;|\$)")" $((($(truth block_10ms) - $(did long block_10ms)) * 95 / 100)) \
	$(($(truth block_10ms) * 105 / 100)) "us in block_10ms, of $(truth block_10ms), $(did long block_10ms) of them in long ones"
check_without block_100ms
check_counted too-long "$(did truth block_100ms 4)"

mix -m 5000 --state 1
check_truth block_10ms
rm -f "$TMP/x.folded"
"$BPFPROF" offcpu -m 1 --state 2 -o "$TMP/x.folded" -o "$TMP/x.json" -- "$PROGS/waits_migrate" 6 0.7 stay >"$TMP/did" 2>"$ERR" || :
if [ -e "$TMP/x.folded" ]; then
	check_without block_10ms
fi
check_grep 'block_10ms' "$TMP/did" "the program ran"

# All but what was no wait of that class, but one for a CPU.
check_of_class() { # FUNCTION
	local told queued

	told=$(truth "$1") queued=$(did queued "$1")
	check_between "$(us_of "$TMP/x.folded" ";$1(;|\$)")" $(((told - queued) * 95 / 100)) $(((told - queued) * 105 / 100 + 1000)) \
		"us in $1, of $told, $queued of them for a CPU"
}
convoy() { # OPTIONS...
	record offcpu -m 1 --idle=show "$@" -- "$PROGS/waits_convoy" 4 25
}
convoy --class lock
check_of_class wait_for_lock
check_without hold
convoy --class sleep,poll
check_of_class hold
check_without wait_for_lock

convoy -U -A
check_no_grep '_\[k\]' "$TMP/x.folded" "-U: no frames of the kernel"
check_truth wait_for_lock
convoy -K -A
check_without wait_for_lock
check_grep '^convoy;([^;]+_\[k\](;| ))+' "$TMP/x.folded" "-K: frames of the kernel"

convoy --per-thread
check_near "$(grep -Eo '^convoy/[0-9]+' "$TMP/x.folded" | sort -u | wc -l)" 4 0 "threads told apart"
convoy --no-stacks
check_near "$(grep -c '^convoy' "$TMP/x.folded")" 1 0 "lines without stacks"
told=$(($(truth wait_for_lock) + $(truth hold) + $(truth think)))
check_between "$(pct_of "$(us_of "$TMP/x.folded" '^convoy')" $told)" 97 103 "without stacks: % of $told us"
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Without frame pointers, stacks are right in processes that were just forked, in programs that replace each other at the same
# addresses, and in libraries that are loaded and unloaded, now here, now there.
# alone: it judges times
# timeout: 180
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3
need_prog nofp_fork nofp_first nofp_second nofp_churn libnofp_a libnofp_b

START='_start;([^;]+;)?__libc_start[^;]*;([^;]+;)?main'

record() { # MIN_ROOTED_PCT PROGRAM ARGS...: from its start to its end, with the loader's part
	local pct

	# shellcheck disable=SC2086
	check "oncpu records ${*:2}" "$BPFPROF" oncpu ${HOW:-} --no-inline -v -U -F 499 -o "$TMP/x.folded" -o "$TMP/x.json" --broken -- "$PROGS/$2" "${@:3}"
	pct=$(json "$TMP/x.json" stacks rooted_pct)
	echo "# figure: rooted/$2 $(uname -m) $(uname -r | cut -d . -f 1,2) $pct % of $(folded_sum "$TMP/x.folded") samples"
	grep 'unwind tables' "$ERR" | sed 's/^/#   /'
	grep -v '^$' "$OUT" | head -n 8 | sed 's/^/#   /'
	check_near "$pct" 100 "$(awk -v min="$1" 'BEGIN { print 100 - min }')" "weight that reaches the root, %"
}

# LEAF has about PCT % of all samples, and at least MIN % of its stacks are CHAIN and nothing else.
exact() { # LEAF PCT TOLERANCE MIN CHAIN
	local with right

	leaf=$1 chain="^[^;]+;$START;$5(;[^;]*clock_gettime[^;]*|;\\\\[[^;]*\\\\])*\$" awk '
		{ n = $NF; all += n; sub(/ [0-9]+$/, "") }
		index($0 ";", ";" ENVIRON["leaf"] ";") { with += n; if ($0 ~ ENVIRON["chain"]) right += n; else print "#   " n, substr($0, 1, 300) }
		END { printf "%.2f %.2f\n", all ? 100 * with / all : 0, with ? 100 * right / with : 0 }' "$TMP/x.folded" >"$TMP/exact"
	grep '^#' "$TMP/exact"
	read -r with right < <(tail -n 1 "$TMP/exact")
	check_near "$with" "$2" "$3" "samples in $1, %"
	check_near "$right" 100 "$(awk -v min="$4" 'BEGIN { print 100 - min }')" "% of those, the stack being $5,"
}

record 99 nofp_fork 3
exact child_spin 99 2 99.5 'bear;child_main;child_spin'

# In the middle of an exec the old stack is gone; beside others that takes long.
record 98 nofp_first 3
exact first_spin 49 4 99 'first_outer;first_spin'
exact second_spin 49 4 99 'second_outer;second_spin'
# A caller of the other program would be a stack walked by the other program's tables.
check_no_grep 'first_[a-z]*;.*second_|second_[a-z]*;.*first_' "$TMP/x.folded" "no stack mixes the two programs"

record 99 nofp_churn 5
exact inner_a 49 6 99 'churn_a;burn_in_a;inner_a'
exact inner_b 49 6 99 'churn_b;burn_in_b;inner_b'
check_no_grep '_a;.*_b(;|$| )|_b;.*_a(;| )' "$TMP/x.folded" "no stack mixes the two libraries"
finish

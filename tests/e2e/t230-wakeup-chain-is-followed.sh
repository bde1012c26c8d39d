#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Who woke whom, and what each was doing: first wakes second, which wakes third; with --hops back to first.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=waits.sh
. "${0%/*}/waits.sh"
need_bpf
need python3
need_prog waits_chain

# Of the time FUNCTION waited, so much is on lines like that.
check_woken() { # FUNCTION PATTERN DESC
	check_between "$(pct_of "$(us_of "$TMP/x.folded" "$2")" "$(truth "$1")")" 93 105 "$3, % of $(truth "$1") us"
}

wait_c='^third;(.*;)?wait_for_b;(.*;)?--;(.*;)?wake_c;(.*;)?second'
wait_b='^second;(.*;)?wait_for_a;(.*;)?--;(.*;)?wake_b;(.*;)?first$'
record wakeup -o "$TMP/x.bpfprof" -- "$PROGS/waits_chain" 300
check_woken wait_for_b "$wait_c\$" "third, woken by second in wake_c"
check_woken wait_for_a "$wait_b" "second, woken by first in wake_b"
check_woken pace '^first;(.*;)?pace;' "first, woken by its timer"
# But for what they share at their ends: memory, and the way out.
check_near "$(us_of "$TMP/x.folded" '^second;.*--;.*;third$')" 0 6000 "us that third ended a wait of second"

# How long it then waited for a CPU: of the same waker. Other threads of this machine keep it waiting.
check "which class" "$BPFPROF" report -f --by-class -o "$TMP/class.folded" "$TMP/x.bpfprof"
check_grep '^third;\[runnable\];\[woken\];.*wait_for_b;.*--;.*wake_c;.*second ' "$TMP/class.folded" \
	"third was runnable once second had woken it"
check_no_grep '^third;\[runnable\];\[woken\];.*wait_for_b;.*--;\[unknown\] ' "$TMP/class.folded"

record wakeup --hops 2 -- "$PROGS/waits_chain" 300
check_woken wait_for_b "$wait_c;(.*;)?--;(.*;)?wake_b;(.*;)?first\$" "third, woken by second, woken by first"
finish

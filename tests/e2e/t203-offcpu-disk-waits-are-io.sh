#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Waits for a disk are io, and those for pages of a forgotten file page faults. Needs a folder on a disk.
# alone: it judges times
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=waits.sh
. "${0%/*}/waits.sh"
need_bpf
need python3
need_prog waits_writer waits_faults

folder=
for dir in "$TMP" "$ROOT/build" /var/tmp "$HOME"; do
	if [ -w "$dir" ] && "$PROGS/waits_writer" "$dir" 1 >/dev/null 2>&1; then
		folder=$dir
		break
	fi
done
[ -n "$folder" ] || skip "no folder on a disk"

# One for one: the kernel counts how often the function went to sleep. Other waits of that class are at the program's end
# and start; with a journal some of the function's own are for a lock of the file system.
check_blocks() { # FUNCTION CLASS LEAST_PCT
	local blocks

	blocks=$(did blocks "$1")
	[ "$blocks" -ge 3 ] || skip "this disk lets nobody wait"
	check_between "$(json "$TMP/x.json" waits classes "$2" waits)" $((blocks * $3 / 100)) $((blocks + 50)) "waits as $2, of $blocks in $1"
}

# The time between two clocks is that of the waits, but for two things that matter beside waits of some 10 us: the kernel
# counts as running how long an idle CPU takes to come (100 us on virtual ones), and a host that takes the CPU away, as for
# each request to its disk, is in no wait. Nor is all of it for the disk: the kernel knows how long it was for a CPU.
check_time() { # FUNCTION CLASS LOW_PCT
	local told blocks waited

	told=$(truth "$1") blocks=$(did blocks "$1") waited=$(did schedstat "$1" 4)
	check_between "$(us_of "$TMP/x.folded" "^[^;]+;(.*;)?$1(;|\$)")" $(((told - taken) * $3 / 100)) \
		$((told * 105 / 100 + blocks * 100)) "us in $1, of $told in $blocks waits, $taken taken"
	[ "$waited" != none ] || waited=$told # then their number has to do
	check_between "$(us_of "$TMP/x.folded" "^[^;]+;\\[$2\\];(.*;)?$1(;|\$)")" $(((told - taken - waited) * 75 / 100)) \
		$((told * 105 / 100 + blocks * 100)) "us of that as $2, with $waited for a CPU"
}

record offcpu -m 1 --by-class -- "$PROGS/waits_writer" "$folder" 200
check_blocks store io 75
check_time store io 90

record offcpu -m 1 --by-class -- "$PROGS/waits_faults" file "$folder" 200
check_blocks touch pagefault 90
check_time touch pagefault 85
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Waits for a disk are io, and those for pages of a forgotten file page faults. Needs a folder on a disk.
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

# Where a disk answers at once there is nothing to see.
blocks() { # FUNCTION
	[ "$(truth "$1")" -ge 1000 ] || skip "this disk lets nobody wait"
}

record offcpu -m 1 --by-class -- "$PROGS/waits_writer" "$folder" 200
blocks store
# In between it may wait for a CPU, or for a lock of the file system.
# Of short waits the kernel counts much as running: how long an idle CPU takes to come.
check_truth store "" 90 135
check_truth store io 75 135

record offcpu -m 1 --by-class -- "$PROGS/waits_faults" file "$folder" 200
blocks touch
check_truth touch "" 85 135
check_truth touch pagefault 75 135
finish

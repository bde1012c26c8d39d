#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Reads and writes past the page cache: as many as the kernel counted, from the function that began them, and for as long as
# the kernel says that the disk had them. Needs a folder on a disk.
# alone: what others write to the disk is in what the kernel says
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=waits.sh
. "${0%/*}/waits.sh"
# shellcheck source=io.sh
. "${0%/*}/io.sh"
need_bpf
need python3
need_prog io_known

need_disk

NR=500

# What the kernel says of the folder's disk, by now: how many reads and ms of them, writes and ms of them.
disk() {
	awk '{ print $1, $4, $5, $8 }' "/sys/dev/block/$(stat -c %Hd:%Ld "$folder")/stat" 2>/dev/null
}

# Of what was done since: "NUMBER MS" of reads or writes.
disk_since() { # BEFORE WHAT
	echo "$1" "$(disk)" | awk -v what="$2" '{ at = what == "read" ? 1 : 3 } NF == 8 { print $(at + 4) - $at, $(at + 5) - $(at + 1) }'
}

for what in read write; do
	function=${what%e}ing
	# Once more if others used the disk as well, so that its time is not ours; and if the kernel counts more, which it does
	# from where a request is made: whoever loses the CPU there has not given it to the disk. Of 8 one must be right.
	for _ in 1 2 3 4 5 6 7 8; do
		before=$(disk)
		record_ops "$what" io -- "$PROGS/io_known" "$what" "$folder" $NR
		read -r ops ms < <(disk_since "$before" "$what")
		others=$((${ops:-0} - $(row "block $what" calls)))
		[ "$others" -gt 0 ] || [ "$(row "block $what" total_us)" -lt $(((ms - 1) * 950)) ] || break
	done
	check_near $(($(said "$what" 4) / 4096)) $NR 0 "blocks in the kernel's account of the process"
	missing=$(without_end)
	# A host may hide what interrupts do for a moment.
	check_between "$missing" 0 $((NR / 50)) "${what}s whose end was not seen"
	# A few more are of the folder, and of the program's own file.
	check_between "$(row "block $what" calls)" $((NR - missing)) $((NR + 40)) "block ${what}s, and $missing had no end"
	took=$(said "$what" 3)
	us=$(us_of "$TMP/x.folded" "^io_known;\\[block $what\\];(.*;)?main;$function;")
	check_between "$us" 1 "$took" "us in $function(), which took $took"
	if [ -z "$ops" ]; then
		echo "# skip: the kernel has no account of this disk"
	elif [ "$others" -le 0 ]; then
		check_between "$(row "block $what" total_us)" $(((ms - 1) * 950 * (NR - missing) / NR)) $(((ms + 1) * 1050)) \
			"us of block ${what}s, which the disk had for $ms ms"
		check_between "$us" $((ms * 500)) $(((ms + 1) * 1050)) "us in $function() of them"
	else # of which any may have taken most of the time; no disk is faster than 2 us
		check_between "$us" $((NR * 2)) $(((ms + 1) * 1050)) \
			"us in $function(), where the disk had all and $others of others for $ms ms"
	fi
	check_grep "^ *[0-9,]+ .* block $what\$" "$TMP/said"
	check "a saved recording" "$BPFPROF" report -f "$TMP/x.bpfprof"
	check_near "$(diff "$OUT" "$TMP/x.folded" | wc -l)" 0 0 "lines that differ in a saved recording"
done

finish

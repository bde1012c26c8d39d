#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Reads and writes past the page cache: as many as the kernel counted, from the function that began them, and for no
# longer than that function took. Needs a folder on a disk.
# alone: it judges times
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
for what in read write; do
	function=${what%e}ing
	record_ops "$what" io -- "$PROGS/io_known" "$what" "$folder" $NR
	check_near $(($(said "$what" 4) / 4096)) $NR 0 "blocks in the kernel's account of the process"
	missing=$(without_end)
	# A host may hide what interrupts do for a moment.
	check_between "$missing" 0 $((NR / 50)) "${what}s whose end was not seen"
	# A few more are of the folder, and of the program's own file.
	check_between "$(row "block $what" calls)" $((NR - missing)) $((NR + 40)) "block ${what}s, and $missing had no end"
	took=$(said "$what" 3)
	check_between "$(us_of "$TMP/x.folded" "^io_known;\\[block $what\\];(.*;)?main;$function;")" \
		$((took * (NR - missing) / NR / 4)) "$took" "us in $function(), which took $took"
	check_grep "^ *[0-9,]+ .* block $what\$" "$TMP/said"
	check "a saved recording" "$BPFPROF" report -f "$TMP/x.bpfprof"
	check_near "$(diff "$OUT" "$TMP/x.folded" | wc -l)" 0 0 "lines that differ in a saved recording"
done

finish

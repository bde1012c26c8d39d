#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# timeout: 240
# An allocator of ours, preloaded, with its symbols and stripped: what a program allocates through it and what it keeps is
# right by stack within 3 %, bytes and objects. Slabs that it maps for itself are no allocation, and functions of it that
# call its malloc() count once.
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3 strip nm
need_prog allocates slabs

of() { # FUNCTION FILE: weight of the stacks through it
	awk -v name=";$1;" 'index($0, name) { sum += $NF } END { printf "%.0f\n", sum }' "$2"
}

pct() { # PART ALL
	awk -v part="$1" -v all="$2" 'BEGIN { printf "%.3f\n", 100 * part / all }'
}

cp "$PROGS/slabs" "$TMP/libslabs.so"
strip -o "$TMP/libbare.so" "$TMP/libslabs.so"
check "one has its symbols" test -n "$(nm "$TMP/libslabs.so" 2>/dev/null)"
check "one has none" test -z "$(nm "$TMP/libbare.so" 2>/dev/null)"
LD_PRELOAD=$TMP/libslabs.so "$PROGS/allocates" 100 >"$TMP/slabs" 2>&1
"$PROGS/allocates" 100 >"$TMP/libc"
check "it allocates as the C library does" cmp "$TMP/slabs" "$TMP/libc"

for name in slabs bare; do
	: >"$TMP/bytes"
	: >"$TMP/objects"
	: >"$TMP/truths"
	for run in 1 2 3; do
		check "$name, run $run" env LD_PRELOAD="$TMP/lib$name.so" "$BPFPROF" alloc --every 256 -o "$TMP/x.bpfprof" -o "$TMP/x.json" -- \
			"$PROGS/allocates" 40000
		cat "$OUT" >>"$TMP/truths"
		cp "$OUT" "$TMP/truth"
		"$BPFPROF" report -f "$TMP/x.bpfprof" >"$TMP/one"
		cat "$TMP/one" >>"$TMP/bytes"
		"$BPFPROF" report -f --value objects "$TMP/x.bpfprof" >>"$TMP/objects"
		check_near "$(json "$TMP/x.json" samples lost)" 0 0 "lost, $name, run $run"
		# mapped() calls mmap() itself.
		check_no_grep ';(malloc|calloc|realloc|memalign|posix_memalign|aligned_alloc|take|cut|map);.*mmap' "$TMP/one" \
			"no slab is an allocation, $name, run $run"
		check_no_grep ';(calloc|realloc|memalign|posix_memalign);.*malloc' "$TMP/one" "nothing counts twice, $name, run $run"
		check_grep ';large;[^;]*malloc ' "$TMP/one" "who calls is known, $name, run $run"
	done
	# While the program begins, the rules for its stacks are still read: beside others for so long that some stacks end early,
	# which is told ("stacks ... complete"). Their bytes count, and the parts of the others are as they should be.
	all=$(awk '{ sum += $2 } END { printf "%.0f", sum }' "$TMP/truths")
	whole=$(pct "$(of one_round "$TMP/bytes")" "$all")
	echo "# figure: $name: $whole % of all bytes"
	check_between "$whole" 50 101 "percent of the bytes in complete stacks, $name"
	# (Of a stack that ends early nobody knows whether an allocator maps for itself.)
	check_near "$(pct "$(folded_sum "$TMP/bytes")" "$all")" 100 5 "percent of all bytes, $name"
	while read -r function _; do
		[ "$function" != leaks ] || continue # 64 bytes in each tenth round: chance is larger
		read -r bytes objects < <(awk -v f="$function" -v whole="$whole" '$1 == f { b += $2; o += $3 }
			END { printf "%.0f %.0f\n", b * whole / 100, o * whole / 100 }' "$TMP/truths")
		check_near "$(pct "$(of "$function" "$TMP/bytes")" "$bytes")" 100 3 "percent of the bytes of $function, $name"
		check_near "$(pct "$(of "$function" "$TMP/objects")" "$objects")" 100 3 "percent of the objects of $function, $name"
	done <"$TMP/truth"

	# What is kept: in a second program, by functions of its own.
	[ -x "$PROGS/holds" ] || continue
	check "$name --live" env LD_PRELOAD="$TMP/lib$name.so" "$BPFPROF" alloc --live --every 256 -o "$TMP/x.bpfprof" -o "$TMP/x.json" -- \
		"$PROGS/holds" 7 3000
	cp "$OUT" "$TMP/truth"
	"$BPFPROF" report -f --value live-bytes "$TMP/x.bpfprof" >"$TMP/live"
	for function in leak large; do
		bytes=$(sed -n "s/^$function //p" "$TMP/truth")
		check_near "$(pct "$(of $function "$TMP/live")" "$bytes")" 100 3 "percent of what $function keeps, $name"
	done
	check_near "$(json "$TMP/x.json" samples notes live-missed)" 0 0 "missed returns, $name"
	kept=$(awk '{ sum += $2 } END { printf "%.0f", sum }' "$TMP/truth")
	check_near "$(pct "$(awk '{ sum += $NF } END { printf "%.0f", sum }' "$TMP/live")" "$kept")" 100 3 "percent of all that is kept, $name"
done

# Of a process that runs already, whose allocator is found among its files.
start env LD_PRELOAD="$TMP/libbare.so" "$PROGS/allocates" 0 20 6000
check "alloc -p" "$BPFPROF" alloc -p "$PID" --every 64K -f 1
check_grep ';forever;thousand;[^;]*malloc [0-9]+$' "$OUT" "of one that runs"
finish

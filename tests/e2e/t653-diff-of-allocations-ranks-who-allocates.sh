#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# diff of two recordings of allocations has the functions that allocate in its rows, through wrappers as well: the one that
# allocates more comes first, and is the only one that changed. The allocator's functions have nothing of their own.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need gcc python3
cat >"$TMP/hungry.c" <<'C'
#include <stdlib.h>
#include <unistd.h>

/* What programs wrap their allocator in. */
__attribute__((noinline)) static void *xmalloc(size_t size)
{
	void *p = malloc(size);

	__asm__ volatile("" : "+r"(p));
	return p;
}

#define ALLOCATES(name, call)                                                                      \
	__attribute__((noinline)) static void name(int nr)                                         \
	{                                                                                          \
		for (int i = 0; i < nr; i++) {                                                     \
			void *p = call;                                                            \
			__asm__ volatile("" : "+r"(p));                                            \
			free(p);                                                                   \
		}                                                                                  \
		__asm__ volatile("");                                                              \
	}
ALLOCATES(hungry, xmalloc(1000))
ALLOCATES(steady, malloc(1000))
ALLOCATES(zeroing, calloc(10, 100))

int main(int argc, char **argv)
{
	hungry(10); /* its unwind tables are made */
	usleep(400000);
	hungry(argc > 1 ? atoi(argv[1]) : 0);
	steady(20000);
	zeroing(20000);
	return 0;
}
C
gcc -O1 -g -fno-builtin -o "$TMP/hungry" "$TMP/hungry.c" || skip "no C compiler"
record() { # NAME CALLS
	check "alloc of $2 calls" "$BPFPROF" alloc --every 1K -o "$TMP/$1.bpfprof" -- "$TMP/hungry" "$2"
}
record before 20000
record after 60000
check "diff" "$BPFPROF" diff "$TMP/before.bpfprof" "$TMP/after.bpfprof"
awk '/BEFORE.*FUNCTION/ { getline; print $(NF - 1), $2 + 0 }' "$OUT" >"$TMP/first"
read -r first share <"$TMP/first"
check_is "$first" hungry "the first function"
check_near "$share" 60 3 "its share afterwards"
check_no_grep '^ *([1-9]|0\.[1-9])[0-9.]*% .* (x?malloc|(__libc_)?calloc) ' "$OUT" "no function of the allocator has a share"
check "diff --absolute" "$BPFPROF" diff --absolute "$TMP/before.bpfprof" "$TMP/after.bpfprof" -o "$TMP/d.json"
python3 -c 'import json, sys
for row in json.load(open(sys.argv[1]))["rows"]:
    print(row["name"], "changed" if row["real"] else "-", "%.0f" % (row["change_pct"] or 0))' "$TMP/d.json" >"$TMP/rows"
check_is "$(awk '$2 == "changed"' "$TMP/rows" | cut -d ' ' -f 1,2 | tr '\n' ' ')" "hungry changed " "what changed"
check_near "$(awk '$1 == "hungry" { print $3 }' "$TMP/rows")" 200 15 "by how many percent"
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# bigbin.sh FILE: builds a program of 50 MB of code with 2,000 functions that call each other through a table, 20 deep and in
# ever new ways, and 200,000 further symbols. Profiling it meets about as many distinct stacks as samples.
# usage of the result: FILE SECONDS
set -eu
out=$1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

awk 'BEGIN {
	n = 2000
	print "#include <stdint.h>\n#include <stdlib.h>\n#include <time.h>"
	print "typedef void fn(uint64_t r, int depth);\nextern fn *const table[" n "];"
	print "volatile unsigned long sink;"
	print "__attribute__((noinline)) static void leaf(void) { for (int i = 0; i < 20000; i++) sink++; }"
	for (i = 0; i < n; i++)
		printf "__attribute__((noinline)) void work_%d(uint64_t r, int depth)\n{\n" \
		       "\tif (!depth)\n\t\tleaf();\n\telse\n\t\ttable[(r >> 33) %% %d](r * 6364136223846793005u + %d, depth - 1);\n" \
		       "\t__asm__ volatile(JUMP \" 1f\\n.skip 25600\\n1:\");\n}\n", i, n, 2 * i + 1
	print "fn *const table[] = {"
	for (i = 0; i < n; i++)
		print "work_" i ","
	print "};\nint main(int argc, char **argv)\n{\n\ttime_t end = time(NULL) + (argc > 1 ? atoi(argv[1]) : 5);"
	print "\tfor (uint64_t r = 1; time(NULL) < end; r = r * 2862933555777941757u + 3037000493u)\n\t\ttable[(r >> 33) % " n "](r, 20);\n}"
}' >"$tmp/big.c"
# Symbols that share one address range cost as much to read as real ones.
awk 'BEGIN {
	print ".text"
	for (i = 0; i < 200000; i++)
		printf ".type padding_function_%d, STT_FUNC\npadding_function_%d: .skip 4\n.size padding_function_%d, 4\n", i, i, i
	print ".section .note.GNU-stack,\"\""
}' >"$tmp/symbols.s"
case $(uname -m) in aarch64) jump=b ;; *) jump=jmp ;; esac
"${CC:-cc}" -O1 -fno-omit-frame-pointer -fno-optimize-sibling-calls -DJUMP="\"$jump\"" "$tmp/big.c" "$tmp/symbols.s" -o "$out"

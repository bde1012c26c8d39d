#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# timeout: 120
#
# .fdata has the samples of a program at the addresses that nm knows, linked at any address, and perf2bolt takes them.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3
need nm
need_prog spin_abc

# of each function: samples by the symbol table, against folded stacks
by_symbol() { # PROGRAM FDATA FOLDED
	nm -n --defined-only "$1" | python3 -c '
import re, sys
symbols = [(int(a, 16), n) for a, t, n in (line.split() for line in sys.stdin) if t in "tT"]
found, head = {}, None
for line in open(sys.argv[1]):
    if line.startswith("E "):
        head = line
        continue
    address, count = re.fullmatch(r"S ([0-9a-f]+) (\d+)\n", line).groups()
    name = [n for a, n in symbols if a <= int(address, 16)][-1]
    found[name] = found.get(name, 0) + int(count)
want = {}
for line in open(sys.argv[2]):
    names, count = line.rsplit(" ", 1)
    leaf = names.split(";")[-1]
    if leaf.startswith("spin_"):
        want[leaf] = want.get(leaf, 0) + int(count)
assert head, "what was sampled"
assert want and want == {n: c for n, c in found.items() if n.startswith("spin_")}, (want, found)' "$2" "$3"
}

cp "$PROGS/spin_abc" "$TMP/pie"
cc=$(command -v gcc || command -v cc)
if [ -n "$cc" ] && "$cc" -O2 -g -no-pie -Wl,-q -o "$TMP/fixed" "${0%/*}/../progs/spin_abc.c" 2>"$ERR"; then
	programs="pie fixed"
else
	programs=pie
fi
perf2bolt=$(compgen -c perf2bolt | sort -uV | tail -n 1)
for name in $programs; do
	check "$name is recorded" "$BPFPROF" oncpu -F 999 -o "$TMP/$name.fdata" -o "$TMP/$name.bpfprof" -- "$TMP/$name" 1
	# As the linker has them: spin_b() has the clock's reading inlined.
	check "its stacks" "$BPFPROF" report --no-inline -f "$TMP/$name.bpfprof"
	cp "$OUT" "$TMP/$name.folded"
	check "each sample is at its symbol: $name" by_symbol "$TMP/$name" "$TMP/$name.fdata" "$TMP/$name.folded"
	check "report writes it" "$BPFPROF" report -o "$TMP/again.fdata" "$TMP/$name.bpfprof"
	check "the same" cmp "$TMP/$name.fdata" "$TMP/again.fdata"
	# Samples without branches are read since LLVM 21.
	[ "${perf2bolt##*-}" -ge 21 ] 2>/dev/null || continue
	check "perf2bolt reads it" "$perf2bolt" --pa -nl -p "$TMP/$name.fdata" -o "$TMP/$name.out" "$TMP/$name"
	for letter in a b c; do
		check_grep "^1 spin_$letter(/[0-9]+)? [0-9a-f]+ [0-9]+\$" "$TMP/$name.out"
	done
done
check_status 2 "waits are refused before they are recorded" "$BPFPROF" offcpu -o "$TMP/no.fdata" 1
check_grep 'samples of running code' "$ERR"
finish

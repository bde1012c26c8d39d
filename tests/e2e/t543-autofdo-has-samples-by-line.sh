#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# .afdo.txt has each sample of a program under its functions and lines as llvm-symbolizer counts them from where these begin,
# and LLVM takes it.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3
need_prog mixes spin_abc

check "recorded" "$BPFPROF" oncpu -F 999 -o "$TMP/x.fdata" -o "$TMP/x.afdo.txt" -o "$TMP/x.bpfprof" -- "$PROGS/mixes" 1
check_grep '^ [0-9]+: mix:[0-9]+$' "$TMP/x.afdo.txt" "calls that were inlined"
check "report writes it" "$BPFPROF" report -o "$TMP/again.afdo.txt" "$TMP/x.bpfprof"
check "the same" cmp "$TMP/x.afdo.txt" "$TMP/again.afdo.txt"

# What each line has, by the addresses of the other file. A sum is that of what stands below it.
cat >"$TMP/oracle.py" <<'P'
import json, re, subprocess, sys
program, fdata, afdo = sys.argv[1:]
rows = [re.fullmatch(r"S ([0-9a-f]+) (\d+)", l.strip()).groups() for l in open(fdata) if l.startswith("S ")]
answers = subprocess.run(["llvm-symbolizer", "--output-style=JSON", "--no-demangle", "--inlines", "--relative-address",
    "--obj=" + program] + ["0x" + r[0] for r in rows], capture_output=True, text=True, check=True).stdout
known = json.loads(answers) if answers.startswith("[") else [json.loads(l) for l in answers.splitlines()]
want = {}
for (_, count), at in zip(rows, known):
    chain = []
    for f in reversed(at["Symbol"]):
        if not f["Line"] or not f["StartLine"]:
            break
        chain += [f["FunctionName"].split(".")[0], f["Line"] - f["StartLine"] & 0xffff]
    if chain:
        want[tuple(chain)] = want.get(tuple(chain), 0) + int(count)
got, sums, path = {}, {}, []
for line in open(afdo):
    depth = len(line) - len(line.lstrip(" "))
    if not depth:
        name, total, _ = line.split(":")
        path, key = [(name, None)], (name,)
        sums[key] = int(total)
        continue
    offset, rest = re.fullmatch(r" +(\d+): (.+)\n", line).groups()
    path = path[:depth]
    key = sum(((n, o) for n, o in path[:-1]), ()) + (path[-1][0], int(offset))
    if ":" in rest:
        name, total = rest.split(":")
        path[-1] = (path[-1][0], int(offset))
        path.append((name, None))
        sums[key + (name,)] = int(total)
    else:
        assert key not in got, line
        got[key] = int(rest)
assert got == want, sorted(set(got.items()) ^ set(want.items()))
for key, total in sums.items():
    assert total == sum(n for k, n in got.items() if k[:len(key)] == key), (key, total)
print(len(got), "lines,", sum(got.values()), "samples,", sum(len(k) > 2 for k in got), "of them in inlined code by", sum(n for k, n in got.items() if len(k) > 2), "samples")
P
if command -v llvm-symbolizer >/dev/null; then
	check "each line has its samples" python3 "$TMP/oracle.py" "$PROGS/mixes" "$TMP/x.fdata" "$TMP/x.afdo.txt"
	cat "$OUT"
fi

mistake() { # PATTERN ARGS...
	check_status 2 "refused: bpfprof ${*:2}" "$BPFPROF" "${@:2}"
	check_grep "$1" "$ERR"
}
mistake 'afdo.txt wants samples of running code' offcpu -o "$TMP/no.afdo.txt" 1
cp "$PROGS/spin_abc" "$TMP/stripped"
strip "$TMP/stripped"
check "recorded" "$BPFPROF" oncpu -F 999 -o "$TMP/s.bpfprof" -- "$TMP/stripped" 0.2
mistake 'compile it with -g' report -o "$TMP/no.afdo.txt" "$TMP/s.bpfprof"

command -v llvm-profdata >/dev/null || skip "needs llvm-profdata for the rest"
check "llvm-profdata reads it" llvm-profdata merge --sample --text "$TMP/x.afdo.txt" -o "$TMP/merged.txt"
check "with the same sums" diff <(grep -o '^[a-z][^:]*:[0-9]*' "$TMP/x.afdo.txt" | sort) <(grep -o '^[a-z][^:]*:[0-9]*' "$TMP/merged.txt" | sort)
command -v clang >/dev/null || finish
check "clang takes it without a warning" clang -O2 -g -Wall -Werror -Rpass=sample-profile -D_GNU_SOURCE -fprofile-sample-use="$TMP/x.afdo.txt" \
	-o "$TMP/faster" "${0%/*}/../progs/mixes.c"
check_grep 'mixes.c:[0-9]+:[0-9]+: remark: .*\[-Rpass=sample-profile\]' "$ERR" "and uses it"
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Lines and instructions have the samples that a program of known shares makes in them, as perf annotate says too; what
# is left of it is shown when the program's file is gone, is another build, or has no debug information.
# timeout: 120
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3
need_prog inlines spin_abc
cd "$TMP" || exit 1
cp "$PROGS/inlines" prog

value() { # FILE EXPRESSION, of d
	python3 -c 'import json, sys
d = json.load(open(sys.argv[1]))
print(eval(sys.argv[2]))' "$@"
}

check "a recording" "$BPFPROF" oncpu -F 499 -o x.bpfprof -- ./prog 4
check "annotate" "$BPFPROF" annotate --json x.bpfprof outer
cp "$OUT" x.json
SOURCE=$(value x.json 'd["functions"][0]["lines"][0]["file"]')
check_grep '/inlines\.c$' <(echo "$SOURCE") "the hottest line is in inlines.c"

# Two thirds in inner(), which is put into outer() by way of middle(); a third in outer() itself.
cat >lines.py <<'P'
import json, re, sys
d = json.load(open("x.json"))
f, = d["functions"]
assert (f["function"], f["kind"], f["inlined"]) == ("outer", "user", False), f
burns = [n for n, line in enumerate(open(sys.argv[1]), 1) if "burn_until(" in line]
shares = {}
for l in f["lines"]:
    if l["file"] == sys.argv[1] and l["line"] in burns:
        shares[l["line"]] = (l["function"], l["inlined"], l["share_pct"][0])
        assert "burn_until(" in l["source"], l
inner, outer = burns
assert shares[inner][:2] == ("inner", True) and abs(shares[inner][2] - 66.7) < 4, shares
assert shares[outer][:2] == ("outer", False) and abs(shares[outer][2] - 33.3) < 4, shares
weights = [l["weights"][0] for l in f["lines"]]
assert weights == sorted(weights, reverse=True) and sum(weights) == f["weights"][0]
insns = f["instructions"]
assert sum(i["weights"][0] for i in insns) == f["weights"][0]
assert all(i["text"] for i in insns)
by_line = {}
for i in insns:
    key = (i["file"], i["line"], i["function"])
    by_line[key] = by_line.get(key, 0) + i["weights"][0]
for l in f["lines"]:
    assert by_line[l["file"], l["line"], l["function"]] == l["weights"][0], l
open("addresses", "w").writelines("%x\n" % i["address"] for i in insns)
P
if [ -r "$SOURCE" ]; then
	check "lines have their shares, and their instructions add up to them" python3 lines.py "$SOURCE"
	if command -v objdump >/dev/null; then
		objdump -d prog | awk '/<outer>:$/ { inside = 1; next } !NF { inside = 0 }
			inside && $2 ~ /^[0-9a-f][0-9a-f]$|^[0-9a-f]{8}$/ && NF > 2 && match($0, /\t.*\t/) { sub(/:$/, "", $1); print $1 }' \
			>theirs
		check "instructions are where objdump has them" diff theirs addresses
	fi
else
	echo "# skip: the shares of lines: $SOURCE is not here"
fi

check "the text" "$BPFPROF" annotate x.bpfprof outer
check_grep '^outer +.*/prog$' "$OUT"
check_grep ':[0-9]+ +inlined: inner$' "$OUT" "inlined code has lines of its own"
check_grep '^ *[0-9.]+% +[0-9a-f]+:  ' "$OUT" "hot instructions stand below"
check "the hottest function is the same" "$BPFPROF" annotate x.bpfprof
check_grep '^outer +' "$OUT"
check "without instructions" "$BPFPROF" annotate -S x.bpfprof outer
check_no_grep '^ *[0-9.]+% +[0-9a-f]+:  ' "$OUT"
check "a function that was inlined" "$BPFPROF" annotate --json inner x.bpfprof
check_near "$(value "$OUT" 'd["functions"][0]["share_pct"][0]')" 66.7 5 "its share"
check "all lines" "$BPFPROF" annotate -a -i x.bpfprof outer
check_near "$(grep -cE '^ *([<0-9.]+%)? +[0-9a-f]+:  ' "$OUT")" "$(wc -l <addresses)" 0 "all instructions"
# Chance decides which lines of the loop have no sample; the opening brace runs once in 6 ms.
check_grep '^ +[0-9]+ +(\{|clock_gettime\(clock, &ts\);|return \(uint64_t\)ts\.tv_sec.*)$' \
	<(grep -B 1 -E '^ +[0-9a-f]+:  ' "$OUT") "lines without a sample have their text, too"

check "lines of all code" "$BPFPROF" annotate --file-lines x.bpfprof
check_grep '^ *6[0-9]\.[0-9]% +.*inlines\.c:[0-9]+ ' "$OUT"

check "on a narrow terminal" on_terminal 60 5 env NO_COLOR=1 "$BPFPROF" annotate --file-lines x.bpfprof
check_grep '^ *6[0-9]\.[0-9]% +….*inlines\.c:[0-9]+' "$OUT" "paths are not cut at their end"

# Another folder of sources: the text there is what is shown.
mkdir -p sources/progs
echo | sed 's/.*/ALTERED LINE/;p;p;p;p;p;p;p;p;p;p;p;p;p;p;p;p;p;p;p;p;p;p;p;p;p;p;p' >sources/progs/inlines.c
touch -d 'next hour' sources/progs/inlines.c
check "--source-dir" "$BPFPROF" annotate --source-dir nowhere --source-dir sources x.bpfprof outer
check_grep '^ *6[0-9]\.[0-9]% +[0-9]+  ALTERED LINE$' "$OUT"
check_grep 'inlines\.c was changed after the recording: its lines may have moved$' "$OUT"

# Samples of the same program by another profiler: within what sampling leaves open.
if command -v perf >/dev/null && perf record -q -e cpu-clock -F 499 -o perf.data ./prog 4 >perf.log 2>&1; then
	perf annotate -i perf.data --stdio -l -s outer >perf.txt 2>/dev/null
	check "perf annotate says the same of lines" python3 - perf.txt <<'P'
import json, re, sys
theirs = {}
for line in open(sys.argv[1]):
    m = re.match(r" +([0-9]+\.[0-9]+) +([a-z_]+\.[ch]):([0-9]+)", line)
    if m:
        theirs[m[2], int(m[3])] = float(m[1])
ours = {}
for l in json.load(open("x.json"))["functions"][0]["lines"]:
    key = ((l["file"] or "").rsplit("/", 1)[-1], l["line"])
    ours[key] = ours.get(key, 0) + l["share_pct"][0]
assert theirs, "no lines"
for key in set(theirs) | set(ours):
    assert abs(theirs.get(key, 0) - ours.get(key, 0)) < 5, (key, theirs, ours)
P
else
	echo "# skip: the comparison with perf annotate: perf does not record here"
fi

# What is left when the file is another one, or gone.
cp "$PROGS/spin_abc" prog
check "another build" "$BPFPROF" annotate x.bpfprof outer
check_grep '/prog is another build than the one that was recorded, so instructions are not shown$' "$OUT"
check_grep 'inlined: inner$' "$OUT" "its lines are shown"
check_no_grep '^ *[0-9.]+% +[0-9a-f]+:  ' "$OUT" "no instructions of another program"
rm prog
check "no file" "$BPFPROF" annotate x.bpfprof outer
check_grep '/prog cannot be read \(No such file or directory\), so instructions are not shown$' "$OUT"
mkdir -p "below$TMP"
cp "$PROGS/inlines" "below$TMP/prog"
check "--symfs" "$BPFPROF" annotate --symfs "$TMP/below" x.bpfprof outer
check_grep '^ *[0-9.]+% +[0-9a-f]+:  ' "$OUT" "instructions from below that folder"

if command -v strip >/dev/null; then
	cp "$PROGS/inlines" prog
	strip prog
	check "a recording of a stripped program" "$BPFPROF" oncpu -F 499 -o s.bpfprof -- ./prog 1
	check "annotate shows its instructions" "$BPFPROF" annotate s.bpfprof
	check_grep '^ *[0-9.]+% +[0-9a-f]+:  ' "$OUT"
	check_grep '^[0-9.]+% is in code whose lines are not known \(no debug information\)$' "$OUT"
fi

# A column for each event.
check "several events" "$BPFPROF" pmu -e cpu-clock,task-clock -o e.bpfprof -- "$PROGS/inlines" 2
check "annotate has them all" "$BPFPROF" annotate e.bpfprof outer
check_grep '^ *cpu-clock +task-clock$' "$OUT"
# Some 50 samples beside a busy machine: two thirds, within three sigma.
check_grep '^ *[4-8][0-9]\.[0-9]% +[4-8][0-9]\.[0-9]% +[0-9]+ ' "$OUT"

# A file is opened once, not for each of its instructions: descriptors for less than these do, and no time goes by.
cp "$PROGS/inlines" prog
check "all instructions" "$BPFPROF" annotate -a -i x.bpfprof outer
cp "$OUT" whole.txt
check "... are more than descriptors" test "$(grep -c -P '^ .* [0-9a-f]+:  ' whole.txt)" -gt 24
check "... and have their lines" bash -c 'ulimit -n 16; exec "$0" annotate -a -i x.bpfprof outer' "$BPFPROF"
cp "$OUT" few.txt
check "... with few" cmp few.txt whole.txt
finish

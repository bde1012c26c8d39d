#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# annotate of recordings that are broken, foreign or of something else, of functions that are not there, on terminals of
# any size: one sentence, and what there is to see.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need python3
GEN=${PROGS%/progs}/e2e
for gen in gen_profile gen_pmu gen_runqlat gen_stat; do
	[ -x "$GEN/$gen" ] || lacks "$GEN/$gen is not built"
done
cd "$TMP" || exit 1
check "profiles" "$GEN/gen_profile" small x.bpfprof
"$GEN/gen_profile" wall wall.bpfprof
"$GEN/gen_pmu" pmu.bpfprof
"$GEN/gen_runqlat" all q.bpfprof
"$GEN/gen_stat" json >stat.json
head -c 1000 x.bpfprof >short.bpfprof
cp "$BPFPROF" foreign.bpfprof
python3 - <<'P'
b = bytearray(open("x.bpfprof", "rb").read())
b[8:12] = (99).to_bytes(4, "little")
open("future.bpfprof", "wb").write(b)
P

refused() { # STATUS PATTERN ARGS...
	check_status "$1" "annotate ${*:3}" "$BPFPROF" annotate "${@:3}"
	check_grep "$2" "$ERR"
	check_near "$(wc -l <"$ERR")" 1 0 "one sentence"
}
refused 2 'which recording' --all
refused 1 'No such file' nothing.bpfprof
refused 1 'short\.bpfprof' short.bpfprof
refused 1 'foreign\.bpfprof' foreign.bpfprof
refused 1 'future\.bpfprof' future.bpfprof
refused 2 'recordings of stacks; this is a recording of runqlat' q.bpfprof
refused 2 'recordings of stacks; this is a result of stat' stat.json
refused 2 "no function 'memcp' in the recording; did you mean '.*memcpy.*'\?" x.bpfprof memcp
refused 2 "no function 'zzzzzzzzzz' in the recording$" x.bpfprof zzzzzzzzzz
refused 2 "no function 'nothing::memcpy' in the recording" x.bpfprof nothing::memcpy
refused 2 "'main' has no samples by itself" x.bpfprof main
refused 2 'exclude each other' --hottest 2 x.bpfprof main
refused 2 'exclude each other' --hottest 2 --file-lines x.bpfprof
refused 2 'exclude each other' -i -S x.bpfprof
refused 2 "no such event" --value no-such-event pmu.bpfprof

# What there is to see of recordings whose programs are not here.
for name in x wall pmu; do
	check "functions of $name" "$BPFPROF" annotate --hottest 50 $name.bpfprof
	check_grep '[0-9]+(\.[0-9])?% of the recording' "$OUT"
	check_no_grep $'[\x01-\x08\x0b-\x1f\x7f]' "$OUT" "no control bytes"
	check "lines of $name" "$BPFPROF" annotate --file-lines $name.bpfprof
	check "all of $name as a file" "$BPFPROF" annotate --hottest 50 -o $name.json -o $name.txt $name.bpfprof
	check "... strictly JSON" python3 -c 'import json, sys
d = json.load(open(sys.argv[1]), parse_constant=lambda c: sys.exit(c))
for f in d["functions"]:
    for e in range(len(d["events"])):
        assert sum(l["weights"][e] for l in f["lines"]) == f["weights"][e], f
        assert sum(i["weights"][e] for i in f["instructions"]) == f["weights"][e], f' $name.json
done

# The hottest function is the one that report has first.
"$BPFPROF" report --by function --csv x.bpfprof | sed -n '2s/,.*//p' | tr -d '"' >first
check "the hottest" "$BPFPROF" annotate x.bpfprof
check_grep "^$(cat first)  " "$OUT"

for size in "20 5" "60 24" "200 50"; do
	# shellcheck disable=SC2086
	check "a terminal of $size" on_terminal $size env -u NO_COLOR TERM=xterm "$BPFPROF" annotate --hottest 9 pmu.bpfprof
	check_grep $'\x1b\[1m' "$OUT" "has colour"
done
check "a pipe" "$BPFPROF" annotate pmu.bpfprof
check_no_grep $'\x1b' "$OUT" "has none"
check "a pipe that wants it" "$BPFPROF" annotate --color always pmu.bpfprof
check_grep $'\x1b\[1m' "$OUT"
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# --call-graph: by frame pointers alone, code without them has no callers, and it says so; tables alone suffice, where there are
# any; both together leave nothing out. Memory for too few tables costs stacks, never the recording.
# timeout: 180
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3
need_prog nofp_deep generates deep_fp

record() { # HOW PROGRAM ARGS...
	start "$PROGS/$2" "${@:3}" 60
	sleep 0.2
	check "--call-graph $1 $2" "$BPFPROF" oncpu --call-graph "$1" -p "$PID" -U -F 499 -o "$TMP/x.json" -f 1
	stop "$PID" KILL
	cp "$OUT" "$TMP/x.folded"
	echo "# figure: rooted/$2-$1 $(uname -m) $(uname -r | cut -d . -f 1,2) $(stacks rooted_pct) % of $(folded_sum "$TMP/x.folded") samples"
}

stacks() { # KEY...
	json "$TMP/x.json" stacks "$@"
}

frames() { # FUNCTION: how often it is in a stack that ends in deep_spin, at most and at least
	awk -v function_name="$1" '/deep_spin [0-9]+$/ {
		n = gsub(";" function_name, "")
		most = n > most ? n : most
		least = least == "" || n < least ? n : least
	} END { print most + 0, least + 0 }' "$TMP/x.folded"
}

record fp nofp_deep 900
read -r most _ < <(frames descend)
check_near "$most" 1 1 "frames of descend by frame pointer, without frame pointers,"
# On aarch64 code that has no use for the frame pointer leaves it alone, so it leads past all of them to the C library's frame.
if [ "$(uname -m)" = x86_64 ]; then
	check_near "$(stacks rooted_pct)" 0 1 "weight that reaches the root, %"
	broken=$(python3 -c 'import json, sys
ends = json.load(open(sys.argv[1]))["stacks"]["ends"]
print(ends["bad-frame-pointer"] + ends["bad-return-address"] + ends["zero-frame-pointer"])' "$TMP/x.json")
	check_near "$broken" 100 1 "weight whose frame pointer was none, %"
	check "--broken names it" "$BPFPROF" oncpu --call-graph fp --broken -U -F 499 -- "$PROGS/nofp_deep" 900 1
	check_grep ' nofp_deep +(deep_spin|descend) +(bad-frame-pointer|bad-return-address|zero-frame-pointer)' "$OUT" "the row of nofp_deep"
fi

for how in dwarf auto; do
	record $how nofp_deep 900
	check_near "$(stacks rooted_pct)" 100 0.1 "weight that reaches the root, %"
	check_near "$(stacks guessed_pct)" 0 0.1 "weight with guessed frames, %"
	read -r most least < <(frames descend)
	check_near "$most" 900 0 "frames of descend, at most,"
	check_near "$least" 900 0 "frames of descend, at least,"
done

record fp deep_fp 100
check_near "$(stacks rooted_pct)" 100 1 "by frame pointer, with frame pointers: weight that reaches the root, %"
# Where nothing is known of the code, tables alone must not guess. What calls the generated code takes a percent: of few
# samples, where others want the CPU, some more.
few() { # sets $few
	few=$(($(json "$TMP/x.json" samples recorded) < 200 ? 8 : 3))
}
record dwarf generates none 5000 private
few
check_near "$(stacks rooted_pct)" 0 $few "by tables alone, through generated code: weight that reaches the root, %"
check_near "$(stacks ends no-unwind-data)" 100 $few "no-unwind-data, %"
check_near "$(stacks guessed_pct)" 0 0 "weight with guessed frames, %"
record auto generates none 5000 private
few
check_near "$(stacks rooted_pct)" 100 0.1 "by both: weight that reaches the root, %"
check_near "$(stacks guessed_pct)" 100 $few "weight with guessed frames, %"

check_status 2 "--call-graph lbr is refused" "$BPFPROF" oncpu --call-graph lbr 1
check_near "$(wc -l <"$ERR")" 1 0 "lines that say why"
check_grep 'lbr.*branch records' "$ERR"
check_grep "'auto'.*'dwarf'.*'fp'" "$ERR" "what there is instead"
check_status 2 "--unwind-mem 0" "$BPFPROF" oncpu --unwind-mem 0 1
check_status 2 "--unwind-mem of no number" "$BPFPROF" oncpu --unwind-mem much 1

start "$PROGS/nofp_deep" 900 60
check "the least memory there can be" "$BPFPROF" oncpu --unwind-mem 4 -v -p "$PID" -U -F 499 -o "$TMP/x.json" -f 1
cp "$OUT" "$TMP/x.folded"
check_near "$(stacks rooted_pct)" 100 0.1 "is enough for a small program: weight that reaches the root, %"
stop "$PID" KILL

# clang and its libraries have 7 MB of tables or more, and never all are needed at a time.
if command -v clang >/dev/null; then
	python3 -c 'for i in range('"$(by_day 500 1500)"'): print("int f%d(int *a, int n) { int s = %d; for (int i = 0; i < n; i++) s += a[i] * %d; return s; }" % (i, i, i))' >"$TMP/x.c"
	check "more tables than there is room" "$BPFPROF" oncpu --unwind-mem 4 -v -U -F 499 -o "$TMP/x.json" -f -- clang -O2 -c "$TMP/x.c" -o "$TMP/x.o"
	cp "$ERR" "$TMP/said"
	grep 'unwind tables' "$TMP/said" | sed 's/^/#   /'
	# Either tables gave way to others, or one is larger than all the room (LLVM 19: 1.5 million rows) and stacks end there.
	# With room neither happens.
	if grep -Eq ' ([1-9][0-9]* evicted|[1-9][0-9]* not to be had)' "$TMP/said"; then
		pass "not all were to be had"
	else
		check "not all were to be had: $(stacks ends no-table) % of the weight ends for want of a table" test "$(stacks ends no-table | cut -d . -f 1)" -ge 1
	fi
	echo "# figure: rooted/clang-in-4-MB $(uname -m) $(uname -r | cut -d . -f 1,2) $(stacks rooted_pct) % of $(json "$TMP/x.json" samples recorded) samples"
	check "the compiler did its work" test -s "$TMP/x.o"
else
	echo "# no clang: nothing to fill the tables with"
fi
check "the ledger closes all the same" python3 -c 'import json,sys
s = json.load(open(sys.argv[1]))["samples"]
assert s["seen"] == s["recorded"] + s["filtered"] + s["lost"], s' "$TMP/x.json"
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# alone: it judges times
# timeout: 120
# Time in which nobody polls the driver of a Tokio runtime is found as well where its worker waits so often that most of its
# switches are not looked at, for --max-overhead: as many gaps as the program held its worker, as long, and by whom.
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3
[ -z "${IN_GUEST:-}" ] || skip "guests are too slow for many waits"
unset BPFPROF_MAX_OVERHEAD

app=$("$ROOT/tests/progs/tokio/build.sh" release "$PROGS/tokio" 2>"$ERR")
status=$?
[ $status -ne 77 ] || skip "$(cat "$ERR")"
[ $status -eq 0 ] || { fail "the program is built" && show && finish; }

thinned=0
for workers in --current '--workers 2'; do
	# shellcheck disable=SC2086 # words
	run "$BPFPROF" offcpu --gaps --max-overhead 0.5 -o "$TMP/x.json" -- "$app" 4 --hogged $workers --truth "$TMP/truth"
	grep -q 'even with as little as can be taken' "$ERR" && skip "this host is too busy for 0.5 %"
	check_is "$STATUS" 0 "exit status of offcpu"
	one_in=$(json "$TMP/x.json" cost thinned_to_one_in)
	echo "# figure: $workers: bpfprof took $(json "$TMP/x.json" cost bpf_share_of_cpus) of the CPUs, one wait in $one_in at worst"
	[ "$one_in" -ge 64 ] && thinned=1
	check "gaps are those that the program knows" python3 - "$TMP/x.json" "$TMP/truth" <<-'END'
		import json, sys
		gaps = json.load(open(sys.argv[1]))["runtime"]["driver_gaps"]
		truth = json.load(open(sys.argv[2]))
		us = sum(c["us"] for c in gaps["culprits"] if "::hogged::hold_" in c["function"])
		asleep = sum(c["us"] for c in gaps["culprits"] if c["function"].endswith("::hold_asleep") and c["kind"] == "sleep")
		print(f"{gaps['gaps']} gaps of {gaps['us']} us, {us} us in its two functions, {asleep} us asleep; it held its worker {truth['calls']} times, {truth['ns'] / 1000:.0f} us")
		# Others are where its worker had no CPU for 20 ms.
		assert truth["calls"] >= 10 and truth["calls"] - 1 <= gaps["gaps"] <= truth["calls"] * 1.5
		# What it was taken off its CPU in while it computed is an estimate where that switch was not looked at.
		assert 0.75 <= us / (truth["ns"] / 1000) <= 1.07
		assert asleep >= 0.93 * 40000 * (truth["calls"] // 2)
	END
	sed 's/^/# /' "$OUT"
done
[ $thinned = 1 ] || skip "the program waits too seldom here to be thinned"
finish

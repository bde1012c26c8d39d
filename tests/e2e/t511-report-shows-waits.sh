#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Saved profiles of waits: classes, idleness, wakers, and a ledger that closes, with known times and without root.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need python3
GEN=${PROGS%/progs}/e2e/gen_profile
[ -x "$GEN" ] || lacks "$GEN is not built"

for command in offcpu wakeup wall; do
	check "a profile of $command" "$GEN" $command "$TMP/$command.bpfprof"
done
sum() { # FILE: the counts of all lines
	awk '{ sum += $NF } END { print sum }' "$1"
}

check "folded" "$BPFPROF" report -f "$TMP/offcpu.bpfprof"
cp "$OUT" "$TMP/folded"
check_near "$(sum "$TMP/folded")" 27220000 0 "microseconds of all waits, and of those lost"
check_grep '^redis-server;\[idle\] 6000000$' "$TMP/folded" "idleness is one frame"
check_no_grep 'bpf_prog|traceiter' "$TMP/folded" "who took the stacks is not on them"
check_grep ';schedule;__schedule 1500000$' "$TMP/folded" "the scheduler is innermost"

check "by class" "$BPFPROF" report -f --by-class "$TMP/offcpu.bpfprof"
check_grep '^io_thd_1;\[lock\];clone3;' "$OUT"
check "the two ways to lack a CPU" "$BPFPROF" report -f --class runnable "$TMP/wall.bpfprof"
check_grep '^redis-server;\[runnable\];\[woken\];.* 50000$' "$OUT"
cp "$OUT" "$TMP/runnable.folded"
check "by the word that there was before" "$BPFPROF" report -f --class preempt "$TMP/wall.bpfprof"
check_near "$(sum "$OUT")" "$(sum "$TMP/runnable.folded")" 0 "is the same"
check "of one class" "$BPFPROF" report -f --class io "$TMP/offcpu.bpfprof"
check_near "$(sum "$OUT")" 1527000 0 "what is left of it, and what was lost"
check "hidden" "$BPFPROF" report -f --idle=hide "$TMP/offcpu.bpfprof"
check_near "$(sum "$OUT")" $((27220000 - 15990000)) 0 "all but what is idle"
check "shown" "$BPFPROF" report -f --idle show "$TMP/offcpu.bpfprof"
check_near "$(sum "$OUT")" 27220000 0 "all"
check_grep ';aeApiPoll;epoll_wait;' "$OUT" "with its stacks"

check_status 2 "a class that does not exist" "$BPFPROF" report --class lokc "$TMP/offcpu.bpfprof"
check_grep "did you mean 'lock'" "$ERR"
check_status 2 "a mode that does not exist" "$BPFPROF" report --idle hidden "$TMP/offcpu.bpfprof"
check_grep "did you mean 'hide'" "$ERR"

check "the summary" "$BPFPROF" report -s "$TMP/offcpu.bpfprof"
check_grep '^offcpu: .*; 27\.2 s of waiting by 4 threads$' "$OUT"
check_grep '^  lock +9\.4 s +34\.5% +301 +29\.9 ms +32\.9 ms +33\.5 ms +400 ms$' "$OUT"
check_grep '^  idle +16 s +58\.8% +901 .* 9\.99 s +folded' "$OUT"
check_grep '^waits +2,363 seen = 2,233 recorded \+ 120 filtered \(90 us\) \+ 10 lost \(7 ms\)$' "$OUT"
check "80 columns are enough" awk 'length > 80 { exit 1 }' "$OUT"

check "wakers" "$BPFPROF" report -f -A "$TMP/wakeup.bpfprof"
check_grep ';__schedule_\[k\];--;try_to_wake_up_\[w\];.*;\[irq\] 1500000$' "$OUT" "an interrupt is nobody"
check_grep ';main_\[w\];redis-server;--;.*;main_\[w\];redis-cli 9000000$' "$OUT" "and its waker"

check "wall time" "$BPFPROF" report -f "$TMP/wall.bpfprof"
check_grep '^redis-server;\[on-cpu\];main;aeMain;aeProcessEvents;serverCron;dictScan 1642500$' "$OUT"
check_grep '^bio_aof;\[on-cpu\];\[not sampled\] 10000$' "$OUT"
check_grep '^redis-server;\[runnable\];\[preempted\];main;.*;__schedule 250000$' "$OUT"
check "the ledger" "$BPFPROF" report --table "$TMP/wall.bpfprof"
check_grep '^  bio_aof +1241 +10\.000 +0\.010 .* 0 +0\.000%$' "$OUT"
check "the ledger as JSON" "$BPFPROF" report --table --json "$TMP/wall.bpfprof"
cp "$OUT" "$TMP/ledger.json"
check "it closes" python3 -c 'import json, sys
d = json.load(open(sys.argv[1]))
rows = [d["all"]] + d["processes"] + [t for p in d["processes"] for t in p["by_thread"]]
for r in rows:
    assert r["runnable_ns"] == r["woken_ns"] + r["preempted_ns"], r
    known = r["on_cpu_ns"] + r["runnable_ns"] + r["throttled_ns"] + sum(r["blocked_ns"].values())
    assert known + r["residual_ns"] == r["wall_ns"], r
assert d["all"]["residual_ns"] == 10000000, d["all"]' "$TMP/ledger.json"
check "the summary as JSON" "$BPFPROF" report --json "$TMP/wall.bpfprof"
cp "$OUT" "$TMP/summary.json"
check "its classes and idleness are all there is" python3 -c 'import json, sys
d = json.load(open(sys.argv[1]))
w = d["waits"]
assert d["unit"] == "us"
assert sum(c["us"] for c in w["classes"].values()) + w["idle"]["us"] == w["all"]["us"] == 30010000, w' \
	"$TMP/summary.json"
check "a profile of samples has no ledger" "$GEN" small "$TMP/small.bpfprof"
for form in "" --json; do
	# shellcheck disable=SC2086
	check_status 2 "and says so $form" "$BPFPROF" report --table $form -o "$TMP/not.svg" "$TMP/small.bpfprof"
	check_grep 'was not recorded' "$ERR"
	check_near "$(wc -c <"$OUT")" 0 0 "bytes on stdout"
	check "no file either" test ! -e "$TMP/not.svg"
done
finish

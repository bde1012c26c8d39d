#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# However tight its budget, top takes at least 49 samples a second of each CPU.
# timeout: 180
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3
need_prog spin_abc
cd "$TMP" || exit 1
start "$PROGS/spin_abc" 150
SPIN=$PID
# The tightest budget that is not refused, so that too much is taken whatever a sample costs here. What is refused goes by a
# tenth of a second: another one may be luckier.
for _ in 1 2 3 4; do
	for budget in 0.03 0.04 0.06 0.08 0.1 0.2 0.4 0.8 1.6; do
		timeout -s KILL 60 "$BPFPROF" top -p "$SPIN" -F 999 --max-overhead "$budget" --page processes 1 8 >log 2>err && break
		grep -q 'even with as little as can be taken' err || break
	done
	grep -qE '[(]1 in [0-9]+ taken[)]' log && break
done
echo "# --max-overhead $budget"
grep 'samples/s' log | sed 's/^/# /'
# A sixteenth of 999 is the least above 49.
check_grep '^[0-9]+ samples/s [(]1 in (8|16) taken[)]' log "samples are left out for the budget"
check_no_grep '[(]1 in (32|64) taken[)]' log
cat >least.py <<'P'
import re
look = open("log").read().split("\nthe last ")[-1]
rate = int(re.search(r"(\d+) samples/s", look).group(1))
ran = sum(float(pct) for pct in re.findall(r"^ *\d+ +([0-9.]+)%.*spin_abc$", look, re.M)) / 100
print(f"# {rate} samples of {ran:.2f} s of CPU time, each second")
assert rate > 49 * ran * 0.8, look
P
check "as many as the program's CPU time asks for" python3 least.py
finish

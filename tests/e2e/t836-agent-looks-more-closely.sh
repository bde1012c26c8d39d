#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What meets a condition is recorded at a higher rate from then on, and for six windows after it; the sum of all windows is
# what the program did, at either rate.
# timeout: 180
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3
cd "$TMP" || exit 1
export PYTHONPATH=$ROOT/tests/e2e PYTHONDONTWRITEBYTECODE=1
cat >burn.py <<'P'
import sys, time
time.sleep(12)
end = time.process_time() + 3
while time.process_time() < end:
    pass
print("burnt", flush=True)
time.sleep(100)
P
start_first python3 burn.py # more than a tenth of the CPUs, whoever else wants them
PROGRAM=$PID
start_bpfprof agent -p "$PROGRAM" --keep kept -i 1s --on 'lost>=0' --on 'cpu>10%' --on-rate 499 --max-overhead 0
AGENT=$PID
# What costs more when it is looked at is no reason to look: another agent, meanwhile.
"$BPFPROF" agent -p "$PROGRAM" --keep own -i 1s --on 'cost>=0%' --on-rate 499 >own.out 2>own.err &
OWN=$!
pids+=("$OWN")
rates() {
	for window in kept/*.bpfprof; do
		"$BPFPROF" report --json "$window" | python3 -c 'import json, sys; print(json.load(sys.stdin)["profile"]["rate_hz"])'
	done | uniq | tr '\n' ' '
}
wait_until 150 sh -c '"$0" report --json "$(ls -d kept/*.bpfprof | tail -n 1)" | grep -q "\"rate_hz\": *499"' "$BPFPROF"
wait_until 150 sh -c '"$0" report --json "$(ls -d kept/*.bpfprof | tail -n 1)" | grep -q "\"rate_hz\": *19[,}]"' "$BPFPROF"
stop "$AGENT"
check_is "$STATUS" 0 "exit status"
check_grep '499 samples a second from now on' "$ERR"
check_grep '19 samples a second again' "$ERR"
check_is "$(rates)" "19 499 19 " "rates of the windows, in their order"
check "all windows are one recording" "$BPFPROF" report --json kept
check_is "$(json "$OUT" profile rate_hz)" 0 "which has no single rate"
ran=$(python3 -c 'from windows import *
import sys
print(total(windows("kept"))["by"][sys.argv[1]].get("running", 0) / 1e9)' "$PROGRAM")
check_near "$ran" 3 0.35 "seconds that the program ran"
check_status 2 "a rate without a condition" "$BPFPROF" agent --keep x --on-rate 99
check_grep 'goes with --on CONDITION' "$ERR"

stop "$OWN"
check_is "$STATUS" 0 "exit status of the other agent"
check_between "$(find own -name '*.bpfprof' | wc -l)" 13 1000 "its windows"
check_no_grep 'from now on' own.err
finish

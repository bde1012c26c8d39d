#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# An agent does not run out of open files where new programs are started all the time: its recording is renewed before.
# timeout: 120
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3
need_prog spin_abc
cd "$TMP" || exit 1
export PYTHONPATH=$ROOT/tests/e2e PYTHONDONTWRITEBYTECODE=1
# Each is a file of its own, which is run once and deleted.
# shellcheck disable=SC2016
start bash -c 'for ((i = 0; ; i++)); do
	cp "$PROGS/spin_abc" p$i && timeout 0.15 ./p$i
	rm p$i
done'
LIMIT=280
(
	ulimit -n $LIMIT
	exec env --default-signal=TERM "$BPFPROF" agent -p "$PID" --keep kept -i 1s -v
) >"$OUT" 2>"$ERR" &
AGENT=$!
pids+=("$AGENT")
renewed() { [ "$(grep -c 'tables renewed' "$ERR")" -ge 1 ]; }
check "its tables are renewed" wait_until 60 renewed
sleep 2
open_files=$(find "/proc/$AGENT/fd" -type l | wc -l)
check_between "$open_files" 20 $((LIMIT - 20)) "open files afterwards"
stop "$AGENT"
check_is "$STATUS" 0 "exit status"
check_no_grep 'Too many open files' "$ERR"
check "all of its windows can be read" python3 -c 'from windows import *
t = total(windows("kept"))
assert t["windows"] >= 5, t'
finish

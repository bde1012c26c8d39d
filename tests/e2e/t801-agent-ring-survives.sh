#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# An agent that is killed at any moment loses one window at most and leaves nothing behind; its folder stays within its bytes.
# alone: it judges times
# timeout: 1800
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3
need_prog spin_abc
cd "$TMP" || exit 1
export PYTHONPATH=$ROOT/tests/e2e PYTHONDONTWRITEBYTECODE=1 TZ=UTC
start "$PROGS/spin_abc" 1700
SPIN=$PID
agent() { start_bpfprof agent -p "$SPIN" -i 1s --keep "$@"; }
has_windows() { [ "$(find "$1" -maxdepth 1 -name '*.bpfprof' | wc -l)" -ge "$2" ]; }

# --- killed ---
times=${NIGHTLY:+200}
times=${times:-5}
lost=0 latest=0
for ((i = 0; i < times; i++)); do
	before=$(find kept -name '*.bpfprof' 2>/dev/null | wc -l)
	agent kept
	wait_until 20 has_windows kept $((before + 1))
	sleep "0.$((RANDOM % 10))"
	stop "$PID" KILL
	late=$(python3 -c 'from windows import *
print("%.2f" % (time.time() - times(windows("kept")[-1])[1]))')
	awk -v l="$late" 'BEGIN { exit !(l > 3) }' && lost=$((lost + 1))
	latest=$(awk -v a="$late" -v b="$latest" 'BEGIN { print (a > b ? a : b) }')
done
echo "# killed $times times; at most $latest s were in no file"
check_is "$lost" 0 "times that more than a window was lost"
check "all windows can be read" python3 -c 'from windows import *
t = total(windows("kept"))
assert t["windows"] >= int(sys.argv[1]), t' "$times"
check "... by report, too" "$BPFPROF" report --json kept
check_near "$(wc -l <"$ERR")" 0 0 "complaints"
check_is "$(find kept -name '.bpfprof-window*' | wc -l)" 0 "temporary files"
check_is "$(find kept -name '*.bpfprof' ! -perm 600 | wc -l)" 0 "windows that others may read"
orphans() { "$("$ROOT/tools/find-bpftool.sh")" -j prog show | python3 -c 'import json, sys
print(sum(p.get("name") == "look_tasks" and not p.get("pids") for p in json.load(sys.stdin)))'; }
no_orphans() { [ "$(orphans)" -eq 0 ]; }
check "no program is left in the kernel" wait_until 10 no_orphans

# --- bounded; and one folder is one agent's ---
agent ring --max-disk 1
wait_until 20 has_windows ring 2
mistake 1 "another agent keeps its windows in ring: use another folder" agent --keep ring -d 1
stop "$PID"
check_is "$STATUS" 0 "exit status after SIGTERM"
nr=$(find ring -name '*.bpfprof' | wc -l)
# As if they had been there: the oldest go.
python3 - <<'P'
import glob, shutil
last = sorted(glob.glob("ring/*.bpfprof"))[-1]
body = open(last, "rb").read()
for i in range(40):
    open("ring/20200101T0000%02d.000Z-1000ms.bpfprof" % i, "wb").write(body + bytes(60000))
open("ring/other", "wb").write(bytes(100))
P
agent ring --max-disk 1
wait_until 20 has_windows ring 1
sleep 2.5
stop "$PID"
check_between "$(find ring -name '*.bpfprof' -printf '%s\n' | awk '{ n += $1 } END { print n + 0 }')" 60000 1048576 "bytes of the ring"
check "the newest are there" test "$(find ring -name '20[3-9]*.bpfprof' -o -name '202[1-9]*.bpfprof' | wc -l)" -gt "$nr"
check "the oldest are not" test ! -e ring/20200101T000000.000Z-1000ms.bpfprof
check "what is none of its files is" test -e ring/other

# --- folders that cannot be used ---
touch file
mistake 1 "cannot (make|open) file: " agent --keep file -d 1
mkdir -m 777 open
mistake 1 "others can write to open" agent --keep open -d 1
mistake 2 "windows go nowhere: say --keep DIR, --listen ADDRESS or --push" agent
mistake 2 "max-disk goes with --keep" agent --max-disk 5
if mkdir small && mount -t tmpfs -o size=64k,mode=700 tmpfs small 2>/dev/null; then
	head -c 65536 /dev/zero >small/full 2>/dev/null
	agent small
	sleep 4
	if kill -0 "$PID"; then # not by check, which would write where the agent does
		pass "it goes on without"
	else
		fail "it goes on without"
	fi
	rm small/full
	wait_until 20 has_windows small 1
	stop "$PID"
	check_is "$STATUS" 0 "exit status"
	check_is "$(grep -c 'windows are not kept for now: cannot write to small: No space left' "$ERR")" 1 "complaints"
	check_grep 'windows are kept in small again; [0-9]+ were not' "$ERR"
	umount small
else
	echo "# no tmpfs of our own here: the full folder is left out"
fi
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# An agent reads a file for names once, also when its tables are renewed; one that has changed is read again, and its
# functions have their new names.
# timeout: 150
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3 gcc
need_prog waits_crowd
cd "$TMP" || exit 1
export PYTHONPATH=$ROOT/tests/e2e PYTHONDONTWRITEBYTECODE=1
# Two builds that differ in nothing but a name: the same addresses.
for name in before behind; do
	gcc -O1 -g0 -o "$name" -x c - <<-C
		#include <signal.h>
		#include <sys/prctl.h>
		__attribute__((noinline)) void $name(void)
		{
			for (volatile int i = 0; i < 200000000; i++)
				;
		}
		int main(void)
		{
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			for (;;)
				$name();
		}
	C
done
sleep 2.1 # of what just changed nothing is kept
cp before program
sleep 2.1
start bash -c 'while :; do ./program; done' # the one that it is by then
RUN=$PID
# More threads than the tables are for, so that another recording takes over as soon as it may.
start "$PROGS/waits_crowd" 350 150
CROWD=$PID
env --default-signal=TERM "$BPFPROF" agent -p "$RUN,$CROWD" --keep kept -i 1s -v --max-stacks 4096 >"$OUT" 2>"$ERR" &
AGENT=$!
pids+=("$AGENT")
renewed() { [ "$(grep -c 'tables renewed' "$ERR")" -ge "$1" ]; }
check "tables are renewed" wait_until 60 renewed 2

# The program, and what else runs: once each, but for new functions of the latter.
cat >reads.py <<'P'
import re, sys
log = open(sys.argv[1]).read()
reads = re.findall(r"program: \.symtab", log)
rows = re.findall(r"names of (\d+) places: (\d+) known from before, (\d+) files read in", log)
taken = re.findall(r"unwind tables: (\d+), of which (\d+) were taken over", log)
print(f"# its symbols were read {len(reads)} times in {len(rows)} windows; tables of recordings that took over: {taken}")
assert len(rows) >= 8, rows
assert len(reads) == int(sys.argv[2]), reads
assert sum(int(n) for _, n, _ in rows[1:]), rows
assert taken and all(int(a) >= int(b) for a, b in taken) and sum(int(b) for _, b in taken) > 0, taken
P
sleep 2
cp "$ERR" log
check "its names are read once" python3 reads.py log 1
grep '^#' "$OUT"

# The same file, by its inode too, with other bytes.
inode=$(stat -c %i program)
overwrite() { # it cannot be written to while it runs
	pkill -KILL -P "$RUN" -x program
	cat behind >program 2>/dev/null
}
check "the program is overwritten" wait_until 20 overwrite
check_is "$(stat -c %i program)" "$inode" "inode of the new build"
pkill -KILL -P "$RUN" -x program
began=$(date +%s)
check "tables are renewed again" wait_until 60 renewed "$(($(grep -c 'tables renewed' "$ERR") + 2))"
stop "$CROWD"
stop "$AGENT"
check_is "$STATUS" 0 "exit status"
cat >names.py <<'P'
import subprocess, sys
from windows import *
bpfprof, began = sys.argv[1], int(sys.argv[2])
seen = {"before": 0, "behind": 0, "wrong": 0, "later": 0, "nameless": 0}
for path in windows("kept"):
    text = subprocess.run([bpfprof, "report", "-f", path], capture_output=True, text=True, check=True).stdout
    new = times(path)[0] > began + 1
    for line in text.splitlines():
        frames = line.rsplit(" ", 1)[0].split(";")
        if not frames[0].startswith("program"):
            continue
        seen["before"] += "before" in frames
        seen["behind"] += "behind" in frames
        seen["wrong"] += new and "before" in frames
        seen["later"] += new
        seen["nameless"] += new and any(f.startswith("[program+") for f in frames)
print("#", seen)
assert seen["before"] > 4 and seen["behind"] > 4 and not seen["wrong"], seen
assert seen["nameless"] * 10 <= seen["later"], seen
P
check "its functions have the names of the build that ran" python3 names.py "$BPFPROF" "$began"
grep '^#' "$OUT"
finish

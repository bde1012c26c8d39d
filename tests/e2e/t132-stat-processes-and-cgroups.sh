#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Threads make processes and cgroups, and every process leads to who started it, also when that one was gone at once.
# alone: it judges times
# shellcheck source=lib.sh disable=SC2119
. "${0%/*}/lib.sh"
need_bpf
need_prog accounts_work forks
# shellcheck source=accounts.sh
. "${0%/*}/accounts.sh"

count "processes are counted" -b process "$EVENTS" "$PROGS/accounts_work" 3 2
check_near "$(nr_rows accounts_work)" 1 0 "rows of the process"
check_near "$(nr_rows 'work-[0-9]+')" 0 0 "rows of its threads"
check_near "$(rows pid accounts_work)" "$(value child)" 0 "its number"
check_cpu_time accounts_work 'work-.*'
check_near "$(($(rows v2 accounts_work) - $(truth 'work-.*' 5)))" 300 300 "page faults besides theirs"
check_closes

# Processes that have one number after the other are told apart; here it is enough that none is lost.
count "processes that come and go" -b process "$EVENTS" "$PROGS/forks" 0.3
forked=$(awk 'NF == 1 { print $1 }' "$ROWS")
check_near "$(nr_rows forks)" $((forked + 1)) 0 "processes"
check_closes

# Its parent has ended before it began to work.
cat >"$TMP/orphan" <<'P'
( (sleep 0.2; exec "$PROGS/accounts_work" 1) & )
sleep 0.6
P
count "an orphan" -b process "$EVENTS" bash "$TMP/orphan"
leads_to() { # PID ANCESTOR
	pid=$1 to=$2 awk '
		$1 == "row" { parent[$2] = $4 }
		END {
			for (pid = ENVIRON["pid"]; pid in parent && pid != ENVIRON["to"]; pid = parent[pid])
				if (n++ > 10)
					exit 1
			exit pid != ENVIRON["to"]
		}' "$ROWS"
}
orphan=$(rows pid accounts_work)
check "the orphan was counted" [ "$orphan" -gt 0 ]
check "the orphan leads to what was started" leads_to "$orphan" "$(value child)"

# The thread that calls exec gets the number, and so the row, of the first one, which has ended meanwhile.
cat >"$TMP/exec.py" <<'P'
import os, threading, time
threading.Thread(target=lambda: os.execv(os.environ["PROGS"] + "/accounts_work", ["accounts_work", "3", "1"])).start()
time.sleep(100)
P
for _ in 1 2 3; do
	count "a program begun by another thread" -m 1 -r 4096 "$EVENTS" python3 "$TMP/exec.py"
	check_near "$(rows tid accounts_work)" "$(value child)" 0 "number of its first thread"
	check_closes
done

mount=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
group=$mount/bpfprof-test-$$
if [ -n "$mount" ] && mkdir "$group" 2>/dev/null; then
	# shellcheck disable=SC2016
	count "cgroups are counted" -b cgroup "$EVENTS" bash -c 'echo $$ >"$1/cgroup.procs"; exec "$2" 3 2' \
		bash "$group" "$PROGS/accounts_work"
	id=$(stat -c %i "$group")
	rmdir "$group"
	sed -i "s/^row 0 0 0 $id .*/& ours/" "$ROWS"
	check_near "$(nr_rows ' *ours')" 1 0 "rows of the cgroup"
	check_cpu_time ' *ours' 'work-.*'
	check "others have theirs" [ "$(grep -c '^row' "$ROWS")" -ge 2 ]
	check_closes
else
	echo "# no cgroup2 to write to: cgroups not tried"
fi
finish

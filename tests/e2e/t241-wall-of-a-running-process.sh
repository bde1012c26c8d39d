#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Of a process that runs already: the ledger of each thread closes over the recording, and the table shows it.
# alone: it judges times
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=waits.sh
. "${0%/*}/waits.sh"
need_bpf
need python3
need_prog waits_hogs

start "$PROGS/waits_hogs" 100
hogs=$PID
all_there() { [ "$(nr_threads "$hogs")" -eq 3 ]; }
wait_until 5 all_there
sleep 0.2

# "hog_a TIME US US" every 20 ms, TIME as date has it: what the kernel says it ran since its start, and what a host has taken
# from its CPU, which is in no thread's time. (How long it was runnable the kernel adds at the end of each such wait only.)
cat >"$TMP/watch.py" <<'EOT'
import glob, os, sys, time
threads = {}
for task in glob.glob(f"/proc/{sys.argv[1]}/task/*"):
    cpu = min(os.sched_getaffinity(int(os.path.basename(task))))
    threads[open(task + "/comm").read().strip()] = task + "/schedstat", f"cpu{cpu} "
def stolen(cpu):
    ticks = next(line.split()[8] for line in open("/proc/stat") if line.startswith(cpu))
    return int(ticks) * 1e6 / os.sysconf("SC_CLK_TCK")
while True:
    for name, (path, cpu) in threads.items():
        before = time.time()
        ran = open(path).read().split()[0]
        print(name, (before + time.time()) / 2, int(ran) / 1000, stolen(cpu), flush=True)
    time.sleep(0.02)
EOT
# What it ran, and what was stolen, from second START, so many seconds; between two lines, a part of the difference.
part_of() { # THREAD START SECONDS
	awk -v name="$1" -v from="$2" -v seconds="$3" '
		function at(t, f) { return was[f] + (t - was[2]) / ($2 - was[2]) * ($f - was[f]) }
		$1 == name {
			if (was[2] && was[2] <= from && $2 > from) { for (f = 3; f <= 4; f++) first[f] = at(from, f) }
			if (was[2] && was[2] <= from + seconds && $2 > from + seconds)
				for (f = 3; f <= 4; f++) printf "%.0f%s", at(from + seconds, f) - first[f], f < 4 ? " " : "\n"
			for (f = 2; f <= 4; f++) was[f] = $f
		}' "$TMP/watched"
}
has_stat=
! grep -q . "/proc/$hogs/schedstat" 2>/dev/null || has_stat=1
if [ -n "$has_stat" ]; then
	# Not by start: it must not wait for the hogs.
	python3 "$TMP/watch.py" "$hogs" >"$TMP/watching" 2>"$ERR" &
	watch=$!
	pids+=("$watch")
	watches_both() { grep -q '^hog_a ' "$TMP/watching" && grep -q '^hog_b ' "$TMP/watching"; }
	wait_until 10 watches_both
fi
check "wall" "$BPFPROF" wall -p "$hogs" -o "$TMP/x.json" -f 3
cp "$OUT" "$TMP/x.folded"
if [ -n "$has_stat" ]; then
	sleep 0.2
	stop "$watch" KILL
	# Without the last line, which may be half of one.
	sed '$d' "$TMP/watching" >"$TMP/watched"
fi
check_stacks "$TMP/x.folded"
us=$(json "$TMP/x.json" profile duration_s | awk '{ printf "%.0f\n", $1 * 1e6 }')
# Waits begin to be recorded before the samples do, and end after them: an emulator takes its time for that.
ends=${IN_GUEST:+100000}
ends=${ends:-6000}
for hog in hog_a hog_b; do
	oncpu=$(us_of "$TMP/x.folded" "^$hog;\\[on-cpu\\]") runnable=$(us_of "$TMP/x.folded" "^$hog;\\[runnable\\]")
	check_close "$(us_of "$TMP/x.folded" "^$hog;")" "$us" 1 "$ends" "$hog: us in all, of the recording"
	check_close $((oncpu + runnable)) "$us" 1 "$ends" "$hog: us on CPU and runnable, of the recording"
	# In the same span of time, unless bpfprof's start takes the only CPU. 2 % of it are for the two ends, where what it ran
	# is known every 20 ms only.
	if [ -n "$has_stat" ] && [ "$(nproc)" -gt 1 ]; then
		read -r ran stolen < <(part_of "$hog" "$(json "$TMP/x.json" profile start_s)" "$(json "$TMP/x.json" profile duration_s)")
		check_between "$oncpu" $((ran - us / 50)) $((ran + stolen + us / 50)) "$hog: us on CPU, by the kernel $ran and $stolen stolen"
	fi
done
# The main thread sleeps all the time.
check_close "$(us_of "$TMP/x.folded" '^waits_hogs;')" "$us" 1 "$ends" "main thread: us in all, of the recording"
check_close "$(us_of "$TMP/x.folded" '^waits_hogs;\[lock\];')" "$us" 3 "$ends" "main thread: us asleep in pthread_join"

check "the table" "$BPFPROF" wall --table -p "$hogs" 1
for word in hog_a hog_b ON-CPU RUNNABLE WALL; do
	check_grep "$word" "$OUT" "the table has $word"
done
finish

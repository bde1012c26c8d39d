#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Where all that is selected is in one cgroup, CPUs that it does not use are not interrupted for it. What it uses of a
# CPU after that is sampled all the same, by its own CPU time, and so is what leaves the cgroup.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3
mount=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
group=$mount/bpfprof-rest-$$
{ [ -n "$mount" ] && mkdir "$group" 2>/dev/null; } || skip "no cgroup2 to write to"
trap 'cleanup; rmdir "$group"' EXIT
HZ=499
python=$(python3 -c 'import sys; print(sys.executable)') # not a script that starts it
cpus=$(getconf _NPROCESSORS_ONLN)

cat >"$TMP/bursts.py" <<'END'
import sys, time
busy, idle = float(sys.argv[1]), float(sys.argv[2])
while True:
    end = time.thread_time() + busy
    while time.thread_time() < end:
        pass
    time.sleep(idle)
END
bursts() { # BUSY IDLE: $target, in the cgroup
	# shellcheck disable=SC2016
	start sh -c 'echo $$ >"$1"; shift; exec "$@"' - "$group/cgroup.procs" "$python" "$TMP/bursts.py" "$1" "$2"
	target=$PID
	sleep 0.5
}
used_ms() { # what the target has used
	awk '{ printf "%d", $1 / 1e6 }' "/proc/$target/schedstat"
}
record() { # ARGS…: what it used meanwhile, $used in ms; what was $seen and $recorded
	used=$(used_ms)
	"$BPFPROF" oncpu -e cpu-clock -F "$HZ" -U -f -o "$TMP/x.json" "$@" >"$OUT" 2>"$ERR"
	STATUS=$?
	used=$(($(used_ms) - used))
	check_near "$STATUS" 0 0 "exit status: $*"
	seen=$(json "$TMP/x.json" samples seen)
	recorded=$(json "$TMP/x.json" samples recorded)
	sum=$((recorded + $(json "$TMP/x.json" samples filtered) + $(json "$TMP/x.json" samples lost)))
	check_near "$sum" "$seen" 0 "the ledger: $*"
}
check_truth() { # DESC: samples in ms against the CPU time, which goes on a little before and after
	check_near $((recorded * 1000 / HZ)) "$used" $((used / 12 + 30)) "ms of samples: $1"
}

# It uses next to nothing: all CPUs are sampled for a second, and then one for a second after each burst.
bursts 0.05 3
for select in -p -t --cgroup; do
	what=$target
	[ "$select" != --cgroup ] || what=${group#"$mount"}
	record "$select" "$what" 8
	check "$select: less than half of the interrupts: $seen of $((8 * HZ * cpus))" [ "$seen" -lt $((4 * HZ * cpus)) ]
	check_truth "$select, bursts of 50 ms"
done

# All of a CPU after a rest: as many samples as ever.
stop "$target"
bursts 1.2 1.5
record -p "$target" 8
check_truth "bursts of 1.2 s"

# It leaves the cgroup while its CPUs rest.
stop "$target"
bursts 0.3 1.2
(
	sleep 3
	echo "$target" >"$mount/cgroup.procs"
) &
pids+=($!)
record -p "$target" -v 8
check_grep 'all CPUs are sampled' "$ERR"
check "then all CPUs are sampled: $seen" [ "$seen" -gt $((4 * HZ * cpus)) ]
check_truth "a process that leaves"
finish

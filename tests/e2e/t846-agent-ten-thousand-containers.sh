#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Ten thousand programs, each in a container of its own, cost an agent no more than twice the CPU time and the memory that
# they cost in one container; and its series are no more than their cap.
# alone: it compares costs
# timeout: 400
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_nightly
need_bpf
need python3
PATH=$PATH:/sbin ldconfig -p | grep -q 'libmicrohttpd\.so\.12' || skip "no libmicrohttpd"
root=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
[ -n "$root" ] || skip "no cgroups of version 2"
groups=$root/bpfprof-test-$$
mkdir "$groups" 2>/dev/null || skip "no cgroups can be made"
remove_groups() { find "$groups" -mindepth 1 -depth -type d -exec rmdir {} + 2>/dev/null; rmdir "$groups"; }
cd "$TMP" || exit 1
nr=${CONTAINERS:-10000} seconds=60
cat >crowd.py <<'P'
import os, signal, sys, time
groups, nr, containers, seconds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
names = ["%s/docker-%064x.scope" % (groups, i * 0x9e3779b97f4a7c15) for i in range(containers)]
for name in names:
    os.makedirs(name, exist_ok=True)
print("ready", flush=True)
begin = time.monotonic()
for i in range(nr):
    time.sleep(max(0, begin + i * seconds / nr - time.monotonic()))
    if os.fork():
        continue
    with open(names[i % containers] + "/cgroup.procs", "w") as f:
        f.write("0")
    for _ in range(3): # some code and some waits, over a window
        end = time.process_time() + 0.0005
        while time.process_time() < end:
            pass
        time.sleep(1.5)
    os._exit(0)
time.sleep(6)
P
# CPU time of the agent and of its readers in ms, and its peak memory in KB.
cost() { # CONTAINERS
	local name=$1
	start_bpfprof agent -i 5s --keep "kept-$name" --listen "unix:$TMP/socket-$name" --max-overhead 0
	local agent=$PID
	wait_until 20 test -S "socket-$name" || fail "the agent listens"
	python3 crowd.py "$groups" "$nr" "$name" "$seconds" >"crowd-$name" || fail "the crowd comes and goes"
	awk '{ sub(/.*\) /, ""); print ($12 + $13 + $14 + $15) * 10 }' "/proc/$agent/stat" >"cpu-$name"
	awk '/^VmHWM/ { print $2 }' "/proc/$agent/status" >"memory-$name"
	curl -s --unix-socket "socket-$name" http://x/metrics >"metrics-$name"
	stop "$agent"
	check_is "$STATUS" 0 "exit status beside $name containers"
}
cost 1
cost "$nr"
remove_groups
for what in cpu memory; do
	one=$(cat "$what-1") many=$(cat "$what-$nr")
	echo "# $what: $one beside one container, $many beside $nr"
	check_between "$many" 1 $((one * 2)) "$what beside $nr containers"
done
check_between "$(grep -c '^bpfprof_offcpu_seconds_total' "metrics-$nr")" 1 4000 "series of waits"
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# On a host with control groups of version 1 alone, what needs version 2 is refused in one sentence that says so, as doctor
# does, and all else works; where version 2 is mounted beside it, that is taken. (Quotas: t218, memory: t711, names: t820.)
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=waits.sh
. "${0%/*}/waits.sh"
need_bpf
need python3
need_prog spin_abc
# As on such a host: what is mounted is seen from here alone.
if [ -z "${ALONE:-}" ]; then
	rm -rf "$TMP"
	ALONE=1 exec unshare -m bash "$0"
fi
while mount=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts) && [ -n "$mount" ]; do
	umount -l "$mount" || lacks "version 2 cannot be unmounted"
done
mount=$TMP/v1
mkdir "$mount"
mount -t cgroup -o none,name=bpfprof-test cgroup "$mount" || skip "the kernel has no control groups of version 1"

row() { # KEY: of doctor's row
	python3 -c 'import json, sys
print(next(r for r in json.load(open(sys.argv[1]))["checks"] if r["name"] == "control groups")[sys.argv[2]])' "$TMP/doctor" "$1"
}
"$BPFPROF" doctor --json >"$TMP/doctor"
check_is "$(row state)" limited "doctor: control groups"
check_is "$(row consequence)" "--cgroup needs version 2" "... because"

group=$mount/bpfprof-test
mkdir "$group" || lacks "no cgroup of version 1 can be made"
leave() { # What is mounted below $TMP must be gone before that is.
	local pid

	for pid in "${pids[@]}"; do
		kill -KILL "$pid" 2>/dev/null
		wait "$pid" 2>/dev/null
	done
	wait_until 5 rmdir "$group" 2>/dev/null
	[ ! -d "$TMP/unified/bpfprof-test" ] || wait_until 5 rmdir "$TMP/unified/bpfprof-test" 2>/dev/null
	for mount in "$TMP/v1" "$TMP/unified"; do
		umount "$mount" 2>/dev/null
	done
	rm -rf --one-file-system "$TMP"
}
trap leave EXIT
start "$PROGS/spin_abc" 100
echo "$PID" >"$group/cgroup.procs"
for command in oncpu offcpu wall "stat -e task-clock"; do
	# shellcheck disable=SC2086
	mistake 2 "not a cgroup of version 2; none is mounted" $command --cgroup "$group" -d 1
	# shellcheck disable=SC2086
	mistake 1 "cannot open cgroup nowhere .no cgroup2 is mounted.:" $command --cgroup nowhere -d 1
done
mistake 1 "is of cgroups of version 2, and none is mounted" stat --per-cgroup -e task-clock -d 1

record() { # COMMAND OPTIONS...
	check "$* records" "$BPFPROF" "$@" -o "$TMP/x.json" -o "$TMP/x.folded" -d 1
	check_ledger_closes "$TMP/x.json"
}
record oncpu -e cpu-clock -F 99 -p "$PID"
check_between "$(folded_pct "$TMP/x.folded" '^spin_abc;')" 99 100 "% are of what is in the group"
record wall -p "$PID"
check_between "$(ledger "$TMP/x.json" recorded)" 1 1000000 "recorded"


# Containers are known by either version.
id=0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
mkdir -p "$group/docker/$id"
echo "$PID" >"$group/docker/$id/cgroup.procs"
check "the container of a process" "$BPFPROF" who --json "$PID"
check_is "$(grep -oE '[0-9a-f]{64}' "$OUT" | sort -u)" $id "its id"
stop "$PID"
wait_until 5 rmdir "$group/docker/$id" 2>/dev/null
rmdir "$group/docker"

# Both of them.
mkdir "$TMP/unified"
if mount -t cgroup2 cgroup2 "$TMP/unified"; then
	both=$TMP/unified/bpfprof-test
	mkdir "$both"
	start "$PROGS/spin_abc" 100
	echo "$PID" >"$both/cgroup.procs"
	record oncpu -e cpu-clock -F 99 --cgroup /bpfprof-test
	check_between "$(folded_pct "$TMP/x.folded" '^spin_abc;')" 99 100 "% are of the cgroup of version 2"
	check_between "$(ledger "$TMP/x.json" recorded)" 1 200 "its samples"
	check "rows of cgroups" "$BPFPROF" stat --per-cgroup -e task-clock -d 1
	check_grep "/bpfprof-test" "$OUT"
	stop "$PID"
	wait_until 5 rmdir "$both" 2>/dev/null
fi
finish

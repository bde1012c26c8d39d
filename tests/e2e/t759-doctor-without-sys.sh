#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Where /sys is not mounted, doctor and the commands say that, and what mounts it: no other kernel and no other machine would
# help. Mounted as they say, bpfprof records.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need unshare python3
need_prog spin_abc

cat >"$TMP/causes.py" <<'P'
import json, sys
for c in json.load(open(sys.argv[1]))["checks"]:
    if c["state"] != "ok" and "sysfs" in c.get("remedy", ""):
        print(c["name"], c["state"], c["remedy"], sep=": ")
    elif c["name"] in ("type information", "PMU", "tracefs", "probes at functions", "control groups") and c["state"] != "ok":
        print(c["name"], "has another remedy:", c.get("remedy"))
P
# shellcheck disable=SC2016 # for the shells below
for how in 'mount -t tmpfs none /sys' 'umount -R -l /sys'; do
	unshare -m bash -c "$how"' && exec "$1" doctor --json' bash "$BPFPROF" >"$TMP/x.json"
	python3 "$TMP/causes.py" "$TMP/x.json" >"$TMP/causes"
	check_grep '^type information: missing: mount -t sysfs sysfs /sys$' "$TMP/causes"
	check_grep '^tracefs: limited: mount -t sysfs sysfs /sys$' "$TMP/causes"
	check_no_grep 'another remedy' "$TMP/causes"
	for command in "oncpu 1" "uprobe -p 1 libc:malloc 1" "top -b 1 1" "stat -a -e task-clock -d 1"; do
		# shellcheck disable=SC2086
		check_status 77 "$command, after $how" unshare -m bash -c "$how"' && exec "$@"' bash "$BPFPROF" $command
		check_grep '^bpfprof: /sys is not mounted here: .*: mount -t sysfs sysfs /sys$' "$ERR"
	done
	check "as it says, after $how" unshare -m bash -c "$how"' && mount -t sysfs sysfs /sys && exec "$@"' bash "$BPFPROF" \
		oncpu -f -F 499 -- "$PROGS/spin_abc" 0.5
	check_grep '^spin_abc;.*spin_a' "$OUT"
done
finish

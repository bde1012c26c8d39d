#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What doctor cannot see it does not claim: a kernel that shows no types is not called one that panics, and programs of others
# that this user may not look at are not "0 of 0".
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "it takes away what root sees"
need python3
need_prog spin_abc
need unshare setpriv

row() { # FILE NAME KEY
	python3 -c 'import json, sys
for c in json.load(open(sys.argv[1]))["checks"]:
    if c["name"] == sys.argv[2]: print(c[sys.argv[3]])' "$@"
}
"$BPFPROF" doctor --json >"$TMP/all.json"
# shellcheck disable=SC2016 # for the shell below
unshare -m bash -c 'mount -t tmpfs none /sys/kernel && exec "$1" doctor --json' bash "$BPFPROF" >"$TMP/bare.json" 2>"$ERR"
check_is "$(row "$TMP/bare.json" "type information" state)" missing "type information where none is shown"
check_is "$(row "$TMP/bare.json" "known-bad kernel" state)" "$(row "$TMP/all.json" "known-bad kernel" state)" "known-bad kernel, there as before,"
check_is "$(wc -c <"$ERR")" 0 "bytes on standard error"

# The copy is in a folder that all may look into.
dir=$(mktemp -d /tmp/bpfprof-t755.XXXXXX)
cp "$BPFPROF" "$dir/bpfprof"
chmod 755 "$dir" "$dir/bpfprof"
start "$PROGS/spin_abc" 20
sleep 0.3
setpriv --reuid=65534 --regid=65534 --clear-groups "$dir/bpfprof" doctor --json >"$TMP/nobody.json"
rm -rf "$dir"
check_is "$(row "$TMP/nobody.json" "busiest programs" found)" "not shown to this user" "busiest programs of others"
check_is "$(row "$TMP/nobody.json" "busiest programs" state)" limited "... state"
finish

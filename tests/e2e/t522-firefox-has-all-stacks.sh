#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The file for the Firefox Profiler says what folded stacks say, and all of its tables refer to each other rightly.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need python3
GEN=${PROGS%/progs}/e2e/gen_profile
[ -x "$GEN" ] || lacks "$GEN is not built"
same() { # SCALE
	python3 "$ROOT/tests/e2e/firefox.py" "$TMP/x.firefox.json" "$TMP/x.folded" "$1"
}

# A sample of the clock is shown as the time that it stands for: here a nanosecond.
for kind in small=1000000 2000=1000000 offcpu=1000 wakeup=1000 lock=1000 wall=1000; do
	check "${kind%=*}" "$GEN" "${kind%=*}" "$TMP/x.firefox.json" "$TMP/x.folded" "$TMP/x.bpfprof"
	check "... as its folded stacks" same "${kind#*=}"
done
check "a view of it" "$BPFPROF" report --by-class --idle show --per-thread -U -o "$TMP/x.firefox.json" -o "$TMP/x.folded" "$TMP/x.bpfprof"
check "... has what it shows" same 1000
rm -f "$TMP/x.firefox.json"
check_status 3 "nothing matches" "$BPFPROF" report --focus 'no such name' -o "$TMP/x.firefox.json" "$TMP/x.bpfprof"
check "... and no file is written" test ! -e "$TMP/x.firefox.json"

if [ "$(id -u)" -eq 0 ] && [ -r /sys/kernel/btf/vmlinux ] && [ -x "$PROGS/inlines" ]; then
	start "$PROGS/inlines" 20
	check "a recording" "$BPFPROF" oncpu -p "$PID" -F 500 -o "$TMP/x.firefox.json" -o "$TMP/x.folded" 1
	check "... as its folded stacks" same 0.5
	check "... has inlined calls" grep -q '"inlineDepth":\[[0-9,]*[12]' "$TMP/x.firefox.json"
fi
finish

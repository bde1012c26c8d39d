#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A copy of bpfprof that reads names and is killed is tried again, and then costs what most likely killed it, the debug
# information of that file: which is told, in text and JSON, in saved results, too. The names of its functions are there.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3 gcc

cat >"$TMP/kill_copies" <<'P'
import contextlib, os, subprocess, sys, time
left, signal = int(sys.argv[1]), int(sys.argv[2])
# A copy is there for some ms: nobody may run before who looks for it.
os.setsid()
with contextlib.suppress(OSError):
    open("/proc/self/autogroup", "w").write("-15")
recorder = subprocess.Popen(sys.argv[3:])
known, killed = set(), 0
def children():
    try:
        return set(map(int, open(f"/proc/{recorder.pid}/task/{recorder.pid}/children").read().split()))
    except OSError:
        return set()
def records():
    try:
        folder = f"/proc/{recorder.pid}/fd"
        return any("perf_event" in os.readlink(f"{folder}/{fd}") for fd in os.listdir(folder))
    except OSError:
        return False
begin = None
while recorder.poll() is None:
    if begin is None and records():
        begin = time.monotonic()
    new = children() - known
    known |= new
    if begin and time.monotonic() > begin + 1:  # who reads while it records was born before
        for child in list(new)[:left - killed]:
            os.kill(child, signal)
            killed += 1
    time.sleep(0.0005)
print(killed)
sys.exit(recorder.returncode)
P
# It has all in one file, so the copies are of that one.
gcc -O2 -g -static -fomit-frame-pointer -I "$ROOT/tests/progs" -I "$ROOT" \
	-o "$TMP/inlines" "$ROOT/tests/progs/inlines.c" 2>"$ERR" || skip "no static programs can be made here"
start "$TMP/inlines" 200
recorded() { # KILLS [SIGNAL]
	rm -f "$TMP"/x.*
	check "$1 killed" python3 "$TMP/kill_copies" "$1" "${2:-9}" "$BPFPROF" oncpu -U -p "$PID" -F 199 --no-symbol-cache \
		-o "$TMP/x.txt" -o "$TMP/x.json" -o "$TMP/x.folded" -o "$TMP/x.bpfprof" 1.2
	check_is "$(cat "$OUT")" "$1" "copies that were killed,"
	check_grep '(^|;)main(;| )' "$TMP/x.folded" "$1 killed: names of functions"
	kinds=$(python3 -c 'import json, sys
print(*[m["kind"] for m in json.load(open(sys.argv[1]))["names"]["missing"]])' "$TMP/x.json")
}
recorded 1
check_is "$kinds" "" "one killed: what is missing,"
check_no_grep 'inlined calls and lines are missing' "$TMP/x.txt"
recorded 2
check_is "$kinds" ended "two killed: what is missing,"
told='/inlines: inlined calls and lines are missing: its DWARF is not read, since the process that read it was ended: '
check_grep "$told" "$TMP/x.txt"
check "saved" "$BPFPROF" report "$TMP/x.bpfprof" -o "$TMP/y.txt"
check_grep "$told" "$TMP/y.txt" "saved: is told"

# It crashes: the same, and no core dump of what it had in memory lies around.
cd "$TMP" || exit 1
ulimit -c unlimited
recorded 2 11
check_is "$kinds" ended "two crashed: what is missing,"
check_is "$(find "$TMP" -name 'core*')" "" "core dumps"
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Where programs start all the time, an agent and the process that reads for it stay below 128 MB, as often as its
# tables are renewed; and a window of ten seconds takes less than 23 KB on disk.
# timeout: 600
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_nightly
need_bpf
cd "$TMP" || exit 1
# Each with counts of its own; half of them compile, where there is a compiler.
echo 'int main(void) { return 0; }' >x.c
start bash -c 'while :; do /bin/ls /usr /etc >/dev/null; gcc -O1 -c x.c -o x.o 2>/dev/null || /bin/ls >/dev/null; done'
STORM=$PID
env --default-signal=TERM "$BPFPROF" agent -p "$STORM" --keep kept -v >"$OUT" 2>"$ERR" &
AGENT=$!
pids+=("$AGENT")
renewed() { [ "$(grep -c 'tables renewed' "$ERR")" -ge "$1" ]; }
readers_kb() { # what its children do not share with it
	local pid

	for pid in $(pgrep -P "$AGENT"); do
		awk '/^Private/ { sum += $2 } END { print sum + 0 }' "/proc/$pid/smaps_rollup" 2>/dev/null
	done | awk '{ sum += $1 } END { print sum + 0 }'
}
# What no process maps is memory all the same: of the kernel's tables of one recording.
unmapped_kb() {
	local all mapped

	all=$(cat /proc/"$AGENT"/fdinfo/* 2>/dev/null | awk '/^memlock/ { sum += $2 } END { print int(sum / 1024) }')
	mapped=$(awk '/^[0-9a-f]+-/ { ours = /bpf-map/ } ours && /^Rss/ { sum += $2 } END { print sum + 0 }' "/proc/$AGENT/smaps")
	echo $((all > mapped ? all - mapped : 0))
}
now_kb() { awk '/^VmRSS/ { print $2 }' "/proc/$AGENT/status"; }
check "tables are renewed" wait_until 200 renewed 1
sleep 12
first=$(now_kb)
check "tables are renewed again" wait_until 350 renewed 4
sleep 12
last=$(now_kb)
peak=$(awk '/^VmHWM/ { print $2 }' "/proc/$AGENT/status")
readers=$(readers_kb)
unmapped=$(unmapped_kb)
echo "# KB: $first after one renewal, $last after four; $peak at most, $readers of readers, and twice $unmapped of tables that are not mapped"
check_between $((peak + readers + 2 * unmapped)) 10000 $((128 * 1024)) "KB of memory at most"
check_between "$last" $((first / 2)) $((first * 5 / 4)) "KB of memory after four renewals"
stop "$AGENT"
check_is "$STATUS" 0 "exit status"
nr=$(find kept -name '*.bpfprof' | wc -l)
bytes=$(find kept -name '20*' -printf '%s\n' | awk -v nr="$nr" '{ sum += $1 } END { print int(sum / nr) }')
check_between "$bytes" 1000 23000 "bytes of a window, with its part of the names"
finish

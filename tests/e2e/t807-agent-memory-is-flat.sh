#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Where programs start all the time, an agent and the process that reads for it stay below 128 MB, and its memory is flat: in
# tables that last, since counts of threads that are gone are freed, and in small ones, which are renewed again and again. A
# window of ten seconds takes less than 23 KB on disk.
# timeout: 900
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_nightly
need_bpf
need_prog waits_crowd
cd "$TMP" || exit 1
# Windows from which on memory is to be flat, and until when: two minutes and six.
FIRST=${FIRST:-12} LAST=${LAST:-36}
# Each with counts of its own; half of them compile, where there is a compiler.
echo 'int main(void) { return 0; }' >x.c
start bash -c 'while :; do /bin/ls /usr /etc >/dev/null; gcc -O1 -c x.c -o x.o 2>/dev/null || /bin/ls >/dev/null; done'
STORM=$PID
agent_of() { # PIDS ARGUMENTS...; sets $AGENT
	local of=$1

	shift
	rm -rf kept
	env --default-signal=TERM "$BPFPROF" agent -p "$of" --keep kept -v "$@" >"$OUT" 2>"$ERR" &
	AGENT=$!
	pids+=("$AGENT")
}
has_windows() { [ "$(find kept -name '*.bpfprof' | wc -l)" -ge "$1" ]; }
nr_renewed() { grep -c 'tables renewed' "$ERR"; }
renewed() { [ "$(nr_renewed)" -ge "$1" ]; }
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
agent_of "$STORM"
check "$FIRST windows" wait_until $((FIRST * 10 + 60)) has_windows "$FIRST"
first=$(now_kb)
check "$LAST windows" wait_until $((LAST * 10)) has_windows "$LAST"
last=$(now_kb)
peak=$(awk '/^VmHWM/ { print $2 }' "/proc/$AGENT/status")
readers=$(readers_kb)
unmapped=$(unmapped_kb)
renewals=$(nr_renewed)
echo "# KB: $first after $FIRST windows, $last after $LAST; tables renewed $renewals times; $peak at most, $readers of readers, and twice $unmapped of tables that are not mapped"
check_between $((peak + readers + 2 * unmapped)) 10000 $((128 * 1024)) "KB of memory at most"
check_between "$last" $((first / 2)) $((first * 5 / 4)) "KB of memory after $LAST windows"
check_between "$renewals" 0 $((LAST / 12)) "renewals of tables that last"
stop "$AGENT"
check_is "$STATUS" 0 "exit status"
nr=$(find kept -name '*.bpfprof' | wc -l)
bytes=$(find kept -name '20*' -printf '%s\n' | awk -v nr="$nr" '{ sum += $1 } END { print int(sum / nr) }')
check_between "$bytes" 1000 23000 "bytes of a window, with its part of the names"

# Small tables, of which the threads of one program take more than a third.
start "$PROGS/waits_crowd" 350 400
agent_of "$STORM,$PID" -i 1s --max-stacks 4096
check "small tables are renewed" wait_until 60 renewed 2
sleep 5
first=$(now_kb)
check "... and again" wait_until 250 renewed 12
sleep 5
last=$(now_kb)
echo "# KB: $first after two renewals, $last after twelve"
check_between "$last" $((first / 2)) $((first * 5 / 4)) "KB of memory after twelve renewals"
stop "$AGENT"
check_is "$STATUS" 0 "exit status, in small tables"
finish

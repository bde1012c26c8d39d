#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# timeout: 720
# 33,000 new files are mapped each second: ten minutes of it take no more memory than one, all processes of bpfprof
# together, and never more than 64 MB. What else runs here is followed, but not sampled: a compiler beside it has names
# and tables of its own.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need setpriv
need_nightly
need_prog attacks

# What they have for themselves and in maps of BPF; files that are read are the kernel's cache.
own_kb() { # PID
	local pids pid

	pids="$1 $(cat "/proc/$1/task/$1/children" 2>/dev/null)"
	for pid in $pids; do
		cat "/proc/$pid/status" 2>/dev/null
	done | awk '/^Rss(Anon|Shmem):/ { sum += $2 } END { print sum + 0 }'
}

chmod 755 "$TMP"
cp "$PROGS/attacks" "$TMP/attacks"
start setpriv --reuid 1234 --regid 1234 --clear-groups "$TMP/attacks" files
wait_until 20 grep -q ready "$LOG"
start_bpfprof oncpu --comm attacks -F 49 -o "$TMP/x.folded" -o "$TMP/x.json" 600
profiler=$PID
first=0 most=0
for ((second = 0; second < 595; second++)); do
	sleep 1
	kb=$(own_kb "$profiler")
	most=$((kb > most ? kb : most))
	[ "$second" -ne 60 ] || first=$most
	[ $((second % 60)) -ne 0 ] || echo "# after $second s: $kb KB"
done
wait_for "$profiler"
check "ten minutes: exit status $STATUS" [ "$STATUS" -eq 0 ]
maps=$(($(json "$TMP/x.json" cost map_bytes) / 1024))
check "at most $most KB, and $maps KB of maps" [ $((most + maps)) -le 65536 ]
check "after a minute it was $first KB" [ "$most" -le $((first + 16384)) ]
finish

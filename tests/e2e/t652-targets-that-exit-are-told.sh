#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Of a process that exits while it is recorded, or while probes are being placed in it, bpfprof says just that, and what was
# recorded until then. It neither advises to try longer nor blames the process's files.
# timeout: 240
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3

ends_with_it() { # STATUSES NAME ARGUMENTS...: of a process that lives for three seconds
	local statuses=$1 name=$2 from=$EPOCHSECONDS status

	shift 2
	start sleep 3
	run "$BPFPROF" "$@" -p "$PID" -d 60
	status=$STATUS
	cp "$ERR" "$TMP/told"
	cp "$OUT" "$TMP/shown"
	check "$name of one that exits: exit status $status of $statuses" grep -qw "$status" <<<"$statuses"
	[ "$status" -eq 0 ] || check "$name has nothing to show" test ! -s "$TMP/shown"
	check_grep "process $PID exited [0-9.]+ [mu]?s after the recording began" "$TMP/told" "$name says so"
	check_no_grep 'try longer|static program' "$TMP/told" "and nothing else is to blame"
	check "it did not wait for the time to be over" test $((EPOCHSECONDS - from)) -lt 40
	forget "$PID"
}
# Where exiting is slow, a sample may meet it: then there is something to show.
ends_with_it '3 0' oncpu oncpu
for name in lock ${NIGHTLY:+alloc faults io}; do
	ends_with_it 3 "$name" "$name"
done
ends_with_it 3 uprobe uprobe -l hcreate
ends_with_it 0 syscalls syscalls

# What was recorded until then is in the result.
start python3 -c 'import os, time
time.sleep(3)
for i in range(23): os.getloadavg()
time.sleep(0.5)'
check "uprobe of one that exits" "$BPFPROF" uprobe -p "$PID" -d 60 -o "$TMP/x.json" -o "$TMP/x.csv" getloadavg
check_near "$(json "$TMP/x.json" samples recorded)" 23 0 "calls until then"
check_grep "warning: process $PID exited [0-9.]+ [mu]?s after the recording began" "$ERR"
forget "$PID"

# Of a program that is started nobody has to be told.
check_status 3 "lock of a program that waits for none" "$BPFPROF" lock -d 60 -- sleep 0.1
check_no_grep 'try longer' "$ERR" "trying longer would not help"

# Moments from its start to after the recording has begun. Each has its sentence.
said='no process|does not exist|exited before a probe was placed|had exited before the recording began|exited [0-9.]+ [mu]?s after'
total=0 tries=$(by_day 8 16)
# Others hardly ever call these functions.
for words in alloc 'uprobe -l hcreate' 'uprobe hsearch+return'; do
	from=${EPOCHREALTIME/./}
	# shellcheck disable=SC2086
	"$BPFPROF" $words -p $$ -d 0.01 >/dev/null 2>&1
	took=$(((${EPOCHREALTIME/./} - from) / 1000))
	wrong=0 attaching=0 others=0
	for ((i = 0; i < tries; i++)); do
		sleep "$(awk -v t="$took" -v i="$i" -v n="$tries" 'BEGIN { printf "%.3f", 0.01 + t * i / (n - 2) / 1000 }')" &
		victim=$!
		# shellcheck disable=SC2086
		"$BPFPROF" $words -p "$victim" -d 20 >/dev/null 2>"$ERR"
		STATUS=$?
		if grep -q 'keeps the mappings of process' "$ERR"; then
			others=$((others + 1)) # of somebody else on this machine: no probe may be placed then
		elif { [ "$STATUS" -ne 1 ] && [ "$STATUS" -ne 2 ] && [ "$STATUS" -ne 3 ]; } || ! grep -qE "$said" "$ERR" ||
			grep -qE 'try longer|static program|no function|no file' "$ERR"; then
			wrong=$((wrong + 1))
			sed "s/^/# after $i of $tries: status $STATUS: /" "$ERR"
		fi
		! grep -qE 'before a probe was placed|before the recording began' "$ERR" || attaching=$((attaching + 1))
		wait "$victim"
	done
	check_near "$wrong" 0 0 "$words: exits that are told in another way, of $tries"
	check "$words: exits that are not judged, since others keep a lock: $others of $tries" test "$others" -lt $((tries / 2))
	total=$((total + attaching))
	echo "# figure: $words: $attaching of $tries exits while probes were being placed"
done
check "exits while probes were being placed: $total" test "$total" -gt 0
finish

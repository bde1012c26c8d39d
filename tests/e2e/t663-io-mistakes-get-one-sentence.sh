#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Mistakes of io and lock --kernel get one sentence that helps; who is not selected is counted as such.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=waits.sh
. "${0%/*}/waits.sh"
# shellcheck source=io.sh
. "${0%/*}/io.sh"
need_bpf
need python3
need_prog io_known

mistake() { # PATTERN ARGS...
	check_status 2 "${*:2}" "$BPFPROF" "${@:2}"
	check_grep "$1" "$ERR"
	check_near "$(wc -l <"$ERR")" 1 0 "lines"
}

mistake "^bpfprof: --kind: unknown kind 'block1'; did you mean 'block'\? \(there are block, uring and connect\)$" io --kind block1 -d 1
mistake "^bpfprof: --kind: unknown kind 'x'" io --kind uring,x -d 1
mistake "^bpfprof: --kind: no kind is given" io --kind '' -d 1
mistake "--max-open" io --max-open 3 -d 1
if grep -qsw contention_begin /sys/kernel/tracing/available_events || [ -d /sys/kernel/tracing/events/lock ]; then
	mistake "^bpfprof: --wakeups is for locks of programs: it does not go with --kernel$" lock --kernel --wakeups -d 1
	mistake "^bpfprof: --by-class is for locks of programs" lock --kernel --by-class -d 1
fi

# What another process does is filtered, not recorded.
start sleep 100
"$BPFPROF" io -p "$PID" --kind connect -d 4 -s -o "$TMP/x.json" >"$TMP/said" 2>&1 &
recorder=$!
sleep 2
run "$PROGS/io_known" connect 5
wait $recorder
if [ -s "$TMP/said" ]; then
	check_grep '(filtered: process not selected|0 operations? seen)' "$TMP/said"
fi
check_near "$(grep -c 'giving_up' "$TMP/said")" 0 0 "functions of others"
finish

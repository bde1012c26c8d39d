#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The kernel keeps state of threads that can be recorded, and of no others; a name or an exec may make a thread one of
# them while the recording runs.
# alone: it judges times
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=waits.sh
. "${0%/*}/waits.sh"
need_bpf
need python3
need_prog waits_sleeper waits_switcher

start "$PROGS/waits_switcher" 60
other=$PID
record offcpu -m 1 --idle=show -- "$PROGS/waits_sleeper" often 200 3000
kept=$(ledger "$TMP/x.json" threads)
check_between "$kept" 1 4 "threads with state, with a program"
check_truth nap_often

# By name all can become one of those.
start_bpfprof offcpu -m 1 --idle=show -n waits_sleeper -o "$TMP/x.json" -o "$TMP/x.folded" 4
sh -c "exec '$PROGS/waits_sleeper' often 200 3000" >"$TMP/did"
wait_for "$PID"
check_near "$STATUS" 0 0 "by name: exit status"
check_between "$(ledger "$TMP/x.json" threads)" $((kept + 5)) 100000 "threads with state, by name"
check_truth nap_often
stop "$other" KILL
finish

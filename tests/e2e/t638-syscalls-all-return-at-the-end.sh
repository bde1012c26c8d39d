#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Of a program that calls without a pause, each call that is seen to begin is seen to return, however the recording sees
# them: also while its programs are attached and detached one after the other.
# alone: it judges times
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=waits.sh
. "${0%/*}/waits.sh"
need_bpf
need python3
need_prog syscalls_known

start "$PROGS/syscalls_known" others 600000
for how in "" --stacks "--only umask" "--only umask,getppid --stacks"; do
	for _ in 1 2 3; do
		# shellcheck disable=SC2086
		check "syscalls $how" "$BPFPROF" syscalls $how -p "$PID" -d 0.3 -o "$TMP/x.json"
		check_ledger_closes "$TMP/x.json"
		check_between "$(ledger "$TMP/x.json" seen)" 1000 1000000000 "calls"
		check_near "$(ledger "$TMP/x.json" lost)" 0 0 "lost"
		check_near "$(ledger "$TMP/x.json" runs_skipped_by_kernel)" 0 0 "runs that the kernel left out"
		check_between $(($(ledger "$TMP/x.json" begun) - $(ledger "$TMP/x.json" ended))) 0 1 "had not returned"
	done
done
finish

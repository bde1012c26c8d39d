#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# An agent whose folder is removed makes it again, and keeps what comes then; it is the only one that has it.
# timeout: 120
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need_prog spin_abc
cd "$TMP" || exit 1
start "$PROGS/spin_abc" 100
start_bpfprof agent -p "$PID" -i 1s --keep kept
AGENT=$PID
has_windows() { compgen -G 'kept/*.bpfprof' >/dev/null; }
check "windows are kept" wait_until 30 has_windows
rm -rf kept
check "they are again" wait_until 30 has_windows
cp "$ERR" log
mistake 1 "another agent keeps its windows in kept" agent --keep kept -d 1
stop "$AGENT"
check_is "$STATUS" 0 "exit status"
check_is "$(stat -c %a kept)" 700 "mode of the folder"
check_is "$(grep -c 'windows are not kept for now' log)" 1 "complaints"
check_grep 'windows are kept in kept again; [0-9]+ w' log
check "it can be read" "$BPFPROF" report kept
finish

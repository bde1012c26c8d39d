#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# timeout: 7200
# Whichever allocation of the processes that read files finds no memory, there is a result whose ledger closes, and what is
# missing is named; whichever of the main process, there is a result or one sentence. Nothing crashes, hangs or is left.
# By day a sample of the allocations, at night twenty times as many.
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3
need_prog starves nofp_libc waits_server

mkdir "$TMP/run"
starved() { # WHOM TRIES STACK COMMAND...; by day half of them
	drive starved.py "$BPFPROF" "$PROGS/starves" "$TMP/run" "$1" "$(by_day $((($2 + 1) / 2)) "$2")" "$3" "${@:4}" -o "$TMP/run/x.folded" -o "$TMP/run/x.json"
}

# Symbols, unwind tables, lines of DWARF.
start_first "$PROGS/nofp_libc" 7000
target=$PID
starved children 14 '^nofp_libc;.*;main;' oncpu --no-symbol-cache -p "$target" -F 199 0.5
starved main 8 '^nofp_libc;.*;main;' oncpu --no-symbol-cache -p "$target" -F 199 0.5
stop "$target"
start "$PROGS/waits_server" unix 100000000
target=$PID
starved children 5 '^waits_server;.*;main;|;serve' offcpu --no-symbol-cache -p "$target" 0.5
starved main 5 '^waits_server;.*;main;|;serve' offcpu --no-symbol-cache -p "$target" 0.5
stop "$target"

# An interpreter, and a program in Go.
start_first python3 -c 'def hot(n):
    while True:
        sum(range(n))
hot(1000)'
target=$PID
starved children 5 '^python' oncpu --no-symbol-cache -p "$target" -F 199 0.5
stop "$target"
if [ -n "${NIGHTLY:-}" ] && command -v go >/dev/null; then
	(cd "$TMP" && CGO_ENABLED=1 go build -o "$TMP/work" "$ROOT/tests/e2e/go/work.go") 2>"$ERR" && start_first "$TMP/work" 7000 && {
		starved children 5 '^work' oncpu --no-symbol-cache -p "$PID" -F 199 0.5
		stop "$PID"
	}
fi
finish

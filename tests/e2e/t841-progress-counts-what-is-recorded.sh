#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The line that a terminal shows during a recording counts what is recorded: waits of offcpu and wakeup, samples of
# oncpu. It counts up, to no more than is recorded in the end, and keeps to the width.
# alone: it needs the CPUs for itself
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3
need_prog waits_pingpong
start "$PROGS/waits_pingpong" processes 1000000 500

counts_up() { # NOUN COLUMNS COMMAND...
	local noun=$1 columns=$2

	shift 2
	check "$columns columns: bpfprof $*" on_terminal "$columns" 24 env NO_COLOR=1 "$BPFPROF" "$@" -o "$TMP/x.json" -s -p "$PID" 2
	tr '\r' '\n' <"$OUT" | grep -E 'in BPF|Ctrl-C ends|lost, ' | grep -vE ' seen = ' >"$TMP/lines"
	check "$1: counts up to what is recorded" python3 - "$TMP/lines" "$TMP/x.json" "$noun" "$columns" <<'PY'
import json, re, sys
lines = open(sys.argv[1]).read().splitlines()
ledger = json.load(open(sys.argv[2]))["samples"]
nrs = [int(m[1].replace(",", "")) for m in (re.search(r" ([0-9,]+) %s," % sys.argv[3], line) for line in lines) if m]
assert len(nrs) >= 2, lines
assert nrs == sorted(nrs) and 0 < nrs[-1] <= ledger["recorded"] + 100, (nrs, ledger)
for line in lines:
    shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", line)
    assert len(shown) <= int(sys.argv[4]), shown
PY
}

counts_up waits 80 offcpu
counts_up waits 100 wakeup
counts_up samples 80 oncpu -F 499
finish

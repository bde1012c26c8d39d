#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# timeout: 600
# A Tokio program whose tasks never block is idle: timers, messages, an async mutex and echoes over TCP, as Tokio parks by the
# library's condition variables and, with all features, by parking_lot's. Nothing of it is in tasks, and --idle=hide hides it.
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3 cargo
[ -z "${IN_GUEST:-}" ] || skip "guests have no cargo"

seconds=2
variants=(fat)
[ -z "${NIGHTLY:-}" ] || seconds=5 variants+=(release full fullfat v0 old oldfat)

for variant in "${variants[@]}"; do
	app=$("$ROOT/tests/progs/tokio/build.sh" "$variant" "$PROGS/tokio" 2>"$ERR")
	status=$?
	[ $status -ne 77 ] || skip "$(cat "$ERR")"
	[ $status -eq 0 ] || { fail "$variant is built" && show && continue; }
	saved=$TMP/$variant.bpfprof
	check "$variant is recorded" "$BPFPROF" offcpu -o "$saved" -- "$app" $seconds --quiet --workers 4 --truth "$TMP/truth"
	"$BPFPROF" report -f --frames=all --idle=show "$saved" >"$TMP/folded"
	"$BPFPROF" report -f --idle=hide "$saved" >"$TMP/hidden"
	"$BPFPROF" report --json "$saved" >"$TMP/json"
	check_folded "$TMP/folded"
	drive tokio_quiet.py "$variant" "$TMP/truth" "$TMP/folded" "$TMP/hidden" "$TMP/json"
done

"$BPFPROF" report -f "$saved" >"$TMP/default"
check_between "$(grep -Ec ';\[idle\];\[(park|driver)\] ' "$TMP/default")" 2 2 "folded, idle workers are two bars"
finish

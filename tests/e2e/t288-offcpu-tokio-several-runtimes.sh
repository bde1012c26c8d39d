#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# timeout: 600
# Of several Tokio runtimes in one process (default name, own name, without a driver for events, a LocalSet in a thread of its
# own), what their tasks block in is in tasks, of the right threads, for as long as they measured; where there is no driver,
# idle workers park.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3 cargo
[ -z "${IN_GUEST:-}" ] || skip "guests have no cargo"

variants=(fat release)
[ -z "${NIGHTLY:-}" ] || variants+=(full fullfat v0 old oldfat)

for variant in "${variants[@]}"; do
	app=$("$ROOT/tests/progs/tokio/build.sh" "$variant" "$PROGS/tokio" 2>"$ERR")
	status=$?
	[ $status -ne 77 ] || skip "$(cat "$ERR")"
	[ $status -eq 0 ] || { fail "$variant is built" && show && continue; }
	saved=$TMP/$variant.bpfprof
	check "$variant is recorded" "$BPFPROF" offcpu -o "$saved" -- "$app" 2 --several --truth "$TMP/truth"
	"$BPFPROF" report -f "$saved" >"$TMP/folded"
	"$BPFPROF" report --json "$saved" >"$TMP/json"
	check_folded "$TMP/folded"
	drive tokio_several.py "$variant" "$TMP/truth" "$TMP/folded" "$TMP/json"
done
finish

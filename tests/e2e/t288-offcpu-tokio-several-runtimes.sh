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

# Up to 1.49 it is cut.
declare -A default=([old]=tokio-runtime-w [oldfat]=tokio-runtime-w)

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

	check "$variant: the summary" "$BPFPROF" report -s "$saved"
	# One may still have the name of who made it: once in some 200 runs one had.
	for name in "${default[$variant]:-tokio-rt-worker}" named driverless; do
		check_grep "^  6 workers [(].*\b$name [12]\b.*[)] x " "$OUT" "$variant: it names the workers $name"
	done
	# All that workers sleep in is there, and what the thread of the LocalSet does is not.
	read -r time kind < <(sed -nE 's/^  BLOCKED IN TASKS +([0-9.]+ s) .*  sleep ([0-9.]+ s)(,.*)?$/\1 \2/p' "$OUT" | sed 's/ s//g')
	check_near "${kind:-none}" "${time:-none}" 0.05 "$variant: of BLOCKED IN TASKS, s of its kind"
done
finish

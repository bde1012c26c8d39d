#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A saved profile gives every view again, byte for byte, to a user without any privilege.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need setpriv
need_prog pool

chmod 755 "$TMP"
cp "$BPFPROF" "$TMP/bpfprof"
for f in folded svg html json txt; do
	args+=(-o "$TMP/live.$f")
done
check "recording with all outputs at once" "$BPFPROF" oncpu -F 999 -f -o "$TMP/x.bpfprof" "${args[@]}" -- sh -c 'exec "$0" 3 0.5 >/dev/null' "$PROGS/pool"
cp "$OUT" "$TMP/live.stdout"
chmod 644 "$TMP"/x.bpfprof
mkdir -m 777 "$TMP/out"
for f in folded svg html json txt; do
	check "report -o x.$f as nobody" setpriv --reuid 65534 --regid 65534 --clear-groups \
		"$TMP/bpfprof" report -f -o "$TMP/out/again.$f" "$TMP/x.bpfprof"
	check "$f is the same again" cmp "$TMP/live.$f" "$TMP/out/again.$f"
done
check "folded on a pipe" cmp "$TMP/live.stdout" "$TMP/live.folded"
check "another view" "$BPFPROF" report -f --merge-threads "$TMP/x.bpfprof"
check_grep "^worker-;" "$OUT"
check_no_grep "^worker-[0-9]" "$OUT"
check "summary" "$BPFPROF" report -s "$TMP/x.bpfprof"
check_grep "seen = .* recorded \+ .* filtered \+ 0 lost" "$OUT"
check "JSON" "$BPFPROF" report --json "$TMP/x.bpfprof"
cp "$OUT" "$TMP/summary.json"
check "JSON is JSON, and its ledger closes" python3 -c 'import json,sys
s = json.load(open(sys.argv[1]))["samples"]
assert s["seen"] == s["recorded"] + s["filtered"] + s["lost"] > 300, s' "$TMP/summary.json"

head -c 500 "$TMP/x.bpfprof" >"$TMP/short.bpfprof"
check_status 1 "a truncated file is refused" "$BPFPROF" report "$TMP/short.bpfprof"
check_grep "truncated" "$ERR"
check_status 1 "another file is refused" "$BPFPROF" report /bin/true
check_grep "not a bpfprof profile" "$ERR"
check_status 1 "no file" "$BPFPROF" report "$TMP/none.bpfprof"
check_grep "No such file" "$ERR"
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Where the audit finds that a stack was not what was remembered, it shows both. The program makes one such stack: it
# maps another file where one lay, with other unwind data and all else the same.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=waits.sh
. "${0%/*}/waits.sh"
need_bpf
need python3
need_prog waits_moved libmoved_a libmoved_b

# Files are mapped in the tenth of a second before they are known; 200 naps of 5 ms last longer.
record offcpu -m 1 --idle=show --audit -o "$TMP/x.bpfprof" -- "$PROGS/waits_moved" 300
cp "$ERR" "$TMP/told"
check_between "$(ledger "$TMP/x.json" audit-wrong)" 1 3 "stacks that the audit found wrong"
check_grep 'found unchanged that a walk said had changed; an example of each kind' "$TMP/told"
check_grep '^user half, other functions: [1-3]; first thread waits_moved \([0-9]+\) of process [0-9]+$' "$TMP/told"
check_grep 'REMEMBERED +WALKED' "$TMP/told"
check_grep '^ *! +main +decoy$' "$TMP/told" "the caller of hold, as remembered and as walked"

judge() { # JSON
	python3 - "$1" <<-'EOF'
		import json, sys
		rows = [r for r in json.load(open(sys.argv[1])).get("audit", []) if r["half"] == "user"]
		assert len(rows) == 1, rows
		row = rows[0]
		assert row["kind"] == "functions" and row["times"] >= 1 and row["thread"] == "waits_moved", row
		is_, was = row["walked"], row["remembered"]
		at = was.index("hold")
		assert was[at - 1] == "nap" and was[at + 1] == "main" and "decoy" not in was, was
		assert is_[:at] == was[:at] and is_[at:at + 3] == ["hold", "decoy", "main"], is_
	EOF
}
check "JSON has both stacks" judge "$TMP/x.json"
check "report" "$BPFPROF" report --json "$TMP/x.bpfprof"
cp "$OUT" "$TMP/report.json"
check "a saved profile keeps them" judge "$TMP/report.json"

# Who has nothing wrong says nothing.
record offcpu -m 1 --idle=show --audit -- "$PROGS/waits_moved" 2
check_near "$(ledger "$TMP/x.json" audit-wrong)" 0 0 "stacks that the audit found wrong, without the other file"
check_no_grep 'found unchanged' "$ERR"
finish

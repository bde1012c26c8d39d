# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
#
# What the tests of operations share (io, lock --kernel), besides lib.sh and waits.sh.

# A folder whose files are read from a disk: $folder.
need_disk() {
	local dir

	for dir in "$TMP" "$ROOT/build" /var/tmp "$HOME"; do
		if [ -w "$dir" ] && "$PROGS/io_known" read "$dir" 1 2>/dev/null | grep -q ' 4096$'; then
			# shellcheck disable=SC2034 # for the script
			folder=$dir
			return
		fi
	done
	skip "no folder on a disk"
}

# A figure of a row of the table, rounded: of all of that kind, or of those with that lock.
row() { # KIND KEY [LOCK]
	python3 -c 'import json, sys
rows = [r for r in json.load(open(sys.argv[1])).get("calls", []) if r["function"] == sys.argv[2]
        and (len(sys.argv) < 5 or r["arguments"] == sys.argv[4])]
print(round(sum(r[sys.argv[3]] for r in rows)))' "$TMP/x.json" "$1" "$2" "${@:3}"
}

# Operations that began and had no end that bpfprof saw. Some hosts hide what happens on top of threads of their own.
without_end() {
	echo $(($(ledger "$TMP/x.json" no-end) + $(ledger "$TMP/x.json" begun) - $(ledger "$TMP/x.json" ended)))
}

# Records PROGRAM into $TMP/x.json, $TMP/x.folded and $TMP/x.bpfprof; what it and bpfprof print goes to $TMP/said.
record_ops() { # DESC COMMAND OPTIONS... -- PROGRAM ARGS...
	check "$1" "$BPFPROF" "$2" --no-inline -s -o "$TMP/x.json" -o "$TMP/x.folded" -o "$TMP/x.bpfprof" "${@:3}"
	cp "$OUT" "$TMP/said"
	check_ledger_closes "$TMP/x.json"
}

# A figure that the program printed: "NAME FIGURE".
said() { # NAME [FIELD]
	awk -v name="$1" -v field="${2:-2}" '$1 == name { print $field; exit }' "$TMP/said"
}

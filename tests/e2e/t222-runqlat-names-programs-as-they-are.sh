#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A process is named as the program that it runs, though its first wait is before its exec, when it has its parent's name.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3

printf '#!/bin/bash\nfor _ in {1..30}; do /bin/sleep 0.01; done\n' >"$TMP/script"
chmod +x "$TMP/script"
names() { # OPTION
	"$BPFPROF" runqlat "$1" --json -- "$TMP/script" >"$TMP/json" 2>"$ERR"
	python3 -c 'import json, sys
d = json.load(open(sys.argv[1]))
names = [r.get("name") or r["comm"] for r in d.get("rows") or d["histograms"]]
print(names.count("sleep"), names.count("script"))' "$TMP/json"
}
for by in -P --per-thread; do
	read -r sleeps scripts < <(names "$by")
	check_near "$sleeps" 30 3 "$by: rows named sleep"
	check_near "$scripts" 1 1 "$by: rows named after the script"
done
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# CPU time and memory of the processes that read files for bpfprof are part of what it says it cost.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3
need_prog nofp_libc

# As a file of somebody else it is read by children only, names and tables.
cp "$PROGS/nofp_libc" "$TMP/program"
chown 1234 "$TMP/program"
chmod 755 "$TMP" "$TMP/program"
start "$TMP/program" 30
check "oncpu" "$BPFPROF" oncpu -p "$PID" -F 199 --no-symbol-cache -s -o "$TMP/x.json" -o "$TMP/x.bpfprof" 1
check_grep '^ +of it .* of CPU, .* of memory in processes that read files' "$OUT"
cost() { # KEY
	json "$TMP/x.json" cost "$1"
}
more() { # VALUE THAN DESC
	check "$3: $1, more than $2" awk -v a="$1" -v b="$2" 'BEGIN { exit !(a > b) }'
}
more "$(cost readers_cpu_s)" 0.001 "CPU time of readers"
more "$(cost readers_bytes)" 500000 "bytes of readers"
more "$(cost own_cpu_s)" "$(cost readers_cpu_s)" "all CPU time"
more "$(cost rss_bytes)" "$(cost readers_bytes)" "all memory"

# Saved and shown again, it is the same.
grep '^ *of it ' "$OUT" >"$TMP/said"
check "report" "$BPFPROF" report -s "$TMP/x.bpfprof"
check_grep "$(cat "$TMP/said")" "$OUT" "report says the same"
finish

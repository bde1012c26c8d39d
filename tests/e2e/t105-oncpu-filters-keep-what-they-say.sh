#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Filters in BPF: each leaves out what it names, counts it under its name, and the ledger closes.
# alone: it judges times
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need taskset python3
need_prog spin_abc exiter

ledger() { # DESC JSON PYTHON_CONDITION over s (samples)
	check "$1" python3 -c 'import json,sys
s = json.load(open(sys.argv[1]))["samples"]; f = s["filtered_by"]
assert s["seen"] == s["recorded"] + s["filtered"] + s["lost"], s
assert eval(sys.argv[2]), s' "$2" "$3"
}

start taskset -c 0 "$PROGS/spin_abc" 60
target=$PID
start taskset -c 0 dd if=/dev/zero of=/dev/null bs=1M
dd=$PID

check "-p" "$BPFPROF" oncpu -p "$target" -U -F 999 -f -o "$TMP/p.json" 0.5
check_near "$(folded_pct "$OUT" '^spin_abc;')" 100 0 "only the target"
ledger "others are counted" "$TMP/p.json" 'f["other-process"] > 100 and s["lost"] == 0'

check "-p twice and as a list" "$BPFPROF" oncpu -p "$target,$dd" -p "$$" -U -F 999 -f 0.5
check_near "$(folded_pct "$OUT" '^(spin_abc|dd);')" 100 1 "both"
check_grep '^dd;' "$OUT"
check_grep '^spin_abc;' "$OUT"

if [ "$(nproc)" -gt 1 ]; then
	start taskset -c 1 "$PROGS/exiter" 60
fi
check "-C" "$BPFPROF" oncpu -C 0 -U -F 999 -f -o "$TMP/c.json" 0.5
check_grep '^spin_abc;' "$OUT"
check_grep '^dd(;| )' "$OUT"
check_no_grep '^exiter' "$OUT" "what runs on CPU 1 is left out"
# Elsewhere more than the two may run there.
[ -z "${IN_GUEST:-}" ] || check_near "$(folded_pct "$OUT" '^(spin_abc|dd)(;|$)')" 98 4 "CPU 0 runs the two"
[ "$PID" = "$dd" ] || stop "$PID"
ledger "one CPU's worth of samples" "$TMP/c.json" 's["seen"] < 560'

check "-U" "$BPFPROF" oncpu -p "$dd" -U -A -F 999 -f 0.3
check_no_grep '_\[k\]' "$OUT"
check "-K" "$BPFPROF" oncpu -p "$dd" -K -A -F 999 -f 0.3
check_near "$(folded_pct "$OUT" ';[^;]*[^]];')" 0 0 "frames that are not of the kernel"
check_grep '_\[k\]' "$OUT"
check "-D -A" "$BPFPROF" oncpu -p "$dd" -D -A -F 999 -f 0.3
check_grep ';-;([^;]*_\[k\](;| ))+' "$OUT"

check "-u" "$BPFPROF" oncpu -u -U -F 999 -f 0.3
check_grep '^spin_abc;' "$OUT"
"$BPFPROF" oncpu -k -U -C 0 -F 999 -f 0.5 >"$OUT" 2>"$ERR"
check_no_grep '^(spin_abc|dd)[; ]' "$OUT"

# By a name of its own: others may profile the machine at the same time.
cp "$BPFPROF" "$TMP/bpfprof-itself"
check "bpfprof leaves itself out" "$TMP/bpfprof-itself" oncpu -U -F 4999 -f 0.5
check_no_grep '^bpfprof-itself' "$OUT"

mount=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
if [ -n "$mount" ] && mkdir "$mount/bpfprof-test-$$" 2>/dev/null; then
	mkdir "$mount/bpfprof-test-$$/inner"
	echo "$target" >"$mount/bpfprof-test-$$/inner/cgroup.procs"
	check "--cgroup, by name below the mount" "$BPFPROF" oncpu --cgroup "/bpfprof-test-$$" -U -F 999 -f -o "$TMP/g.json" 0.5
	check_near "$(folded_pct "$OUT" '^spin_abc;')" 100 0 "only the cgroup and those below it"
	ledger "others are counted" "$TMP/g.json" 'f["other-cgroup"] > 100'
	echo "$target" >"$mount/cgroup.procs"
	rmdir "$mount/bpfprof-test-$$/inner" "$mount/bpfprof-test-$$"
else
	echo "# no cgroup2 to write to: --cgroup not tried"
fi
check_status 2 "not a cgroup" "$BPFPROF" oncpu --cgroup /tmp 1
check_grep "not a cgroup of version 2" "$ERR"

check_status 3 "nothing recorded" "$BPFPROF" oncpu -n no-such-thread 1
check_grep "nothing was recorded: [0-9]+ samples seen" "$ERR"
check_grep "filtered: thread name does not match -n" "$ERR"
check_near "$(wc -c <"$OUT")" 0 0 "bytes on stdout"
finish

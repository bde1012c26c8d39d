#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The size of the maps is that of their values, whatever a kernel adds to that.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3
need_prog spin_abc

possible=$(sed 's/.*[-,]//' /sys/devices/system/cpu/possible)

# Each map once: values times entries, and times CPUs for a map of type 6, PERCPU_ARRAY.
sum_of_maps() { # PID
	cat /proc/"$1"/fdinfo/* 2>/dev/null | awk -v cpus=$((possible + 1)) '
		{ f[$1] = $2 }
		$1 == "map_id:" { bytes[$2] = f["value_size:"] * f["max_entries:"] * (f["map_type:"] == 6 ? cpus : 1) }
		END { for (id in bytes) sum += bytes[id]; print sum + 0 }'
}
has_events() { # PID: the maps are there before
	local fd

	for fd in /proc/"$1"/fd/*; do
		[[ $(readlink "$fd") = 'anon_inode:[perf_event]' ]] && return
	done
	return 1
}
compare() { # OPTIONS...
	"$BPFPROF" oncpu -F 99 -f -o "$TMP/x.json" "$@" 30 >/dev/null 2>"$ERR" &
	pids+=($!)
	wait_until 10 has_events $!
	sum=$(sum_of_maps $!)
	sleep 1
	stop $! TERM
	check_near "$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["cost"]["map_bytes"])' "$TMP/x.json")" \
		"$sum" 0 "map_bytes of oncpu $*"
	rm -f "$TMP/x.json"
}
start "$PROGS/spin_abc" 60
target=$PID
compare
compare --max-stacks 4096
compare -p "$target" -t "$target" -n '*'
finish

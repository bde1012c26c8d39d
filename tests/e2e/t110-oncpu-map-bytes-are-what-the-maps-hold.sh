#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The size of the maps is that of their values, whatever a kernel adds to that.
# long
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
compare() { # OPTIONS...
	start_bpfprof oncpu --unwind-mem 4 -U -F 99 -f -o "$TMP/x.json" "$@" 30
	sum=$(sum_of_maps "$PID")
	sleep 1
	stop "$PID" TERM
	check_near "$(json "$TMP/x.json" cost map_bytes)" "$sum" 0 "map_bytes of oncpu $*"
	rm -f "$TMP/x.json"
}
start "$PROGS/spin_abc" 60
target=$PID
compare
compare --max-stacks 4096
compare -p "$target" -t "$target" -n '*'
finish

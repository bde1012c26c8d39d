# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
#
# What the tests of many short processes share, besides lib.sh.

# CPU time of our main thread so far, in us.
own_cpu_us() { # PID
	awk '{ printf "%d\n", $1 / 1000 }' "/proc/$1/schedstat"
}

rss_kb() { # PID
	awk '$1 == "VmRSS:" { print $2 }' "/proc/$1/status"
}

# Records a host where RATE processes a second live for 0.3 ms, and prints after each part: own CPU time of that part in
# us, memory in KB. What else runs is followed, but not sampled: compilers beside it would bring their own names and tables.
churn_parts() { # RATE PARTS SECONDS_OF_A_PART
	local i cpu last

	start "$PROGS/forks" $(($2 * $3 + 20)) "$1" 0.3
	start_bpfprof oncpu --comm forks -F 99 -f -o "$TMP/churn.json" $(($2 * $3 + 30))
	sleep 1 # the tables of what runs anyway are built
	last=$(own_cpu_us "$PID")
	for ((i = 0; i < $2; i++)); do
		sleep "$3"
		cpu=$(own_cpu_us "$PID")
		echo "$((cpu - last)) $(rss_kb "$PID")"
		last=$cpu
	done >"$TMP/parts"
	sed 's/^/# own CPU in us, memory in KB: /' "$TMP/parts"
	stop "$PID" INT
}

part() { # NUMBER COLUMN
	awk -v n="$1" -v column="$2" 'NR == n { print $column }' "$TMP/parts"
}

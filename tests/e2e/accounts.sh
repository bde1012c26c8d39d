# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
#
# What the tests of counters per thread share, besides lib.sh. tests/e2e/accounts counts; what it printed stays in $ROWS.

ACCOUNTS=$ROOT/build/tests/e2e/accounts
ROWS=$TMP/rows
[ -x "$ACCOUNTS" ] || lacks "$ACCOUNTS is not built"

# Values 1 to 3 of a row; where there is a PMU that counts them, 4 and 5 are cycles and instructions. (QEMU has
# instructions only where they are what time is made of.)
EVENTS=cpu-clock,page-faults,context-switches
HARDWARE=
if has_pmu && "$ACCOUNTS" cycles,instructions true >/dev/null 2>&1; then
	EVENTS+=,cycles,instructions
	HARDWARE=1
fi
[ -z "${IN_GUEST:-}" ] || [ "$(uname -m)" != aarch64 ] || [ -n "$HARDWARE" ] || lacks "this guest counts no instructions"

STOLEN=0 # what a hypervisor took away while it counted
stolen() {
	awk '$1 == "cpu" { print $9 }' /proc/stat
}

count() { # DESC ARGS...
	STOLEN=$(stolen)
	check "$1" "$ACCOUNTS" "${@:2}"
	STOLEN=$(($(stolen) - STOLEN))
	cp "$OUT" "$ROWS"
}

# The CPU time that threads had by the clock, against what they say. Their own clock leaves out what was stolen, and
# there are hosts that hide switches to their agents: then the one gets what the other has used.
check_cpu_time() { # NAME-PATTERN THREADS
	local slack=3

	[ -n "${IN_GUEST:-}" ] || slack=15
	if [ "$STOLEN" -gt 0 ]; then
		echo "# time was stolen: $1 not compared"
	else
		check_near "$(pct "$(rows v1 "$1")" "$(truth "$2" 4)")" 101 $slack "$1: percent of the CPU time of its threads"
	fi
}

# A field of the rows whose name matches, summed up: pid tid parent cgroup switches time v1 v2 …
rows() { # FIELD NAME-PATTERN
	field=$1 pattern=$2 awk '
		BEGIN {
			for (i = split("pid tid parent cgroup switches time v1 v2 v3 v4 v5", names); i; i--)
				if (names[i] == ENVIRON["field"])
					field = i + 1
		}
		$1 == "row" && $0 ~ " (" ENVIRON["pattern"] ")$" { sum += $field }
		END { printf "%.0f\n", sum }' "$ROWS"
}

nr_rows() { # NAME-PATTERN
	grep -Ec "^row .* ($1)\$" "$ROWS"
}

value() { # WORD [FIELD]
	word=$1 field=${2:-1} awk '$1 == ENVIRON["word"] { print $(ENVIRON["field"] + 1) }' "$ROWS"
}

# What the program says of itself: "truth NAME TID CPU_NS FAULTS".
truth() { # NAME-PATTERN FIELD
	pattern=$1 field=$2 awk '$1 == "truth" && $2 ~ "^(" ENVIRON["pattern"] ")$" { sum += $ENVIRON["field"] }
		END { printf "%.0f\n", sum }' "$ROWS"
}

pct() { # PART WHOLE
	awk -v part="$1" -v whole="$2" 'BEGIN { printf "%.3f\n", whole ? 100 * part / whole : -1 }'
}

# All that the counters say they counted is in the accounts: values, time enabled, time running. To the last one, where
# no tolerance is given.
# shellcheck disable=SC2120
check_closes() { # [PCT]
	local name sum read enabled was_enabled running was_running nr=0

	while read -r _ name sum read enabled was_enabled running was_running; do
		nr=$((nr + 1))
		if [ $# -gt 0 ]; then
			check_near "$(pct "$sum" "$read")" 100 "$1" "$name: percent of what was counted"
			check_near "$(pct "$enabled" "$was_enabled")" 100 "$1" "$name: percent of the time"
		elif [ "$sum $enabled $running" = "$read $was_enabled $was_running" ]; then
			pass "$name: $sum, as was counted, in $enabled and $running ns"
		else
			fail "$name: $sum of $read, $enabled of $was_enabled ns, $running of $was_running ns"
		fi
	done < <(grep '^event ' "$ROWS")
	check "events that were compared: $nr" [ "$nr" -ge 3 ]
	check_near "$(value unread)" 0 0 "counters that could not be read"
}

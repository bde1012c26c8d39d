#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A thread that blocks always at the same place, with the same stack pointer and as deep, but called by others each time:
# no stack is taken for another. 100,000 switches, a million nightly; the audit walks them all and compares.
# timeout: 900
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=waits.sh
. "${0%/*}/waits.sh"
need_bpf
need python3
need_prog waits_paths deep_paths

switches=${IN_GUEST:+8192}
switches=${switches:-98304}
[ -z "${NIGHTLY:-}" ] || switches=${IN_GUEST:+65536}
switches=${switches:-1048576}
# So many that no walk is left out.
walks=1000000

# Each path has the share of time that the program saw in it; where callers are mixed up, one has twice as much and
# another nothing.
check_paths() { # LEVELS DESC
	levels=$1 awk '
		FNR == NR && $1 == "truth" { told[$2] = $3; all_told += $3; next }
		FNR == NR { next }
		!/^paths;/ { next }
		{ n = $NF; sub(/ [0-9]+$/, "") }
		{
			path = ""
			nr = split($0, frames, ";")
			for (i = 1; i <= nr; i++)
				if (frames[i] ~ /^at_[0-9]+_[ab]$/)
					path = path substr(frames[i], length(frames[i]))
			if ($0 !~ /;block_here;/ || length(path) != ENVIRON["levels"] || !(path in told)) {
				broken += n
				next
			}
			seen[path] += n
			all += n
		}
		END {
			for (path in told) {
				nr_paths++
				off = all && all_told && told[path] ? 100 * (seen[path] / all) / (told[path] / all_told) - 100 : 100
				if (off < 0)
					off = -off
				if (off >= worst)
					worst = off
				if (off > 50)
					print "#   " path ": told " told[path] ", seen " seen[path] + 0
			}
			printf "%d %.2f %.3f\n", nr_paths, worst, all + broken ? 100 * broken / (all + broken) : 100
		}' "$TMP/did" "$TMP/x.folded" >"$TMP/paths"
	grep '^#' "$TMP/paths"
	read -r nr worst broken < <(tail -n 1 "$TMP/paths")
	check_between "$nr" 2 256 "$2: paths"
	check_between "$worst" 0 70 "$2: % by which a path is off its share, at worst"
	# The first stacks of a run may find no room to wait for their tables: some 10 ms of less than a second, beside others
	# up to a fifth of it. (A hash that leaves words out has paths that are off by thousands.)
	check_between "$broken" 0 25 "$2: % of the time in no path at all"
}

paths() { # LEVELS BITS OPTIONS...
	record offcpu -m 1 --walks $walks "${@:3}" -- "$PROGS/$program" "$switches" "$1" "$2"
	check_between "$(awk '$1 == "blocks" { print $2 }' "$TMP/did")" $((switches * 8 / 10)) $((switches + 1000)) "blocks of $switches"
	check_paths "$1" "$program, $1 levels, $2 of them in turns${3:+, $3}"
}

program=deep_paths
paths 20 6
paths 20 2
program=waits_paths
paths 20 6
paths 3 1
paths 20 6 --audit
check_near "$(ledger "$TMP/x.json" audit-wrong)" 0 0 "stacks that the audit found wrong"
check_between "$(($(ledger "$TMP/x.json" verified) + $(ledger "$TMP/x.json" walked)))" $((switches * 8 / 10)) 1000000000 "stacks verified and walked"
# Where stacks do repeat, there is something to find wrong.
record offcpu -m 1 --walks $walks --audit -- "$PROGS/waits_paths" "$switches" 1 1
check_near "$(ledger "$TMP/x.json" audit-wrong)" 0 0 "stacks that the audit found wrong, 1 level"
finish

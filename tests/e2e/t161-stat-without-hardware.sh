#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Without hardware counters: software events, right, and what is missing is said; asked for nothing but what is missing,
# it is exit status 77, never a success with nothing in it.
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=stat.sh
. "${0%/*}/stat.sh"
need_root
need_prog spin_abc faulter
! has_pmu || skip "this machine has hardware counters"

check "default" "$BPFPROF" stat -s -o "$TMP/x.json" -- "$PROGS/spin_abc" 1
tr -s ' \n' ' ' <"$OUT" >"$TMP/line"
check_grep "no hardware counters.*software events only" "$TMP/line"
check_grep "topdown" "$OUT" "what is missing is named"
check_grep "^ +[0-9,.]+ ms +task-clock" "$OUT"
ms=$(awk '$1 == "ms" { print $2 }' "$OUT")
read -r clock seconds < <(said "$TMP/x.json" 'event task-clock mean' 'seconds mean')
check_time "$clock" "$ms" "$seconds" "time on the CPU"
check_is "$(said "$TMP/x.json" 'counters')" 0 "the number of counters"

check "page faults" "$BPFPROF" stat -s -e page-faults,minor-faults,major-faults,cycles -o "$TMP/x.json" -- "$PROGS/faulter" 5000 4
read -r faults minor major cycles < <(said "$TMP/x.json" 'event page-faults mean' 'event minor-faults mean' \
	'event major-faults mean' 'event cycles state')
check_near "$faults" 25150 150 "page faults of 25,000 pages and the start"
check_within "$(awk -v a="$minor" -v b="$major" 'BEGIN { print a + b }')" "$faults" 0 "minor and major ones"
check_is "$cycles" not-supported "the state of cycles"
check_grep "<not supported> +cycles" "$OUT"

start "$PROGS/spin_abc" 60
check "a process" "$BPFPROF" stat -p "$PID" -e task-clock,context-switches --json 1
read -r clock seconds < <(said "$OUT" 'event task-clock mean' 'seconds mean')
[ -z "${IN_GUEST:-}" ] || check_within "$clock" "$(awk -v s="$seconds" 'BEGIN { print s * 1e9 }')" 3 "ns of a process that spins"
check "system-wide" "$BPFPROF" stat --json 1
read -r clock seconds < <(said "$OUT" 'event task-clock mean' 'seconds mean')
check_within "$clock" "$(awk -v s="$seconds" -v n="$(nproc)" 'BEGIN { print s * n * 1e9 }')" 2 "ns of all CPUs"
stop "$PID"

# A report says what it knows, and no more: who ran, by how many samples, on which CPUs, built how.
check "a report" taskset -c 0 "$BPFPROF" stat --report md -- "$PROGS/spin_abc" 3
sed -n 's/^|[^|]*| \(spin.*[abc]\) | \([0-9.]*\)%.* | \([0-9,]*\) | .*spin.*abc | - |$/\2 \3/p' "$OUT" >"$TMP/hot"
read -r total < <(sed -n 's/^By samples of `cpu-clock`, \([0-9,]*\) in all\.$/\1/p' "$OUT")
check_is "$(wc -l <"$TMP/hot")" 3 "the number of functions of a program with three"
check_is "$(awk -v n="${total/,/}" '{ if ($1 - 100 * $2 / n > 0.1 || 100 * $2 / n - $1 > 0.1) bad++ } END { print bad + 0 }' "$TMP/hot")" 0 "shares that are not those of their samples, of ${total:-none},"
# On one CPU that is nothing to tell.
[ "$(nproc --all)" -eq 1 ] || check_grep '^\| Pinning \| to CPU 0 \|$' "$OUT" "where it may run"
check_grep '^\| Build \| GNU C.* -g' "$OUT" "its compiler and flags"
check_grep '^\| ASLR \| o' "$OUT"
check_is "$(grep '^## ' "$OUT" | tr '\n' ' ')" "## Environment and stability ## Topdown ## Cache hierarchy ## TLBs ## Branches ## cpu ## Hot functions ## Root cause ## Recommendations ## Validation plan ## What could not be measured " "sections"
check_is "$(grep -c '^Not measured: ' "$OUT")" 4 "sections that say that they were not measured"
check_grep '^Nothing could be judged' "$OUT" "no threshold, no verdict"

missing() { # PATTERN ARGS...: exit status 77, a table with the pattern, and one sentence
	local pattern=$1

	shift
	check_status 77 "bpfprof $*" timeout 10 "$BPFPROF" "$@"
	check_grep "$pattern" "$OUT" "the table says /$pattern/"
	check_near "$(wc -l <"$ERR")" 1 0 "lines on stderr"
	check_grep "bpfprof list" "$ERR" "the sentence says where to look"
}
missing "topdown" stat -M topdown 1
missing "topdown" stat -M topdown -- true
missing "TopdownL2" stat --level 2 -- true
missing "cache" stat -M cache,tlb 1
missing "metrics of all" stat -M all 1
missing "<not supported> +cycles" stat -e cycles 1
missing "<not supported> +cycles" stat -e cycles,instructions -r 2 -- true
missing "<not supported> +branch-misses" stat -e branch-misses -p $$ 1
missing "cycles" stat --per-thread -e cycles 1
check_status 77 "as JSON" "$BPFPROF" stat -e cycles --json 1
check_is "$(said "$OUT" 'event cycles state' 'event cycles mean')" "not-supported none" "what JSON says of it"
finish

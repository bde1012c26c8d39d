#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What is looked at while it goes on is judged at its end, all recordings that followed each other together, and its tables
# take no more memory than they may; an agent, which has no end, says why it is not judged.
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need_prog many_stacks spin_abc

start "$PROGS/spin_abc" 100
check "nothing is lost: top" timeout 60 "$BPFPROF" top -b -p "$PID" -e cpu-clock --strict 5 500ms 4
check_no_grep "strict" "$ERR"
check_status 1 "small tables lose" timeout 60 "$BPFPROF" top -b -r 1 --page functions --strict 0.5 --max-stacks 16 500ms 6 -- \
	"$PROGS/many_stacks" 20 28
check_grep "tables renewed: [1-9]" "$OUT"
check_grep "^bpfprof: --strict 0.5: [0-9.]+ % of what was expected is lost or missing \\([0-9,]+ lost, " "$ERR"
check "... and without --strict that is no failure" timeout 60 "$BPFPROF" top -b -r 1 --page functions --max-stacks 16 500ms 3 -- \
	"$PROGS/many_stacks" 20 28

# Of all maps, as the kernel counts them; those that are not for stacks take the same.
map_bytes() { # ARGUMENTS...: sets bytes
	start_bpfprof "$@"
	sleep 0.5
	bytes=$(cat "/proc/$PID/fdinfo/"* 2>/dev/null | awk '/^memlock:/ { sum += $2 } END { printf "%.0f", sum }')
	stop "$PID" INT
	check_is "$STATUS" 0 "exit status of $*,"
}
commands=("top -b 500ms" "timeline -o $TMP/x.txt")
[ -z "${NIGHTLY:-}" ] || commands+=("agent --keep $TMP/keep" "sched -o $TMP/x.txt")
for command in "${commands[@]}"; do
	limit=--stack-mem
	case $command in timeline* | sched*) limit=--ring ;; esac
	# shellcheck disable=SC2086
	map_bytes $command
	usual=$bytes
	# shellcheck disable=SC2086
	map_bytes $command $limit 4
	check_between "$bytes" 1000000 $((usual - (10 << 20))) "bytes of maps of $command with $limit 4, usually $usual,"
	check_between "$bytes" 1000000 $((18 << 20)) "... with what else there is"
done

mistake 2 "--strict is a verdict at the end, and an agent has none: --on 'lost>0' keeps" agent --keep "$TMP/keep" --strict 1
mistake 2 "--strict" top -b --strict much 1 1
finish

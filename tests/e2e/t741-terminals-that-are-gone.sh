#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# timeout: 240
# The terminal goes away: what runs on it ends within seconds, by the signal, or, where that is ignored (nohup), by the error
# of what it writes next, and does not spin until then. Nothing is left; a file that was asked for is written. An agent goes
# on.
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3
need_prog spin_abc
infocmp xterm >/dev/null 2>&1 || skip "needs the terminal xterm"

start "$PROGS/spin_abc" 200
target=$PID
cd "$TMP" || exit 1
check "a recording" "$BPFPROF" oncpu -p "$target" -o "$TMP/x.bpfprof" 1

gone() { # IGNORES SEEN STATUS MAX_S COMMAND...
	local what="${*:5}, $1" took status cpu

	rm -f "$TMP"/*.folded
	check "$what" env PYTHONDONTWRITEBYTECODE=1 timeout 60 python3 "$ROOT/tests/e2e/terminal_gone.py" "$1" "$2" "$BPFPROF" "${@:5}"
	check_no_grep '^left:' "$OUT" "$what: nothing is left, and it ran until then"
	read -r took status cpu < <(awk '/^ended/ { print $2, $3, $4 }' "$OUT")
	check "$what: exit status is $status" grep -Eqx -- "$3" <(echo "$status")
	check_between "$took" 0 "$4" "$what: s until it ended"
	check_between "$cpu" 0 2.5 "$what: s of CPU time"
}
# What shows something every second finds out then; what is written at the end is told of at the end.
for ignores in hup nohup; do
	killed=-1
	[ $ignores = hup ] || killed=0
	gone $ignores 'CPU|%' $killed 3 top -p "$target"
	gone $ignores 'FUNCTION' $killed 3 report -i "$TMP/x.bpfprof"
	# The signal and the error of what it writes just then come together.
	[ $ignores = hup ] && killed='-1|1' || killed=1
	gone $ignores '%' "$killed" 4 top -b -p "$target" 0.5
	# SIGHUP ends a recording as Ctrl-C does: with its result.
	gone $ignores 'second|[0-9] s' 0 8 oncpu -p "$target" -o "$TMP/x.folded" 4
	check_folded "$TMP/x.folded"
	if [ -n "${NIGHTLY:-}" ]; then
		gone $ignores 'second|[0-9] s' 0 8 oncpu -p "$target" 4
		gone $ignores 'second|[0-9] s' 0 9 offcpu -o "$TMP/x.folded" 4
		check_folded "$TMP/x.folded"
	fi
	gone $ignores 'usecs' 0 4 runqlat 0.5
done

# An agent takes SIGHUP for a wish to read its rules again.
seconds=$(by_day 10 20)
run env PYTHONDONTWRITEBYTECODE=1 GOES_ON_S="$seconds" timeout 60 python3 "$ROOT/tests/e2e/terminal_gone.py" hup 'kept|windows|[a-z]' "$BPFPROF" agent --keep "$TMP/keep" -i 1s
check_grep '^left: it goes on' "$OUT" "agent: goes on"
check_between "$(sed -n 's/^left: it goes on, and has used \([0-9.]*\) s/\1/p' "$OUT")" 0 $((seconds * 2 / 5)) "agent: s of CPU time, in $seconds"
check_is "$(grep -c '^left: [^i]' "$OUT")" 0 "agent: killed then, it leaves nothing: programs, links and processes"
check_between "$(find "$TMP/keep" -name '*.window*' -o -name '2*' | wc -l)" $((seconds * 2 / 5)) 100 "agent: files in its folder"
check_is "$(find "$TMP" -name '.*x.folded*' | wc -l)" 0 "files without their final names"
finish

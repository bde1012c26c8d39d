#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Where the kernel shares CPUs between sessions, bpfprof's own priority counts within its session only. Beside busy loops in
# twenty others it still ends in time what it records, loses nothing, and ends what costs too much soon after it does.
# alone: it loads all CPUs, and judges times
# timeout: 180
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=stat.sh
. "${0%/*}/stat.sh"
# shellcheck source=waits.sh
. "${0%/*}/waits.sh"
need_bpf
need_prog spin_abc waits_switcher
[ -n "${NIGHTLY:-}" ] || skip "runs nightly (NIGHTLY=1)"
[ -z "${IN_GUEST:-}" ] || skip "one slow CPU for twenty loops is another test"
unset BPFPROF_MAX_OVERHEAD

# As somebody at a terminal starts it: in a session like the others, and with no niceness of its own.
took() { # ARGUMENTS...: sets s to the seconds of the recording, and after to those until its result was there
	run timeout 90 setsid -w nice -n $((-niceness)) "$BPFPROF" "$@" -v -o "$TMP/x.json"
	check_is "$STATUS" 0 "exit status of $*,"
	s=$(json "$TMP/x.json" profile duration_s)
	after=$(sed -n 's/.*finished \([0-9.]*\) ms after.*/\1/p' "$ERR")
}

for _ in {1..20}; do
	start setsid "$PROGS/spin_abc" 170
done
start setsid "$PROGS/waits_switcher" 170
switcher=$PID
for how in "oncpu -F 99" wall; do
	# shellcheck disable=SC2086
	took $how -d 2
	check_between "$s" 1.99 4 "s that $how recorded, of 2"
	check_near "$(ledger "$TMP/x.json" lost)" 0 0 "$how: lost"
	echo "# ... and its result came $after ms later"
done

took wakeup --max-overhead 0.05 -p "$switcher" -d 30
check_between "$s" 1.9 12 "s until wakeup, which costs too much, ended, of 30"
check_grep "warning: ended after .* more than --max-overhead 0.05 % for two seconds" "$ERR"
finish

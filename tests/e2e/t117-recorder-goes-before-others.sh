#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# While it records bpfprof goes before others (nice -10); the program that it started does not, and one that was told to
# be nice stays so.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need_prog spin_abc

nice_of() { # PID
	awk '{ sub(/.*\) /, ""); print $17 }' "/proc/$1/stat"
}

check_nice() { # DESC NICE EXPECTED
	local desc=$1 expected=$3 recorder

	nice -n $(($2 - niceness)) "$BPFPROF" oncpu -v --call-graph fp 60 -- "$PROGS/spin_abc" 60 >"$OUT" 2>"$ERR" &
	recorder=$!
	pids+=("$recorder")
	runs() { pgrep -P "$recorder" spin_abc >"$TMP/child"; }
	wait_until 20 runs || fail "$desc: the program did not start"
	hurries() { [ "$(nice_of "$recorder")" -eq "$expected" ]; }
	wait_until 5 hurries
	check_near "$(nice_of "$recorder")" "$expected" 0 "$desc: nice of the recorder"
	check_near "$(nice_of "$(cat "$TMP/child")")" "$((expected > 0 ? expected : 0))" 0 "$desc: and of its program"
	sleep "$records" # or there is nothing to be written
	kill -INT "$recorder"
	wait_for "$recorder"
	check_near "$STATUS" 0 0 "$desc: exit status"
}

records=${IN_GUEST:+3}
records=${records:-0.5}
check_nice "as it comes" 0 -10
check_nice "told to be nice" 5 5
finish

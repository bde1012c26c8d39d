#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A thread waits at one place of its program, its stack the same, and is remembered there: under another name, for something
# else, and as another program, it has counts of its own, also where no half of the kernel tells the waits apart.
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=waits.sh
. "${0%/*}/waits.sh"
need_bpf
need setarch
need_prog one_site
# Its addresses are the same after its exec.
cp "$PROGS/one_site" "$TMP/one-xfirst"
cp "$PROGS/one_site" "$TMP/one-xother"
waits=150

spent() { # NAME CALL: ms, by the program
	awk -v name="$1" -v call="$2" '$1 == name { for (i = 2; i < NF; i++) if ($i == call) sum += $(i + 1) }
		END { printf "%.0f\n", sum * 1000 }' "$TMP/did"
}
for half in "" -U; do
	# shellcheck disable=SC2086
	record offcpu --idle=show --by-class $half -- setarch -R "$TMP/one-xfirst" $waits "$TMP/one-xother"
	check_between "$(json "$TMP/x.json" samples notes verified)" $((waits * 3)) 1000000 "$half: remembered waits"
	for name in one-first one-xother one-second one-both; do
		queued=$(us_of "$TMP/x.folded" "^$name;.*\\[(woken|preempted)\\]")
		for call in nanosleep:sleep ppoll:poll; do
			class=${call#*:} us=$(spent "$name" "${call%:*}")
			found=$(us_of "$TMP/x.folded" "^$name;.*at_one_site.*\\[$class\\]|^$name;\\[$class\\].*at_one_site")
			# Its own measure has what runs before and after; and waiting for a CPU is a class of its own.
			check_between "$found" $(((us - queued) * 70 / 100)) $((us + 1000)) \
				"$half: us of $name in $class, of $us, $queued of them for a CPU"
		done
	done
done
finish

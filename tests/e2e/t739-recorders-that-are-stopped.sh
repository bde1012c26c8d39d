#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# timeout: 300
# Somebody stops the recorder in the middle of a recording, for 2 s by day and 10 at night, while the target goes on: there
# is a result, of all of that time; what was lost meanwhile is named, and the ledger closes. Who is killed while it is
# stopped leaves nothing. Readers that are stopped for so long hold nothing up: others read instead. By day each command once.
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=waits.sh
. "${0%/*}/waits.sh"
need_bpf
need python3
need_prog spin_abc waits_server waits_switcher nofp_libc

seconds=${NIGHTLY:+10}
seconds=${seconds:-2}
chmod 755 "$TMP"
start "$PROGS/spin_abc" 250
spins=$PID
start "$PROGS/waits_server" unix 1000000
waits=$PID

stopped() { # WHOM TARGET COMMAND...; sets $took, $used and $ended, in s and an exit status
	rm -f "$TMP"/x.*
	check "$3, $1 stopped" env PYTHONDONTWRITEBYTECODE=1 python3 "${0%/*}/stopped.py" "$1" 1 "$seconds" "$2" "$BPFPROF" "${@:3}"
	read -r took used < <(awk '/^took/ { print $2, $4 }' "$OUT")
	ended=$(awk '/^status/ { print $2 }' "$OUT")
	check_no_grep '^left:' "$OUT" "$3, $1 stopped: nothing is left"
	cp "$ERR" "$TMP/said"
	cp "$OUT" "$TMP/did"
}
# A recording lasts until it has ended, not until it should have; half a second before that its events were there.
check_lasted() { # JSON WHAT LEAST
	local lasted

	lasted=$(json "$1" "$2" duration_s)
	check_between "$lasted" "$(awk -v s="$3" 'BEGIN { print s - 0.5 }')" "$took" "s that the result is of"
}

stop_oncpu() {
	stopped recorder "$spins" oncpu -F 499 -p "$spins" -o "$TMP/x.folded" -o "$TMP/x.json" "$length"
	check_is "$ended" 0 "oncpu, $length s: exit status"
	check_ledger_closes "$TMP/x.json"
	check_lasted "$TMP/x.json" profile "$least"
	# Samples that were lost are made up for, and told: the sum is the target's CPU time.
	recorded=$(awk -v n="$(folded_sum "$TMP/x.folded")" 'BEGIN { printf "%.2f", n / 499 }')
	lasted=$(json "$TMP/x.json" profile duration_s)
	check_between "$recorded" "$(awk -v u="$used" -v t="$took" -v l="$lasted" 'BEGIN { print 0.9 * u - (t - l) }')" \
		"$(awk -v u="$used" 'BEGIN { print 1.05 * u + 0.1 }')" "oncpu, $length s: CPU time in s"
	check_pct "$TMP/x.folded" spin_a 50 8
}

stop_offcpu() {
	stopped recorder "$waits" offcpu -p "$waits" -o "$TMP/x.folded" -o "$TMP/x.json" "$length"
	check_is "$ended" 0 "offcpu, $length s: exit status"
	check_ledger_closes "$TMP/x.json"
	check_lasted "$TMP/x.json" profile "$least"
	# Each of its two threads waits whenever the other works, or rests: for what is no CPU time of theirs.
	lasted=$(json "$TMP/x.json" profile duration_s)
	check_between "$(us_of "$TMP/x.folded" '(^|;)(serve|rest|await_reply)(;| )')" \
		"$(awk -v l="$lasted" 'BEGIN { print 1000000 * l }')" "$(awk -v l="$lasted" 'BEGIN { print 2000000 * l + 10000 }')" \
		"offcpu, $length s: us of waits"
}

stop_runqlat() {
	stopped recorder "$waits" runqlat -p "$waits" -o "$TMP/x.json" "$length"
	check_is "$ended" 0 "runqlat, $length s: exit status"
	check_ledger_closes "$TMP/x.json"
	check_lasted "$TMP/x.json" runqlat "$least"
}

# Stopped within its time, and across the end of it.
for length in $((seconds + 2)) 2; do
	least=$((length > seconds + 1 ? length : seconds + 1))
	# By day one of them within its time, and the others across the end of it.
	which=$(by_day "$([ "$length" -gt 2 ] && echo oncpu || echo "offcpu runqlat")" "oncpu offcpu runqlat")
	for command in $which; do
		"stop_$command"
	done
done

# What nobody fetches meanwhile is overwritten, and that is named.
start "$PROGS/waits_switcher" 250
stopped recorder "$PID" timeline --ring 1M -p "$PID" -o "$TMP/x.json" $((seconds + 2))
check_is "$ended" 0 "timeline: exit status"
check_ledger_closes "$TMP/x.json"
check_between "$(ledger "$TMP/x.json" lost)" 1000 1000000000 "timeline: events that were lost"
check_grep 'events lost: overwritten' "$TMP/said" "timeline: is told"
stop "$PID"

# Stopped, and killed after that.
for command in $(by_day offcpu "oncpu offcpu runqlat"); do
	stopped killed "$waits" "$command" -p "$waits" -o "$TMP/x.json" 60
	check_is "$ended" -9 "$command, killed: exit status"
	check_grep ' had [1-9]' "$TMP/did" "$command, killed: it had programs and links"
	check_is "$(find "$TMP" -name '*x.json*' | wc -l)" 0 "$command, killed: files"
done

# Its readers are stopped, and there is something to read.
for command in $(by_day oncpu "oncpu offcpu"); do
	cp "$PROGS/nofp_libc" "$TMP/$command-victim"
	start bash -c 'sleep 2; exec "$0" 60' "$TMP/$command-victim"
	victim=$PID
	stopped readers "$victim" "$command" --no-symbol-cache -o "$TMP/x.folded" -o "$TMP/x.json" $((seconds + 2))
	check_is "$ended" 0 "$command, readers: exit status"
	check_grep 'stopped [1-9]' "$TMP/did" "$command, readers: some were stopped"
	check_ledger_closes "$TMP/x.json"
	check_lasted "$TMP/x.json" profile $((seconds + 2))
	check_between "$took" $((seconds + 2)) $((seconds + 12)) "$command, readers: s in all"
	check_grep "^$command-vict[im]*;.*;main;" "$TMP/x.folded" "$command, readers: what came meanwhile has whole stacks"
	stop "$victim"
done
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# alone: it needs the CPUs for itself
# timeout: 600
# Of servers and a client as people write them with Tokio, under load: contexts are as their stacks say, the summary adds up
# to workers x wall, no stack is left out, and of servers at least 9 of 10 are verified, over three starts (by day two). Of a
# server, as many as the kernel counts as preempted need not be. Of the client see below. By day without mini-redis, which has
# half as many packages again to build.
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=waits.sh
. "${0%/*}/waits.sh"
need_bpf
need python3 cargo wrk
[ -z "${IN_GUEST:-}" ] || skip "guests have no cargo"

workers=2

serve() { # PROGRAM; sets $server and $port
	start "$folder/$1" "$workers"
	server=$PID
	wait_until 10 test -s "$LOG"
	port=$(cat "$LOG")
}

# What is recorded, and who keeps it busy; both live until they are stopped.
axum_echo() {
	serve axum_echo
	target=$server
	start wrk -t1 -c16 -d300s "http://127.0.0.1:$port/hello"
}

mini_redis() {
	serve mini_redis
	target=$server
	start redis-benchmark -q -p "$port" -c 16 -n 1000000000 -t set
}

reqwest_client() {
	serve axum_echo
	start "$folder/reqwest_client" "$workers" 300 16 "http://127.0.0.1:$port/hello"
	target=$PID
}

starts=2 names=(axum_echo reqwest_client)
if [ -n "${NIGHTLY:-}" ]; then
	need redis-benchmark
	starts=3 names+=(mini_redis)
fi
# Of all waits, at least so many in 100 are verified, over all starts.
declare -A least=([axum_echo]=90 [mini_redis]=90) own=([axum_echo]=90 [mini_redis]=90)
# The client shares two CPUs with its server: where they are slow, half of its waits are preemptions, at any instruction, and
# 90 of 100 of its own are verified. Where they are fast it waits 1,300 times a second, and half of that is its two workers
# fighting for the lock of one malloc arena, below some 40 callers: more than the eight places a thread remembers, and
# several callers have the same stack pointer. These are walked.
least[reqwest_client]=35 own[reqwest_client]=30

# Of the switches of a process, all so far and those in which it was preempted.
switches() { # PID
	cat /proc/"$1"/task/*/status 2>/dev/null |
		awk '/^(non)?voluntary_ctxt_switches/ { all += $2 } /^nonvol/ { taken += $2 } END { print all + 0, taken + 0 }'
}

# Of so many waits that many may have been preempted, as switches() was before and is now.
preempted() { # WAITS ALL_BEFORE TAKEN_BEFORE ALL TAKEN
	awk -v n="$1" -v all=$(($4 - $2)) -v taken=$(($5 - $3)) 'BEGIN { print (all > 0 ? int(n * taken / all) : 0) }'
}

# What is verified of waits that need not all be.
pct_of_most() { # VERIFIED ALL MAY_NOT_BE
	awk -v v="$1" -v all=$(($2 - $3)) 'BEGIN { print (v >= all ? 100 : 100 * v / all) }'
}

taken() { # JSON LEAST DESC [MAY_NOT_BE]; sets $verified and $walked
	verified=$(ledger "$1" verified)
	walked=$(ledger "$1" walked)
	echo "# figure: $3: $verified of $((verified + walked)) stacks verified"
	check_between "$((verified + walked))" 100 100000000 "$3: stacks"
	check_between "$(pct_of_most "$verified" $((verified + walked)) "${4:-0}")" "$2" 100 "$3: % of stacks verified"
	check_near "$(ledger "$1" not-sampled)" 0 0 "$3: stacks not taken"
}

for variant in $(by_day servers "serversall serversfat"); do
	folder=$("$ROOT/tests/progs/tokio/build.sh" "$variant" "$PROGS/tokio" 2>"$ERR")
	status=$?
	[ $status -ne 77 ] || skip "$(cat "$ERR")"
	[ $status -eq 0 ] || { fail "$variant are built" && show && continue; }
	for name in "${names[@]}"; do
		all=0 all_verified=0 all_preempted=0
		for ((start = 1; start <= starts; start++)); do
			$name
			sleep 0.5
			before=$(switches "$target")
			check "$name, start $start" "$BPFPROF" offcpu --runtime=tokio -p "$target" \
				-o "$TMP/$name.$start.json" -o "$TMP/$name.bpfprof" 2
			nr=$(($(ledger "$TMP/$name.$start.json" verified) + $(ledger "$TMP/$name.$start.json" walked)))
			preempted=0
			# shellcheck disable=SC2046,SC2086 # two numbers each
			[ "$name" = reqwest_client ] || preempted=$(preempted $nr $before $(switches "$target"))
			taken "$TMP/$name.$start.json" $((least[$name] - 10)) "$name, start $start" "$preempted"
			all_preempted=$((all_preempted + preempted))
			all_verified=$((all_verified + verified))
			all=$((all + verified + walked))
			check "$name, start $start: waits of its own" "$BPFPROF" offcpu --state=S -p "$target" -o "$TMP/own.json" 1
			taken "$TMP/own.json" "${own[$name]}" "$name, start $start, waits of its own"
			if [ $start = $starts ]; then
				check "$name: audit" "$BPFPROF" offcpu --audit -p "$target" -o "$TMP/audit.json" 1
				check_near "$(ledger "$TMP/audit.json" audit-wrong)" 0 0 "$name: stacks that the audit found wrong"
				check "$name: wall" "$BPFPROF" wall --runtime=tokio -p "$target" -o "$TMP/wall.json" 2
				"$BPFPROF" report -f --frames=all --idle=show "$TMP/$name.bpfprof" >"$TMP/folded"
				check_folded "$TMP/folded"
				drive tokio_servers.py "$variant, $name" $workers "$TMP/folded" "$TMP/wall.json"
			fi
			check "$name, start $start: lives" kill -0 "$target"
			for pid in "${pids[@]}"; do
				stop "$pid" KILL
			done
		done
		echo "# figure: $name: $all_verified of $all verified, $all_preempted preempted"
		check_between "$(pct_of_most $all_verified $all $all_preempted)" "${least[$name]}" 100 "$name: % of stacks verified in all"
	done
done
finish

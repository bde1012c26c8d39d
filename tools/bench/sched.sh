# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154
#
# The part of tools/bench.sh that is about the scheduler: what a switch costs under the profilers of waits, by the kernel's
# run-time statistics (tools/bench/stats.c turns them on while a load runs, and only then), what is left of a load's
# throughput without them, and what many threads cost in memory. Rounds take turns; figures are medians.
#
# By the environment:
#	PEERS=DIR		a root with offcputime-libbpf, runqlat-libbpf and bpftrace, measured beside
#	PIPE_LOOPS=300000	length of the load
#	CROWD=100000 CHURN=10000 CROWD_SECONDS=60

pipe_loops=${PIPE_LOOPS:-300000}
# As many as the kernel has numbers for, less those of others.
most=$(($(cat /proc/sys/kernel/pid_max) - $(cut -d ' ' -f 4 /proc/loadavg | cut -d / -f 2) - 2000))
crowd_threads=${CROWD:-$((most < 100000 ? most : 100000))}
churn_rate=${CHURN:-10000}
crowd_seconds=${CROWD_SECONDS:-60}
pipe_load=(taskset -c "$cpu" perf bench sched pipe -l "$pipe_loops")
switch_load=(taskset -c "$cpu" stress-ng --switch 1 --timeout 2 --temp-path "$tmp")
profilers=(empty thinned offcpu no-stacks runqlat)
[ -z "${PEERS:-}" ] || profilers+=(offcputime-libbpf bpftrace runqlat-libbpf)

# Time off the CPU by the stacks that a thread left it with.
one_liner='tracepoint:sched:sched_switch {
	if (args.prev_pid) {
		@at[args.prev_pid] = nsecs; @kernel[args.prev_pid] = kstack; @user[args.prev_pid] = ustack;
	}
	if (@at[args.next_pid]) {
		@off[@kernel[args.next_pid], @user[args.next_pid]] = sum(nsecs - @at[args.next_pid]);
		delete(@at, args.next_pid);
	}
}'

# Starts it, and waits until it is at work; sets $pid. False, with a word, if it does not get there.
begin() { # PROFILER
	local command

	case $1 in
	empty) command=("$build/tools/bench/reference" --switch) ;; # has no cost but that of measuring
	thinned) command=(./bpfprof offcpu -f) ;;		     # to its budget
	offcpu) command=(./bpfprof offcpu --max-overhead 0 -f) ;;
	no-stacks) command=(./bpfprof offcpu --max-overhead 0 --no-stacks -f) ;;
	runqlat) command=(./bpfprof runqlat) ;;
	bpftrace) command=(chroot "$PEERS" bpftrace -e "$one_liner") ;;
	*) command=(chroot "$PEERS" "$1") ;;
	esac
	start "${command[@]}"
	for _ in $(seq 150); do
		sleep 0.1
		! grep -qs '^prog_id' "/proc/$pid/fdinfo/"* || break
	done
	sleep 1
	! grep -qs '^prog_id' "/proc/$pid/fdinfo/"* || return 0
	finish "$pid"
	echo "bench: $1 does not run" >&2
	failed=1
	return 1
}

# Lines "ROUND PROFILER PROGRAM RUNS NS", into $tmp/costs.
run_costs() { # LOAD...
	local i profiler

	: >"$tmp/costs"
	for ((i = 0; i < rounds; i++)); do
		for profiler in "${profilers[@]}"; do
			begin "$profiler" || continue
			"$build/tools/bench/stats" "$pid" "$@" 2>"$tmp/err" >"$tmp/round" || { cat "$tmp/err" >&2; failed=1; }
			finish "$pid"
			sed "s/^/$i $profiler /" "$tmp/round" >>"$tmp/costs"
		done
	done
}

# ns per run of a program; of all of them, by the runs of that which runs most.
cost() { # PROFILER [PROGRAM]
	awk -v profiler="$1" -v program="${2:-}" '
		$2 == profiler && (program == "" || $3 == program) {
			ns[$1] += $5
			if ($4 > runs[$1])
				runs[$1] = $4
		}
		END { for (i in ns) printf "%.0f\n", ns[i] / runs[i] }' "$tmp/costs" >"$tmp/cost"
	[ -s "$tmp/cost" ] || { echo none; return; }
	median <"$tmp/cost"
}

# The programs of a profiler that ran more than now and then.
programs() { # PROFILER
	awk -v profiler="$1" '
		$2 == profiler {
			runs[$3] += $4
			if (runs[$3] > most)
				most = runs[$3]
		}
		END { for (p in runs) if (runs[p] > most / 100) print p }' "$tmp/costs" | sort
}

print_programs() { # PROFILER
	local program

	for program in $(programs "$1"); do
		printf '  %s, %s: %s ns\n' "$1" "$program" "$(cost "$1" "$program")"
	done
}

costs_of() { # NAME LOAD...
	local name=$1 profiler

	shift
	run_costs "$@"
	verdict "$name: offcpu, ns per switch (aim: 300)" "$(cost offcpu)" 400 ns
	print_programs offcpu
	verdict "$name: offcpu --no-stacks, ns per switch" "$(cost no-stacks)" 130 ns
	verdict "$name: runqlat, sched_switch" "$(cost runqlat sched_switch)" 100 ns
	verdict "$name: runqlat, sched_wakeup" "$(cost runqlat sched_wakeup)" 60 ns
	printf '  an empty program there: %s ns; offcpu thinned to its budget of 1 %%: %s ns\n' "$(cost empty)" "$(cost thinned)"
	for profiler in "${profilers[@]:5}"; do
		print_programs "$profiler"
	done
}

pipe_ops() {
	"${pipe_load[@]}" 2>/dev/null | awk '$2 == "ops/sec" { print $1 }'
}

# What the load loses under each, without the statistics, which cost time of their own.
throughput() {
	local i profiler

	rm -f "$tmp"/ops.*
	for ((i = 0; i < rounds; i++)); do
		pipe_ops >>"$tmp/ops.none"
		for profiler in "${profilers[@]}"; do
			begin "$profiler" || continue
			pipe_ops >>"$tmp/ops.$profiler"
			finish "$pid"
		done
	done
	verdict "perf bench sched pipe: throughput lost under offcpu" "$(loss thinned)" 12 %
	printf '  without anything %.0f operations/s\n' "$(median <"$tmp/ops.none")"
	for profiler in "${profilers[@]:1}"; do
		printf '  under %s %s %%\n' "$profiler" "$(loss "$profiler")"
	done
}

loss() { # PROFILER
	[ -s "$tmp/ops.$1" ] || { echo none; return; }
	awk -v all="$(median <"$tmp/ops.none")" -v left="$(median <"$tmp/ops.$1")" \
		'BEGIN { printf "%.1f\n", 100 * (all - left) / all }'
}

# Once a second, while bpfprof $pid records a program: "SECONDS PHASE RSS_KB STATES THREADS", into $tmp/samples. Seconds are
# those of the phase: 0 = the load comes up, 1 = it is there, 2 = it is gone.
sample_memory() {
	local phase=0 since=$SECONDS now rss states

	: >"$tmp/samples"
	until pgrep -P "$pid" >/dev/null; do
		kill -0 "$pid" 2>/dev/null || return 0
		sleep 0.1
	done
	while sleep 1; do
		now=0
		[ ! -s "$tmp/did" ] || now=1
		! grep -q '^over' "$tmp/did" || now=2
		[ "$now" = "$phase" ] || { phase=$now; since=$SECONDS; }
		rss=$(awk '/^VmRSS/ { print $2 }' "/proc/$pid/status" 2>/dev/null) || return 0
		states=$("$build/tests/e2e/storages" "$pid" threads 2>/dev/null | awk '{ print $2 }' | paste -sd ' ')
		# When its program is gone, it is about to write, which takes memory of its own.
		pgrep -P "$pid" >/dev/null || return 0
		echo "$((SECONDS - since)) $phase $rss $states" >>"$tmp/samples"
	done
}

# Growth of bpfprof, in percent, from a sixth of the load's time (10 s of a minute) to the last sample.
rss_growth() {
	awk -v warm=$((crowd_seconds / 6)) '!from && $2 == 1 && $1 >= warm { from = $3 } { last = $3 }
		END { if (from) printf "%.1f\n", 100 * (last - from) / from; else print "none" }' "$tmp/samples"
}

# By how many percent there are more states than threads: the most, of the load's time, or when it is over.
surplus() { # PHASE
	awk -v phase="$1" '
		$2 == phase && $5 {
			more = 100 * ($4 - $5) / $5
			if (phase == 2 || !n++ || more > most)
				most = more
			seen = 1
		}
		END { if (seen) printf "%.1f\n", most; else print "none" }' "$tmp/samples"
}

# The load is over for some seconds before the recording is: states that stay behind show then. While it runs, there are
# also those of threads that the kernel has not freed yet, some ms after their end.
many_threads() { # NAME PROGRAM ARGS...
	local name=$1 recorder

	shift
	[ "$name" = crowd ] || echo begun >"$tmp/did"
	[ "$name" != crowd ] || : >"$tmp/did"
	# shellcheck disable=SC2016
	did=$tmp/did start ./bpfprof offcpu -o "$tmp/crowd.json" -- bash -c '"$@" >>"$did"; echo over >>"$did"; sleep 5' load "$@"
	recorder=$pid
	sample_memory
	wait "$recorder" || { echo "bench: bpfprof failed with $name" >&2; failed=1; return 0; }
	printf '%s, %s asked for: %s\n' "$name" "$2" "$(grep -v '^begun\|^truth\|^over' "$tmp/did" | paste -sd ' ')"
	verdict "$name: growth of bpfprof (RSS)" "$(rss_growth)" 5 %
	printf '  %s kB at the end\n' "$(awk '{ last = $3 } END { print last }' "$tmp/samples")"
	verdict "$name: waits lost" "$(jq .samples.lost "$tmp/crowd.json")" 0 ""
	jq -r '"  of " + (.samples.seen | tostring) + "; " + ([.samples.notes | to_entries[] | select(.value > 0) |
		.key + " " + (.value | tostring)] | join(", "))' "$tmp/crowd.json"
	[ "$name" != crowd ] || verdict "$name: states beyond threads, at most" "$(surplus 1)" 1 %
	[ "$name" = crowd ] || printf '  states beyond threads, at most: %s %%\n' "$(surplus 1)"
	verdict "$name: states beyond threads, when it is over" "$(surplus 2)" 1 %
}

scheduler() {
	if command -v perf >/dev/null; then
		costs_of "perf bench sched pipe" "${pipe_load[@]}"
		throughput
	else
		echo "perf is absent: no load of perf bench sched pipe"
	fi
	if command -v stress-ng >/dev/null; then
		costs_of "stress-ng --switch" "${switch_load[@]}"
	else
		echo "stress-ng is absent: no load of stress-ng --switch"
	fi
	many_threads crowd "$build/tests/progs/waits_crowd" "$crowd_threads" "$crowd_seconds"
	many_threads churn "$build/tests/progs/waits_churn" "$churn_rate" "$crowd_seconds"
}

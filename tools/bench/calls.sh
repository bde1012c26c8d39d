# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
# shellcheck disable=SC2154
#
# The part of tools/bench.sh that is about probes at functions: what a call takes longer while it is counted, timed and asked
# for its stack (tools/bench/called.c measures that in the second half of its time), what allocations and system calls take
# longer, what alloc --growth costs a program that touches memory, and what lock does for the holder.
# Rounds take turns; figures are medians.
#
# By the environment:
#	PEERS=DIR	a root with bpftrace, funclatency-libbpf and memleak-libbpf, and with /proc and /tmp; without, there are no ratios
#	CALL_SECONDS=8	how long each function is called

call_seconds=${CALL_SECONDS:-8}
cp "$build/tools/bench/called" "$build/tests/progs/allocates" "$tmp" # where peers see them, too
chmod 755 "$tmp"

# One line of bpftrace for each question; %s is the function.
declare -A one_liners=(
	[count]='uprobe:%s { @[pid] = count(); }'
	[latency]='uprobe:%s { @at[tid] = nsecs; } uretprobe:%s /@at[tid]/ { @ = hist(nsecs - @at[tid]); delete(@at, tid); }'
	[stacks]='uprobe:%s { @[ustack] = count(); }'
)
declare -A options=([count]='' [latency]=-l [stacks]=-g)

# ns of a call, in a process that PROFILER looks at.
call_ns() { # PROFILER QUESTION FUNCTION
	local profiler=none target probed=$3

	[ "$probed" != deep ] || probed=plain
	"$tmp/called" "$3" "$call_seconds" >"$tmp/took" &
	target=$!
	started+=("$target")
	case $1 in
	bpfprof)
		# shellcheck disable=SC2086
		start ./bpfprof uprobe --force ${options[$2]} -p "$target" "$tmp/called:$probed"
		profiler=$pid
		;;
	bpftrace)
		probed=$tmp/called:$probed
		# shellcheck disable=SC2059
		start chroot "$PEERS" bpftrace -p "$target" -e "${one_liners[$2]//%s/$probed}"
		profiler=$pid
		;;
	funclatency)
		start chroot "$PEERS" funclatency-libbpf -p "$target" ":$probed"
		profiler=$pid
		;;
	esac
	wait "$target"
	[ "$profiler" = none ] || finish "$profiler"
	cat "$tmp/took"
}

# What a call takes longer than alone, by who looks at it: bpfprof and the peer, one line a round.
more_ns() { # QUESTION FUNCTION [PEER]
	local alone ours theirs=

	for _ in $(seq "$rounds"); do
		alone=$(call_ns none "$1" "$2")
		ours=$(call_ns bpfprof "$1" "$2")
		[ -z "${PEERS:-}" ] || theirs=$(call_ns "${3:-bpftrace}" "$1" "$2")
		awk -v a="$alone" -v o="$ours" -v t="${theirs:-$alone}" 'BEGIN { print o - a, t - a }'
	done
}

# Of two columns, the ratio of the first to the second; "none" where the second was not at work.
ratio() { # FILE COLUMN COLUMN
	local rows

	rows=$(awk -v a="$2" -v b="$3" '$b > 50 { printf "%.3f\n", $a / $b }' "$1")
	[ -n "$rows" ] || { echo none; return; }
	median <<<"$rows"
}

against() { # NAME QUESTION FUNCTION LIMIT [PEER]
	local peer=${5:-bpftrace}

	more_ns "$2" "$3" "$peer" >"$tmp/more"
	[ -z "${PEERS:-}" ] || verdict "$1: ratio to $peer" "$(ratio "$tmp/more" 1 2)" "$4" ""
	printf '  bpfprof %s ns, %s %s ns a call (medians of %d rounds)\n' "$(awk '{ print $1 }' "$tmp/more" | median)" \
		"$peer" "$(awk '{ print $2 }' "$tmp/more" | median)" "$rounds"
}

stack_of_call() {
	more_ns count deep | awk '{ print $1 }' | median >"$tmp/counted"
	more_ns stacks deep | awk '{ print $1 }' | median >"$tmp/walked"
	verdict "stack of 20 frames at a probe, beyond a counted call" \
		"$(awk -v c="$(cat "$tmp/counted")" '{ printf "%.2f\n", ($1 - c) / 1000 }' "$tmp/walked")" 1.2 us
}

# ns of malloc() and free(), by how many a second there are.
malloc_ns() { # CMD...
	"$@" 2>/dev/null | awk '/^[0-9]+$/ { print 1e9 / $1 }'
}

# The same of a process that CMD PID looks at. It has the C library that CMD finds.
malloc_ns_under() { # CMD...
	local target

	chroot "$PEERS" "$tmp/allocates" 0 "$call_seconds" >"$tmp/took" &
	target=$!
	started+=("$target")
	start "$@" "$target"
	wait "$target"
	finish "$pid"
	malloc_ns cat "$tmp/took"
}

allocations() {
	local alone ours empty memleak target=$tmp/allocates

	for _ in $(seq "$rounds"); do
		alone=$(malloc_ns "$target" 0 "$call_seconds")
		ours=$(malloc_ns ./bpfprof alloc -o "$tmp/x.bpfprof" -- "$target" 0 "$call_seconds")
		empty=$alone memleak=$alone
		if [ -n "${PEERS:-}" ]; then
			empty=$(malloc_ns chroot "$PEERS" bpftrace -c "$target 0 $call_seconds" -e 'uprobe:libc:malloc { }')
			memleak=$(malloc_ns_under chroot "$PEERS" memleak-libbpf -p)
		fi
		awk -v a="$alone" -v o="$ours" -v e="$empty" -v m="$memleak" 'BEGIN { print o - a, e - a, m - a }'
	done >"$tmp/allocs"
	if [ -n "${PEERS:-}" ]; then
		verdict "alloc: malloc() and free(), to an empty probe of bpftrace's" \
			"$(ratio "$tmp/allocs" 1 2)" 1.3 ""
		verdict "alloc: malloc() and free(), to memleak" "$(ratio "$tmp/allocs" 1 3)" 0.05 ""
	fi
	printf '  bpfprof %s ns, empty probe %s ns, memleak %s ns more (medians of %d rounds)\n' \
		"$(awk '{ print $1 }' "$tmp/allocs" | median)" "$(awk '{ print $2 }' "$tmp/allocs" | median)" \
		"$(awk '{ print $3 }' "$tmp/allocs" | median)" "$rounds"
}

# Of goes of tools/bench/touches.c, and the times FROM and TO of stretches in which --growth was at work, one a line, and what its
# programs took then, ns: the CPU time of a go in each against that in the seconds around it, by the lower quarters of both,
# which what else runs disturbs least; and what the programs took of all CPU time of the target, in %.
grown() { # GOES STRETCHES
	python3 -c 'import sys
goes = [tuple(map(int, line.split())) for line in open(sys.argv[1])]
at = [tuple(map(int, line.split())) for line in open(sys.argv[2])]
def took(since, until): return sorted(t for end, t in goes if since < end - t and end < until)
def quarter(v): return v[len(v) // 4]
for i, (since, until, ns) in enumerate(at):
    during = took(since, until)
    alone = took(since - 3500000000, since - 1500000000) + took(until + 500000000, until + 2500000000)
    print(100 * (quarter(during) / quarter(alone) - 1), 100 * ns / sum(during), quarter(alone) / 1024)' "$1" "$2"
}

# A program that does nothing but touch memory, 1,024 pages in a go, while --growth comes and goes.
growth() {
	local target nr=$((2 * rounds)) from ns

	: >"$tmp/stretches"
	taskset -c "$cpu" "$build/tools/bench/touches" $((nr * 6 + 3)) >"$tmp/goes" &
	target=$!
	started+=("$target")
	for _ in $(seq "$nr"); do
		sleep 2.5
		start ./bpfprof alloc --growth -p "$target"
		sleep 1
		from=$(date +%s%N)
		"$build/tools/bench/stats" "$pid" sleep 2 >"$tmp/run"
		ns=$(awk '{ ns += $3 } END { print ns + 0 }' "$tmp/run")
		echo "$from $(date +%s%N) $ns" >>"$tmp/stretches"
		finish "$pid"
	done
	wait "$target"
	grown "$tmp/goes" "$tmp/stretches" >"$tmp/grown"
	verdict "alloc --growth: CPU time of a program that only touches memory" \
		"$(awk '{ printf "%.2f\n", $1 }' "$tmp/grown" | median)" 1.0 %
	printf '  from %s to %s in %d turns; of it %s in our program, by the kernel; a touched page takes %s ns\n' \
		"$(sort -g "$tmp/grown" | awk 'NR == 1 { printf "%.2f %%", $1 }')" \
		"$(sort -g "$tmp/grown" | awk 'END { printf "%.2f %%", $1 }')" "$nr" \
		"$(awk '{ printf "%.2f\n", $2 }' "$tmp/grown" | median) %" "$(awk '{ printf "%.0f\n", $3 }' "$tmp/grown" | median)"
}

# ns of a umask(), by itself.
umask_ns() { # CMD...
	"$@" 2>/dev/null | awk '$1 == "umask" { print $2 }'
}

# The same while CMD is at work.
umask_ns_beside() { # CMD...
	start "$@"
	sleep 1.5
	umask_ns "$build/tests/progs/syscalls_known" others 1000
	finish "$pid"
}

# What a call takes longer in the process that is looked at, in another one, and with two programs that do nothing.
system_calls() {
	local alone its others empty nothing='{ if (pid == 1) { @ = 1; } }'

	for _ in $(seq "$rounds"); do
		alone=$(umask_ns "$build/tests/progs/syscalls_known" others 500)
		its=$(umask_ns ./bpfprof syscalls -o "$tmp/x.csv" -- "$build/tests/progs/syscalls_known" others 2000)
		start sleep 100
		others=$(umask_ns_beside ./bpfprof syscalls -d 10 -p "$pid")
		empty=$alone
		[ -z "${PEERS:-}" ] || empty=$(umask_ns_beside chroot "$PEERS" bpftrace \
			-e "rawtracepoint:sys_enter $nothing rawtracepoint:sys_exit $nothing")
		echo "$((its - empty)) $((its - alone)) $((others - alone)) $((empty - alone))"
	done >"$tmp/calls"
	[ -z "${PEERS:-}" ] || verdict "syscalls: a call of the process that is looked at, beyond programs that do nothing" \
		"$(awk '{ print $1 }' "$tmp/calls" | median)" 200 ns
	printf '  with the tracepoints %s ns, a call of another process %s ns, programs that do nothing %s ns\n' \
		"$(awk '{ print $2 }' "$tmp/calls" | median)" "$(awk '{ print $3 }' "$tmp/calls" | median)" \
		"$(awk '{ print $4 }' "$tmp/calls" | median)"
}

# ns of BPF programs for a wait of a program in which nearly each switch is one for a lock: "switches wake-ups".
wait_ns() { # PID COMMAND...
	local target=$1

	shift
	start ./bpfprof "$@" -p "$target"
	sleep 2
	"$build/tools/bench/stats" "$pid" sleep 1 >"$tmp/wait"
	finish "$pid"
	awk '$2 { ns[$1] = $3 / $2 } END { print ns["sched_switch"] + 0, ns["sched_waking"] + 0 }' "$tmp/wait"
}

# What lock does more than offcpu at a wait for a mutex that another thread holds, which waits too. Each alone, in turn: of two
# at the same time the first one brings into the caches what the other one reads. Of offcpu nothing may be left out, as of lock
# nothing is: what holders cost would have in it what is saved by that.
holders() {
	local target without with

	start taskset -c "$cpu" "$build/tests/progs/locks_held" relay
	target=$pid
	for _ in $(seq "$((2 * rounds))"); do
		without=$(wait_ns "$target" offcpu --max-overhead 0)
		with=$(wait_ns "$target" lock)
		echo "$without $with"
	done | awk '$1 && $3 { print $3 + $4 - $1, $1, $3, $4 }' >"$tmp/holders"
	finish "$target"
	verdict "lock: a contended wait, beyond what offcpu takes for it" \
		"$(awk '{ printf "%.0f\n", $1 }' "$tmp/holders" | median)" 250 ns
	printf '  offcpu %s ns, lock %s ns a switch, and %s ns a wake-up (medians of %d rounds)\n' \
		"$(awk '{ print $2 }' "$tmp/holders" | median)" "$(awk '{ print $3 }' "$tmp/holders" | median)" \
		"$(awk '{ print $4 }' "$tmp/holders" | median)" "$(wc -l <"$tmp/holders")"
}

calls() {
	against "entry of a function with a landing pad" count padded 0.125
	against "entry of another function" count plain 1.0
	against "latency of a function with a landing pad" latency padded 0.2
	[ -z "${PEERS:-}" ] || against "latency of a function with a landing pad" latency padded 0.2 funclatency
	stack_of_call
	allocations
	growth
	system_calls
	holders
}

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Figures of bpfprof, measured here and now. Costs of BPF programs come from the kernel's run-time statistics, side by side
# with the yardstick (tools/bench/reference.bpf.c) in the same run: two profilers on one CPU, the same target, medians of
# interleaved rounds. What counts is the ratio; nanoseconds depend on the machine.
#
#	sudo make bench		or: tools/bench.sh [ROUNDS]
set -eu
cd "${BASH_SOURCE[0]%/*}/.."
rounds=${1:-5}
build=build
cpu=$(($(nproc) - 1))
tmp=$(mktemp -d)
failed=0
started=()

cleanup() {
	for pid in "${started[@]}"; do
		kill "$pid" 2>/dev/null || :
	done
	rm -rf "$tmp"
}
trap cleanup EXIT
[ "$(id -u)" -eq 0 ] || { echo "bench: needs root" >&2; exit 77; }

start() { # CMD...; sets $pid
	"$@" >/dev/null 2>&1 &
	pid=$!
	started+=("$pid")
}

finish() { # PID
	kill "$1" 2>/dev/null || :
	wait "$1" 2>/dev/null || :
}

median() { sort -n | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }

verdict() { # NAME VALUE LIMIT UNIT
	local word=ok

	awk -v v="$2" -v l="$3" 'BEGIN { exit !(v <= l) }' || { word=MISSED; failed=1; }
	printf '%-62s %8s %-3s (at most %s) %s\n' "$1" "$2" "$4" "$3" "$word"
}

# One sample with a stack of frame pointers, against two bpf_get_stackid and a hash map.
sample_cost() { # DEPTH LIMIT
	local target

	start taskset -c "$cpu" "$build/tests/progs/deep_fp" "$1" 1000
	target=$pid
	: >"$tmp/cost"
	for _ in $(seq "$rounds"); do
		start ./bpfprof oncpu -C "$cpu" -e cpu-clock -F 999 -f 3
		sleep 0.5
		"$build/tools/bench/reference" "$cpu" 997 2 >"$tmp/round"
		wait "$pid"
		awk '{ ns[$1] = $3 } END { print ns["oncpu_sample"], ns["ref_sample"], ns["oncpu_sample"] / ns["ref_sample"] }' \
			"$tmp/round" >>"$tmp/cost"
	done
	finish "$target"
	verdict "sample of $1 frames: ratio to the yardstick" \
		"$(awk '{ print $3 }' "$tmp/cost" | median)" "$2" ""
	printf '  bpfprof %s ns, yardstick %s ns (medians of %d rounds)\n' "$(awk '{ print $1 }' "$tmp/cost" | median)" \
		"$(awk '{ print $2 }' "$tmp/cost" | median)" "$rounds"
}

first_sample() {
	local target

	start "$build/tests/progs/spin_abc" 1000
	target=$pid
	for _ in $(seq "$rounds"); do
		./bpfprof oncpu -p "$target" --json 0.5 | jq .cost.first_sample_s
	done | awk '{ print $1 * 1000 }' | median >"$tmp/first"
	finish "$target"
	verdict "start of bpfprof to its first sample, -p at 99 Hz" "$(cat "$tmp/first")" 150 ms
}

# The last line of -v tells how long it took from the end of sampling to the end of the output.
finish_time() {
	local target

	tools/bench/bigbin.sh "$tmp/bigbin"
	start "$tmp/bigbin" 1000
	target=$pid
	sleep 0.5
	for _ in $(seq "$rounds"); do
		./bpfprof oncpu -v -p "$target" -e cpu-clock -F 4999 -f -o "$tmp/x.html" -o "$tmp/x.bpfprof" 2 2>"$tmp/err" >"$tmp/folded"
		sed -n 's/.*finished \([0-9.]*\) ms after.*/\1/p' "$tmp/err"
	done | median >"$tmp/finish"
	finish "$target"
	printf '%s distinct stacks of a binary of %s MB, folded + html + bpfprof\n' "$(wc -l <"$tmp/folded")" \
		"$(($(stat -c %s "$tmp/bigbin") >> 20))"
	verdict "  end of sampling to finished output" "$(cat "$tmp/finish")" 300 ms
}

memory() {
	local targets=()

	for _ in $(seq 100); do
		start python3 -c 'while True: sum(i * i for i in range(1000))'
		targets+=("$pid")
	done
	sleep 1
	./bpfprof oncpu -v -e cpu-clock -F 999 -f -o "$tmp/x.html" 5 2>"$tmp/err" >"$tmp/folded"
	for pid in "${targets[@]}"; do
		finish "$pid"
	done
	verdict "peak memory, 100 processes of python3 at 999 Hz" \
		"$(sed -n 's/.*peak memory \([0-9.]*\) MB.*/\1/p' "$tmp/err")" 64 MB
}

sample_cost 5 1.0
sample_cost 30 0.7
sample_cost 100 1.0
first_sample
finish_time
memory
exit "$failed"

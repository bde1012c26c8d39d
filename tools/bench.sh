#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Figures of bpfprof, measured here and now. Costs of BPF programs come from the kernel's run-time statistics, side by side
# with the yardstick (tools/bench/reference.bpf.c) in the same run: two profilers on one CPU, the same target, medians of
# interleaved rounds. What counts is the ratio; nanoseconds depend on the machine.
#
#	sudo make bench		or: tools/bench.sh [-s|-c|-n|-p|-o] [ROUNDS]
#
# -s, -c, -n, -p, -o: only what is in tools/bench/sched.sh, calls.sh, names.sh, python.sh, or otel.sh, which say what else they
# go by. The last is not tried otherwise: it builds OpenTelemetry's profiler.
set -eu
cd "${BASH_SOURCE[0]%/*}/.."
only=
case ${1:-} in
-[scnpo])
	only=$1
	shift
	;;
esac
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

finish() { # PID, and what it has started
	local children

	mapfile -t children < <(pgrep -P "$1" || :)
	kill "$1" "${children[@]}" 2>/dev/null || :
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
	verdict "sample of $1 frames (loop): ratio to the yardstick" \
		"$(awk '{ print $3 }' "$tmp/cost" | median)" "$2" ""
	printf '  bpfprof %s ns, yardstick %s ns (medians of %d rounds)\n' "$(awk '{ print $1 }' "$tmp/cost" | median)" \
		"$(awk '{ print $2 }' "$tmp/cost" | median)" "$rounds"
}

# Cost of one sample while a target runs on the CPU: "oncpu_sample ref_sample", ns, of one round. The folded stacks stay in
# $tmp/stacks.
round() { # HZ
	start ./bpfprof oncpu -C "$cpu" -e cpu-clock -F "$1" -o "$tmp/stacks.folded" -f 3
	sleep 0.5
	"$build/tools/bench/reference" "$cpu" 997 2 >"$tmp/round"
	wait "$pid"
	awk '{ ns[$1] = $3 } END { print ns["oncpu_sample"], ns["ref_sample"] }' "$tmp/round"
}

# Frames of an average stack of the last round, by weight; the first name of a line is the thread's.
mean_depth() {
	awk '{ n = $NF; sub(/ [0-9]+$/, ""); depth += n * (split($0, part, ";") - 1); all += n }
		END { print all ? depth / all : 0 }' "$tmp/stacks.folded"
}

per_frame() { # NAME LIMIT HZ COMMAND...
	local name=$1 limit=$2 hz=$3 target

	shift 3
	: >"$tmp/cost"
	for _ in $(seq "$rounds"); do
		start taskset -c "$cpu" "$@"
		target=$pid
		sleep 0.3
		round "$hz" | cut -d ' ' -f 1 >"$tmp/ns"
		finish "$target"
		awk -v ns="$(cat "$tmp/ns")" -v depth="$(mean_depth)" 'BEGIN { print ns / depth, ns, depth }' >>"$tmp/cost"
	done
	verdict "$name" "$(awk '{ printf "%.1f\n", $1 }' "$tmp/cost" | median)" "$limit" ns
	printf '  %s ns a sample, %s frames (medians of %d rounds; all that a sample costs, by its frames)\n' \
		"$(awk '{ print $2 }' "$tmp/cost" | median)" "$(awk '{ printf "%.1f\n", $3 }' "$tmp/cost" | median)" "$rounds"
}

# A stack without frame pointers, unwound, against the yardstick on the same stack with them.
unwound_cost() { # DEPTH LIMIT
	local target ours theirs

	: >"$tmp/cost"
	for _ in $(seq "$rounds"); do
		start taskset -c "$cpu" "$build/tests/progs/nofp_deep" "$1" 1000
		target=$pid
		ours=$(round 999 | cut -d ' ' -f 1)
		finish "$target"
		start taskset -c "$cpu" "$build/tests/progs/deep_fp" "$1" 1000
		target=$pid
		theirs=$(round 999 | cut -d ' ' -f 2)
		finish "$target"
		awk -v a="$ours" -v b="$theirs" 'BEGIN { print a / b, a, b }' >>"$tmp/cost"
	done
	verdict "unwound sample of $1 frames: ratio to the yardstick with frame pointers" \
		"$(awk '{ print $1 }' "$tmp/cost" | median)" "$2" ""
	printf '  bpfprof %s ns, yardstick %s ns (medians of %d rounds)\n' "$(awk '{ print $2 }' "$tmp/cost" | median)" \
		"$(awk '{ print $3 }' "$tmp/cost" | median)" "$rounds"
}

# A C++ file that keeps a compiler busy for some seconds.
heavy_source() {
	cat <<-'EOF'
		#include <algorithm>
		#include <functional>
		#include <iostream>
		#include <map>
		#include <regex>
		#include <string>
		#include <unordered_map>
		#include <vector>
		template <int N> struct F {
			static int f(int x)
			{
				std::map<std::string, std::vector<int>> m;
				m[std::to_string(N + x)].push_back(N);
				std::regex r("a+b*c?");
				std::unordered_map<int, std::function<int(int)>> u;
				u[N] = [&](int y) { return y + N; };
				return u[N](m.size()) + F<N - 1>::f(x);
			}
		};
		template <> struct F<0> {
			static int f(int) { return 0; }
		};
		int main(int argc, char **) { std::cout << F<150>::f(argc); }
	EOF
}

# Compiles it over and over, in processes that live for seconds.
compile_for_ever() { # COMPILER
	heavy_source >"$tmp/heavy.cc"
	exec bash -c "while :; do $1 -O2 -c -o /dev/null $tmp/heavy.cc; done"
}

# Programs that share a CPU and its caches, as those of a host do: a compiler, an interpreter, a compressor and a database.
mixed_load() { # COMPILER
	compile_for_ever "$1" &
	python3 -c 'import json, random, re
while True:
    d = {str(i): [random.random() for _ in range(20)] for i in range(200)}
    text = json.dumps(d, indent=1)
    sorted(json.loads(text).items(), key=lambda item: item[1])
    re.findall(r"[0-9]+[.][0-9]+", text)' &
	while :; do
		cat ./bpfprof ./bpfprof ./bpfprof | xz -3 -T1 >/dev/null
	done &
	python3 -c 'import random, sqlite3
while True:
    c = sqlite3.connect(":memory:")
    c.execute("create table t(a int, b text, c real)")
    c.executemany("insert into t values(?, ?, ?)",
                  ((random.randrange(1000), str(i), random.random()) for i in range(50000)))
    c.execute("create index i on t(a, b)")
    c.execute("select a, count(*), sum(c) from t where b like \"%7%\" group by a order by 3").fetchall()' &
	wait
}

# What a sample costs where the caches hold the programs and not the profiler, against the yardstick in the same seconds.
# The yardstick's stacks of such programs end after two or three frames.
mixed_cost() { # HZ LIMIT COMPILER
	local load

	start setsid taskset -c "$cpu" bash -c "mixed_load $3"
	load=$pid
	sleep 2
	: >"$tmp/cost"
	for _ in $(seq "$rounds"); do
		start ./bpfprof oncpu -C "$cpu" -e cpu-clock -F "$1" -o "$tmp/stacks.folded" -f 7
		sleep 2
		"$build/tools/bench/reference" "$cpu" $(($1 - 2)) 4 >"$tmp/round"
		wait "$pid"
		awk '{ ns[$1] = $3 } END { print ns["oncpu_sample"] / ns["ref_sample"], ns["oncpu_sample"], ns["ref_sample"] }' \
			"$tmp/round" >>"$tmp/cost"
	done
	kill -- "-$load" 2>/dev/null || :
	verdict "sample of a mixed load (cold), $1 Hz: ratio to the yardstick" \
		"$(awk '{ printf "%.2f\n", $1 }' "$tmp/cost" | median)" "$2" ""
	printf '  bpfprof %s ns, yardstick %s ns (medians of %d rounds), %s frames\n' "$(awk '{ print $2 }' "$tmp/cost" | median)" \
		"$(awk '{ print $3 }' "$tmp/cost" | median)" "$rounds" "$(mean_depth)"
}

# Tables of a large library: what its table takes, in memory and in time, from the file to the finished table.
tables() {
	local lib

	lib=$(find /usr/lib -name 'libLLVM-*.so*' -type f -size +50M 2>/dev/null | sort | head -n 1)
	[ -n "$lib" ] || { echo "no libLLVM here: tables are not measured"; return; }
	for _ in $(seq "$rounds"); do
		"$build/tests/e2e/oracle" "$lib"
	done | awk '{ for (i = 1; i < NF; i++) v[$i] = $(i + 1); print v["ms"], v["bytes/row"], v["read"] / v["ms"] / 1000 }' \
		>"$tmp/tables"
	verdict "unwind table of ${lib##*/}" "$(awk '{ print $1 }' "$tmp/tables" | median)" 40 ms
	verdict "  bytes of kernel memory per row" "$(awk '{ print $2 }' "$tmp/tables" | median)" 4.5 B
	verdict "  rows compiled, 25 million a second: time for a million" \
		"$(awk '{ printf "%.1f\n", 1000 / $3 }' "$tmp/tables" | median)" 40 ms
}

# From the start of bpfprof to the first stack of a C++ process of 100 MB that was walked to its root.
first_stack() { # COMPILER
	local target

	for _ in $(seq "$rounds"); do
		heavy_source >"$tmp/heavy.cc"
		start "$1" -O2 -c -o /dev/null "$tmp/heavy.cc"
		target=$pid
		sleep 1
		./bpfprof oncpu -p "$({ pgrep -P "$target" || :; echo "$target"; } | paste -sd ,)" --json 0.5 2>/dev/null |
			jq .cost.first_complete_stack_s
		finish "$target"
	done | awk '{ print $1 * 1000 }' | median >"$tmp/first"
	verdict "start of bpfprof to the first complete stack of $1" "$(cat "$tmp/first")" 150 ms
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

sampling() {
	local compiler

	sample_cost 5 1.0
	sample_cost 30 0.7
	sample_cost 100 1.0
	unwound_cost 30 1.0
	per_frame "unwinding, warm: 127 frames at 9,999 Hz, per frame" 25 9999 "$build/tests/progs/nofp_deep" 127 1000
	compiler=$(command -v clang++ || command -v g++)
	export -f compile_for_ever heavy_source mixed_load
	export tmp
	mixed_cost 99 1.0 "$(command -v g++ || echo "$compiler")"
	mixed_cost 499 1.0 "$(command -v g++ || echo "$compiler")"
	per_frame "unwinding, cold: ${compiler##*/} at 999 Hz, per frame" 170 999 bash -c "compile_for_ever $compiler"
	tables
	first_stack "$compiler"
	first_sample
	finish_time
	memory
}

# shellcheck source=bench/sched.sh
. tools/bench/sched.sh
# shellcheck source=bench/calls.sh
. tools/bench/calls.sh
# shellcheck source=bench/names.sh
. tools/bench/names.sh
# shellcheck source=bench/python.sh
. tools/bench/python.sh
# shellcheck source=bench/otel.sh
. tools/bench/otel.sh

case $only in
-s) scheduler ;;
-c) calls ;;
-n) names ;;
-p) python_frames ;;
-o) beside_otel ;;
*)
	sampling
	scheduler
	calls
	names
	python_frames
	;;
esac
exit "$failed"

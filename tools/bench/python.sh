# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
# shellcheck disable=SC2154
#
# The part of tools/bench.sh that is about frames of Python: what 20 of them add to a sample, by the kernel's run-time
# statistics. The same program is sampled with and without them in turn, so both see the same machine.
#
# By the environment:
#	PYTHON=PROGRAM	the interpreter; without, python3

python_sample() { # OPTIONS...: ns
	local profiler

	start ./bpfprof oncpu -C "$cpu" -p "$target" -e cpu-clock -F 999 --max-overhead 100 --no-inline "$@" -o "$tmp/stacks.folded" 3
	profiler=$pid
	sleep 1
	"$build/tools/bench/stats" "$profiler" sleep 1.5 >"$tmp/round"
	wait "$profiler"
	awk '$1 == "oncpu_sample" && $2 { print $3 / $2 }' "$tmp/round"
}

python_frames() {
	local target

	start taskset -c "$cpu" "${PYTHON:-python3}" -c 'if 1:
		def down(n):
			if n:
				return down(n - 1)
			x = 0
			while True:
				x = (x * 31 + 7) & 65535
		down(18)' # with <module>: 20 frames
	target=$pid
	sleep 0.5
	: >"$tmp/cost"
	for _ in $(seq "$rounds"); do
		echo "$(python_sample --no-python) $(python_sample)" >>"$tmp/cost"
	done
	finish "$target"
	verdict "20 frames of Python: what they add to a sample" \
		"$(awk 'NF == 2 { printf "%.0f\n", $2 - $1 }' "$tmp/cost" | median)" 1500 ns
	printf '  %s ns with, %s ns without (medians of %d rounds); %s frames in a stack with them\n' \
		"$(awk '{ printf "%.0f\n", $2 }' "$tmp/cost" | median)" "$(awk '{ printf "%.0f\n", $1 }' "$tmp/cost" | median)" \
		"$rounds" "$(mean_depth)"
}

# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034
#
# The part of tools/bench.sh that stands beside OpenTelemetry's profiler: both look at the whole machine at 99 Hz in the same
# seconds, the mixed load on one CPU. BPF by the kernel's run-time statistics, CPU time of each from its start to its end: ours
# with the names of what was sampled, theirs without, as it sends addresses away. Needs Go and its module proxy.
#
# By the environment:
#	OTEL=FOLDER	where it is built, and looked for; without, build/otel

OTEL_VERSION=v0.0.202633
OTEL_SECONDS=20

# Its limit of locked memory is one that kernels since 5.11 do not ask for, and that not every root may raise.
otel_build() {
	local from

	[ ! -x "$otel/profiler" ] || [ ! -x "$otel/sink" ] || return 0
	mkdir -p "$otel/src/sink"
	cp tools/bench/sink/main.go "$otel/src/sink"
	(
		cd "$otel/src" || exit 1
		export GOFLAGS="-buildvcs=false -mod=mod"
		printf 'module bench\n\ngo 1.25.0\n' >go.mod
		go get "go.opentelemetry.io/ebpf-profiler@$OTEL_VERSION"
		from=$(go list -m -f '{{.Dir}}' go.opentelemetry.io/ebpf-profiler)
		rm -rf profiler
		cp -r "$from" profiler
		chmod -R u+w profiler
		printf 'package rlimit\n\nfunc MaximizeMemlock() (func(), error) { return func() {}, nil }\n' >profiler/rlimit/rlimit.go
		go mod edit -replace go.opentelemetry.io/ebpf-profiler=./profiler
		go build -o ../profiler go.opentelemetry.io/ebpf-profiler
		go build -o ../sink ./sink
	) >"$otel/log" 2>&1 || { tail -n 3 "$otel/log" >&2; return 1; }
}

cpu_of() { # PID: seconds so far
	awk -v hz="$(getconf CLK_TCK)" '{ sub(/.*\) /, ""); print ($12 + $13) / hz }' "/proc/$1/stat"
}

# ns of BPF a sample: all programs of a process, by the runs of the one that samples.
per_sample() { # FILE PROGRAM
	awk -v name="$2" '$1 == name { runs = $2 } { ns += $3 } END { if (runs) print ns / runs }' "$1"
}

beside_otel() {
	local otel=${OTEL:-$build/otel} load theirs ours sink

	command -v go >/dev/null || { echo "no Go here: OpenTelemetry's profiler is not tried"; return; }
	otel_build || { echo "OpenTelemetry's profiler cannot be built here"; return; }
	export -f compile_for_ever heavy_source mixed_load
	export tmp
	start "$otel/sink" 127.0.0.1:24317
	sink=$pid
	start setsid taskset -c "$cpu" bash -c "mixed_load $(command -v g++ || command -v clang++)"
	load=$pid
	: >"$tmp/cost"
	for _ in $(seq "$rounds"); do
		start "$otel/profiler" -collection-agent 127.0.0.1:24317 -disable-tls -samples-per-second 99 -no-kernel-version-check
		theirs=$pid
		for _ in $(seq 100); do
			! grep -qs prog_id "/proc/$theirs/fdinfo/"* || break
			sleep 0.1
		done
		start ./bpfprof oncpu -e cpu-clock -F 99 -o "$tmp/ours.json" -d "$OTEL_SECONDS"
		ours=$pid
		sleep 5
		"$build/tools/bench/stats" "$theirs" "$build/tools/bench/stats" "$ours" sleep $((OTEL_SECONDS - 8)) >"$tmp/theirs" 2>"$tmp/both"
		while kill -0 "$ours" 2>/dev/null; do sleep 0.05; done
		cpu_of "$theirs" >"$tmp/their_cpu"
		finish "$theirs"
		[ -s "$tmp/theirs" ] || echo "a round without figures: the other profiler was not ready" >&2
		awk -v a="$(per_sample "$tmp/both" oncpu_sample)" -v b="$(per_sample "$tmp/theirs" native_tracer_e)" \
			-v c="$(jq .cost.own_cpu_s "$tmp/ours.json")" -v d="$(cat "$tmp/their_cpu")" \
			'BEGIN { if (a && b && d) print a / b, a, b, c / d, c, d }' >>"$tmp/cost"
	done
	kill -- "-$load" 2>/dev/null || :
	finish "$sink"
	[ -s "$tmp/cost" ] || { echo "no round gave both figures" >&2; failed=1; return; }
	verdict "mixed load, 99 Hz: BPF a sample, of OpenTelemetry's" "$(awk '{ print $1 }' "$tmp/cost" | median | awk '{ printf "%.2f", $1 }')" 0.25 ""
	printf '  bpfprof %.0f ns, OpenTelemetry %.0f ns (medians of %d rounds)\n' "$(awk '{ print $2 }' "$tmp/cost" | median)" \
		"$(awk '{ print $3 }' "$tmp/cost" | median)" "$(wc -l <"$tmp/cost")"
	verdict "  CPU time of $OTEL_SECONDS s, of OpenTelemetry's" "$(awk '{ print $4 }' "$tmp/cost" | median | awk '{ printf "%.2f", $1 }')" 0.25 ""
	printf '  bpfprof %.2f s, OpenTelemetry %.2f s\n' "$(awk '{ print $5 }' "$tmp/cost" | median)" "$(awk '{ print $6 }' "$tmp/cost" | median)"
}

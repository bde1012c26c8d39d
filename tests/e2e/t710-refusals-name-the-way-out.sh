#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# timeout: 7200
# Whichever call of bpf() or perf_event_open() the kernel refuses, a command ends with its result, or with one sentence
# that says who refused and what helps; it does not crash, hang, or leave anything behind. By day a sample of the calls,
# at night each of them with each error.
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3
need_prog refuses allocates called
bpftool=$("$ROOT/tools/find-bpftool.sh")

ids() {
	"$bpftool" -j prog show | python3 -c 'import json, sys; print(*[p["id"] for p in json.load(sys.stdin)], sep="\n")' | sort
}
# Programs that have come since, and that no process has: others may profile this host too.
left() {
	comm -13 "$TMP/before" <(ids) | grep -vxF -f <(sed -n 's/^prog_id:[[:space:]]*//p' /proc/[0-9]*/fdinfo/* 2>/dev/null)
}
none_left() {
	[ -z "$(left)" ]
}
done_with() {
	wait_until 5 none_left || fail "programs that nobody has: $(left | tr '\n' ' ')"
	finish
}
ids >"$TMP/before"

refused() { # CALL STEP COMMAND...; at night every call
	local step=$2

	[ -z "${NIGHTLY:-}" ] || [ "$step" -ge 40 ] || step=1
	mkdir -p "$TMP/run"
	drive refusals.py "$BPFPROF" "$PROGS/refuses" "$TMP/run" "$1" "$step" "${@:3}"
}

refused bpf 6 oncpu -I -o OUTPUT 0.1
refused bpf 9 offcpu -o OUTPUT 0.1
refused bpf 9 stat --per-thread -o OUTPUT 0.1
refused perf_event_open 1 oncpu -I -o OUTPUT 0.1
[ -n "${NIGHTLY:-}" ] || done_with

for command in wall wakeup runqlat timeline syscalls lock; do
	refused bpf 1 "$command" -o OUTPUT 0.1
done
refused bpf 1 faults -o OUTPUT -- /bin/true
refused bpf 1 pmu -e page-faults,sched:sched_switch -o OUTPUT 0.1
refused bpf 1 tracepoint sched:sched_switch -o OUTPUT 0.1
refused bpf 40 alloc -o OUTPUT -- "$PROGS/allocates"
refused bpf 1 uprobe "$PROGS/called:called_23" -o OUTPUT -- "$PROGS/called"
refused bpf 1 top -d 0.1 -n 1
for command in offcpu "stat --per-thread" "pmu -e page-faults,sched:sched_switch" "tracepoint sched:sched_switch"; do
	# shellcheck disable=SC2086
	refused perf_event_open 1 $command -o OUTPUT 0.1
done
done_with

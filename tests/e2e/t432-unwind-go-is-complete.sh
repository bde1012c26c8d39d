#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# alone: it needs the CPUs for itself
# timeout: 300
# Stacks of Go programs are complete, on the CPU and off it, also where the runtime goes over to another stack; and every
# caller in them did call. Stripped, and at night also whole, and such as can be loaded anywhere.
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3
# edges.py reads machine code of aarch64 by itself.
[ "$(uname -m)" = aarch64 ] || need objdump
# A guest has what was built for it, if there was a compiler.
if [ -n "${IN_GUEST:-}" ]; then
	[ -x "$PROGS/go-whole" ] || skip "no Go where the programs of the guest were built"
else
	need go gcc
fi

stacks=${PROGS%/progs}/e2e/saved_stacks
edges=$ROOT/tests/e2e/edges.py
export GOFLAGS=-mod=mod HOME=$TMP CGO_ENABLED=1
cp "$ROOT"/tests/e2e/go/{work,asleep}.go "$TMP" && cd "$TMP" || exit 1

build() { # NAME SOURCE OPTIONS...
	if [ -n "${IN_GUEST:-}" ]; then
		check "$1 was built" cp "$PROGS/go-$1" "$1"
	else
		check "go builds $1" go build -o "$1" "${@:3}" "$2"
	fi
}

verified() { # WHAT FILE TWIN
	check "$1: callers did call" python3 "$edges" "$stacks" "$2" "$3"
	sed 's/^/#   /' "$OUT"
	check_near "$(awk '$1 == "stacks" { print $4 }' "$OUT")" 100 1 "$1: share of complete stacks"
}

try() { # NAME TWIN OPTIONS...
	[ -e "$1" ] || build "$1" work.go "${@:3}"
	start "./$1"
	wait_until 5 test -e "/proc/$PID"
	check "$1, on the CPU" "$BPFPROF" oncpu -F 499 -p "$PID" -o "$TMP/on.bpfprof" "$seconds"
	verified "$1, on the CPU" "$TMP/on.bpfprof" "$1=$2"
	check "$1, waiting" "$BPFPROF" offcpu -p "$PID" -o "$TMP/off.bpfprof" "$seconds"
	verified "$1, waiting" "$TMP/off.bpfprof" "$1=$2"
	stop "$PID" KILL
	check "$1, folded" "$BPFPROF" report -U -f "$TMP/on.bpfprof"
	for path in 'runtime.goexit;runtime.main;main.main;main.forever;main.main.func[0-9]+;main.burn' \
		'runtime.goexit;main.*;main.allocates;.*runtime.systemstack;' \
		'main.callsC;main._Cfunc_c_burn;runtime.cgocall;runtime.asmcgocall;' \
		'main.callsBack;.*runtime.asmcgocall;.*crosscall2;runtime.cgocallback;.*main.goFromC;main.burn' \
		'main.inlined;main.middle;main.inner' \
		"$grown" \
		'main.clock;time.Now;.*time.now;.*__(vdso|kernel)_clock_gettime'; do
		check_grep "$path" "$OUT"
	done
	rm -f "$TMP"/*.bpfprof
}

# Where a stack is made larger: on aarch64 who needed it is not known (docs/unwinding.md).
grown='main.deep;(main.deep;)*runtime.morestack;runtime.newstack;'
[ "$(uname -m)" != aarch64 ] || grown='runtime.morestack;runtime.newstack;'

# Threads that wait in C when the recording begins: stacks of two and of three parts.
two_wait() {
	[ "$(cat "/proc/$PID"/task/*/syscall | awk '$1 == 230 || $1 == 115' | wc -l)" -ge 2 ] # clock_nanosleep
}

asleep() {
	build asleep asleep.go -ldflags='-s -w'
	start ./asleep
	wait_until 5 two_wait
	check "asleep, waiting" "$BPFPROF" offcpu -U -f -p "$PID" 1
	check_grep '^asleep;runtime.goexit;main.waits;main._Cfunc_c_waits;runtime.cgocall;runtime.asmcgocall;.*nanosleep [0-9]{6,}' "$OUT"
	check_grep '^asleep;runtime.goexit;main.calls;.*;runtime.asmcgocall;.*goFromC;crosscall2;.*main.goFromC;main._Cfunc_c_waits;.*;runtime.asmcgocall;.*nanosleep [0-9]{6,}' "$OUT"
	stop "$PID" KILL
}

seconds=$(by_day 2 3)
asleep
build whole work.go # whose symbols say where functions begin
[ -z "${NIGHTLY:-}" ] || try whole whole
try stripped whole -ldflags='-s -w'
[ -z "${NIGHTLY:-}" ] || try pie pie -buildmode=pie
finish

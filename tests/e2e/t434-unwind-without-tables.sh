#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# timeout: 120
# Programs that no unwind data describes have complete stacks, by their machine code: C of all optimizations, and Debian's
# musl, linked statically; also stripped. Every caller did call.
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need gcc python3 objdump
[ "$(uname -m)" = x86_64 ] || skip "machine code of x86-64 is read"

cat >"$TMP/work.c" <<'C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define CALLED __attribute__((noinline, noclone))
static volatile long sink;
static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}
CALLED long sorts(void)
{
	char *p[300];
	for (int i = 0; i < 300; i++) {
		p[i] = malloc(32);
		snprintf(p[i], 32, "%d-%g", i * 7919 % 300, i / 3.0);
	}
	qsort(p, 300, sizeof(*p), by_text);
	for (int i = 0; i < 300; i++)
		free(p[i]);
	return 1;
}
CALLED long aligned(long n)
{
	_Alignas(64) volatile char room[256];
	for (int i = 0; i < 3000; i++)
		room[i % 256] = n + i;
	return room[n % 256];
}
CALLED long sized(long n)
{
	volatile char room[n % 700 + 1];
	for (int i = 0; i < 3000; i++)
		room[i % (n % 700 + 1)] = i;
	return room[0] + aligned(n);
}
CALLED long switches(long n)
{
	for (int i = 0; i < 2000; i++)
		switch ((n + i) % 8) {
		case 0: n += 3; sink++; break;
		case 1: n ^= 5; break;
		case 2: n -= aligned(i) & 1; break;
		case 3: n *= 7; break;
		case 4: n += sink; break;
		case 5: n |= 1; break;
		default: n++;
		}
	return n;
}
CALLED long deep(int n)
{
	return n ? deep(n - 1) + sized(n) : switches(n);
}
static void *thread(void *arg)
{
	for (;;)
		sink += sorts() + deep(20);
	return arg;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, NULL, thread, NULL);
	thread(NULL);
}
C

try() { # NAME LEAST_COMPLETE_PCT COMPILER OPTIONS...
	local pct

	check "$1 is built" "${@:3}" -fno-asynchronous-unwind-tables -fno-unwind-tables "$TMP/work.c" -o "$TMP/$1" -pthread
	start "$TMP/$1"
	check "oncpu records $1" "$BPFPROF" oncpu -p "$PID" -U -F 499 -o "$TMP/x.bpfprof" -o "$TMP/x.json" -f 2
	stop "$PID" KILL
	cp "$OUT" "$TMP/x.folded"
	pct=$(json "$TMP/x.json" stacks rooted_pct)
	echo "# figure: rooted/without-tables-$1 $pct % of $(folded_sum "$TMP/x.folded")"
	check_near "$pct" 100 "$(awk -v least="$2" 'BEGIN { print 100 - least }')" "$1: weight in complete stacks, %"
	case $1 in *stripped) return ;; esac
	check_grep ';main;thread;(deep;)+' "$TMP/x.folded"
	check "$1: callers did call" python3 "$ROOT/tests/e2e/edges.py" "${PROGS%/progs}/e2e/saved_stacks" "$TMP/x.bpfprof"
	sed 's/^/#   /' "$OUT"
}

for level in 1 2 3 s; do
	try "O$level" 99.9 gcc -O$level -fno-inline -fno-optimize-sibling-calls
done
# Where functions begin is to be guessed then.
try stripped 99.5 gcc -O2 -fno-inline -s
if command -v musl-gcc >/dev/null; then
	try musl 99.9 musl-gcc -O2 -fno-inline -fno-optimize-sibling-calls -static
	try musl-stripped 99.5 musl-gcc -O2 -fno-inline -static -s
fi
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Children that are gone before anybody hears of them are seen with -p, too; others who have the file mapped pay only
# where that is needed, and it is said; with --no-children they have no probe, neither with -p nor with a program.
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3 gcc
[ -r /sys/bus/event_source/devices/uprobe/type ] || lacks "the kernel has no uprobes"

cat >"$TMP/forks.c" <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
__attribute__((noinline)) void fn(void) { __asm__ volatile("nop"); }
static void child(void)
{
	if (!fork()) {
		for (int i = 0; i < 3; i++)
			fn();
		_exit(0);
	}
	wait(NULL);
}
/* argv: children at once, then 2 s later 40 more, and 10 calls of its own; or "spin": calls for ever, one each ms. */
int main(int argc, char **argv)
{
	for (; argc < 2;) {
		fn();
		usleep(1000);
	}
	for (int i = 0; i < atoi(argv[1]); i++)
		child();
	puts("ready");
	fflush(stdout);
	sleep(2);
	for (int i = 0; i < 10; i++)
		fn();
	for (int i = 0; i < 40; i++)
		child();
	sleep(1);
	return 0;
}
C
gcc -O1 -o "$TMP/forks" "$TMP/forks.c" 2>"$ERR" || skip "gcc cannot make a program"
calls() {
	python3 -c 'import json, sys
print(sum(r["calls"] for r in json.load(open(sys.argv[1]))["calls"]))' "$TMP/x.json"
}
others() {
	json "$TMP/x.json" samples filtered_by other-process
}

start "$TMP/forks" 1
wait_until 5 grep -q ready "$LOG"
check "one that has had a child" "$BPFPROF" uprobe -p "$PID" -o "$TMP/x.json" "$TMP/forks:fn"
check_near "$(calls)" 130 0 "its calls, and those of 40 children that live for a millisecond"

start "$TMP/forks" 1
wait_until 5 grep -q ready "$LOG"
check "the same alone" "$BPFPROF" uprobe -p "$PID" --no-children -o "$TMP/x.json" "$TMP/forks:fn"
check_near "$(calls)" 10 0 "its calls"

start "$TMP/forks"
check "a program that is started, beside another" "$BPFPROF" uprobe -o "$TMP/x.json" "$TMP/forks:fn" -- "$TMP/forks" 0
check_grep 'not selected ran into the probes [0-9,]+ times, and each time cost them [0-9.]+ [nu]s' "$ERR" "and what they cost it is said"
check_near "$(calls)" 130 0 "its calls and those of its children"
nr=$(others)
check "calls of the other one are filtered: ${nr:-0}" test "${nr:-0}" -gt 100
check "without children it is probed alone" "$BPFPROF" uprobe --no-children -o "$TMP/x.json" "$TMP/forks:fn" -- "$TMP/forks" 0
check_near "$(calls)" 10 0 "its calls, from its first one on"
nr=$(others)
check_near "${nr:-0}" 0 0 "calls of the other one"
check_no_grep 'not selected ran into' "$ERR"
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# timeout: 300
# What is probed does the same as before: exceptions pass timed functions, threads are cancelled in them, Go moves its stacks;
# python3 prints the same with hundreds of its functions timed.
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3
need_prog called
[ -r /sys/bus/event_source/devices/uprobe/type ] || lacks "the kernel has no uprobes"

column() { # NAME FUNCTION
	python3 -c 'import csv, sys
for row in csv.DictReader(open(sys.argv[1])):
    if row["function"].startswith(sys.argv[3]):
        print(row[sys.argv[2]])' "$TMP/x.csv" "$1" "$2"
}

if [ -x "$PROGS/throws" ]; then
	check "exceptions pass" "$BPFPROF" uprobe -l -o "$TMP/x.csv" "$PROGS/throws:thrower" "$PROGS/throws:Box<long>::get" -- \
		"$PROGS/throws"
	check_grep '^caught 5$' "$OUT" "all of them are caught"
	check_near "$(column calls thrower)" 5 0 "calls of thrower that return"
	check_near "$(column calls 'Box<long>::get')" 23 0 "calls of a member of a template"
fi

# Where no return probe may stand, jumps by a pointer are seen as ways out, and jumps by a table are not.
if [ -x "$PROGS/jumps_away" ]; then
	check "ways out by pointers" "$BPFPROF" uprobe -l -o "$TMP/x.csv" -o "$TMP/x.json" "$PROGS/jumps_away:by_*" -- "$PROGS/jumps_away"
	for name in by_member by_argument by_saved by_table; do
		check_near "$(column calls $name)" 100 0 "calls of $name"
	done
	check_near "$(json "$TMP/x.json" samples lost)" 0 0 "lost"
fi

cat >"$TMP/cancel.c" <<'C'
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
static void *sleeper(void *arg)
{
	for (;;)
		nanosleep(&(struct timespec){ .tv_sec = 5 }, NULL);
	return arg;
}
int main(void)
{
	for (int i = 0; i < 5; i++) {
		pthread_t thread;
		void *result;
		pthread_create(&thread, NULL, sleeper, NULL);
		usleep(20000);
		pthread_cancel(thread);
		pthread_join(thread, &result);
		printf("%d", result == PTHREAD_CANCELED);
	}
	puts("");
	return 0;
}
C
if cc -O1 -pthread -o "$TMP/cancel" "$TMP/cancel.c" 2>/dev/null; then
	check "threads are cancelled in timed functions" "$BPFPROF" uprobe -l -o "$TMP/x.csv" libc:nanosleep \
		libc:clock_nanosleep "$TMP/cancel:sleeper" -- "$TMP/cancel"
	check_grep '^11111$' "$OUT" "all five are"
fi

if command -v go >/dev/null && mkdir "$TMP/go"; then
	cat >"$TMP/go/m.go" <<'GO'
package main

import (
	"fmt"
	"time"
)

//go:noinline
func work(n int) int { time.Sleep(time.Duration(n) * time.Millisecond); return n + 1 }

type T struct{ x int }

//go:noinline
func (t *T) M(d int) int {
	var a [128]int
	if d == 0 {
		return t.x
	}
	a[d%128] = d
	return t.M(d-1) + a[d%128]
}

func main() {
	sum, done := 0, make(chan int)
	for i := 0; i < 8; i++ {
		go func() {
			s := 0
			for k := 0; k < 5; k++ {
				s += work(10)
			}
			done <- s
		}()
	}
	for i := 0; i < 8; i++ {
		sum += <-done
	}
	fmt.Println(sum + (&T{1}).M(40))
}
GO
	if (cd "$TMP/go" && go mod init m && go build -o "$TMP/gop" .) >"$TMP/go.log" 2>&1; then
		check "goroutines are timed" "$BPFPROF" uprobe -l -o "$TMP/x.csv" -o "$TMP/go.json" "$TMP/gop:main.work" \
			"$TMP/gop:main.(*T).M" -- "$TMP/gop"
		check_grep "^$("$TMP/gop")\$" "$OUT" "what it prints"
		check_near "$(column calls main.work)" 40 0 "calls of main.work, by eight goroutines"
		check_near "$(column mean_us main.work)" 10700 900 "us that one of 10 ms takes"
		check_near "$(column calls 'main.(*T).M')" 41 0 "calls in each other on a stack that grows"
		check_near "$(json "$TMP/go.json" samples lost)" 0 0 "lost"
	fi
fi

python=$(realpath "$(python3 -c 'import sys; print(sys.executable)')")
cat >"$TMP/sum.py" <<'PY'
import hashlib, json, re
h = hashlib.sha256()
for i in range(300):
    h.update(json.dumps({"a": [i, i * 2.5, "x" * i], "b": {str(i): None}}).encode())
    h.update(re.sub("[0-9]+", lambda m: str(int(m[0]) + 1), "a1b22c333" * 5).encode())
    try:
        {}[i]
    except KeyError as e:
        h.update(repr(e).encode())
print(h.hexdigest())
PY
want=$("$python" "$TMP/sum.py")
probed=$python
[ -z "$(ldd "$python" 2>/dev/null | awk '/libpython/ { print $3 }')" ] || probed=$(ldd "$python" | awk '/libpython/ { print $3 }')
check "python3 with its functions timed" "$BPFPROF" uprobe -l --force -o "$TMP/x.csv" "$probed:PyDict_*" "$probed:PyErr_*" \
	"$probed:PyUnicode_*" -- "$python" "$TMP/sum.py"
check_grep "^$want\$" "$OUT" "what it prints"
rows=$(wc -l <"$TMP/x.csv")
check "functions that were called: $((rows - 1))" test "$rows" -gt 30
finish

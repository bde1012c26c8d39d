#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What threads of Java and Go wait for has the kind that the runtime makes of it: a monitor of Java is no
# condition variable and a sleep no lock at all, and threads of Go that have nothing to run do not wait for locks.
# alone: it needs the CPUs for itself
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=waits.sh
. "${0%/*}/waits.sh"
need_bpf
need python3
command -v javac >/dev/null || command -v go >/dev/null || skip "neither Java nor Go"

# The kinds of all that is waited for.
kinds() {
	python3 -c 'import json, sys
print("\n".join(sorted({r["kind"] for r in json.load(open(sys.argv[1]))["locks"]["locks"] if r["us"] > 1000})))' "$TMP/x.json"
}

java_kinds() {
	cat >"$TMP/Waits.java" <<-'JAVA'
		public class Waits {
			static final Object lock = new Object();
			static void hold() throws Exception { synchronized (lock) { Thread.sleep(4); } }
			static void want() throws Exception { synchronized (lock) { } }
			interface Step { void run() throws Exception; }
			static void start(String name, Step step) {
				new Thread(() -> {
					try {
						for (;;)
							step.run();
					} catch (Exception e) {
						System.exit(1);
					}
				}, name).start();
			}
			public static void main(String[] args) {
				start("holder", () -> { hold(); Thread.sleep(1); });
				start("waiter", () -> { want(); Thread.sleep(1); });
				System.out.println("started");
			}
		}
	JAVA
	check "javac" javac -d "$TMP" "$TMP/Waits.java"
	start java -cp "$TMP" Waits
	wait_until 20 grep -q started "$LOG"
	check "Java" "$BPFPROF" lock --idle=show -p "$PID" -d 2 -o "$TMP/x.json" -o "$TMP/x.bpfprof"
	kinds >"$TMP/kinds"
	check_grep '^monitor \(Java\)$' "$TMP/kinds" "a monitor"
	check_no_grep 'sleep' "$TMP/kinds" "a sleep is no lock"
	# Nor is it in their sum: it has a class of its own.
	for class in lock sleep; do
		check "$class" "$BPFPROF" report --idle=show --class $class -o "$TMP/$class.folded" "$TMP/x.bpfprof"
	done
	sed 's/;--;.*//' "$TMP/lock.folded" >"$TMP/waiters.folded" # without what their holders did
	check_no_grep 'JVM_Sleep|JavaThread::sleep' "$TMP/waiters.folded" "no sleep among locks"
	check_near "$(grep -cvE 'JVM_Sleep|JavaThread::sleep' "$TMP/sleep.folded")" 0 0 "stacks of class sleep that do not sleep"
	check_between "$(us_of "$TMP/sleep.folded" 'JVM_Sleep|JavaThread::sleep')" 1000000 100000000 "us of sleep"
	check_no_grep '^condition variable$' "$TMP/kinds" "nothing is taken for what the JVM makes it of"
}

go_kinds() {
	cat >"$TMP/waits.go" <<-'GO'
		package main

		import (
			"fmt"
			"sync"
			"time"
		)

		var mutex sync.Mutex

		func turn(ms time.Duration) {
			for {
				mutex.Lock()
				time.Sleep(ms * time.Millisecond)
				mutex.Unlock()
				time.Sleep(time.Millisecond)
			}
		}

		func main() {
			for i := 0; i < 4; i++ {
				go turn(3)
			}
			fmt.Println("started")
			select {}
		}
	GO
	check "go build" env GO111MODULE=off go build -o "$TMP/gowaits" "$TMP/waits.go"
	start "$TMP/gowaits"
	wait_until 20 grep -q started "$LOG"
	check "Go" "$BPFPROF" lock --idle=show -p "$PID" -s -d 2 -o "$TMP/x.json"
	check_grep "goroutines wait for Go's mutexes inside the program: those waits are not seen" "$OUT" "what is not seen is said"
	kinds >"$TMP/kinds"
	check_grep '^idle thread \(Go\)$' "$TMP/kinds" "threads without work"
	check_no_grep '^(mutex|futex|condition variable)$' "$TMP/kinds" "goroutines wait for mutexes, threads do not"
}

command -v javac >/dev/null && java_kinds
command -v go >/dev/null && go_kinds
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# JavaScript and Java functions have their names: by what node writes, and by what --java-names has a JVM write.
# alone: it removes maps of generated code from /tmp, of whomever
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf

cd "$TMP" || exit 1
touch begin

nodes() {
	cat >burns.js <<-'JS'
		function seldom(n) { let s = 0; for (let i = 0; i < n; i++) s = (s * 31 + i) | 0; return s; }
		function often(n) { let s = 0; for (let i = 0; i < n; i++) s = (s * 37 + i) | 0; return s; }
		let x = 0, end = Date.now() + 3000;
		while (Date.now() < end) { x += often(300000); x += seldom(100000); }
	JS
	# What is inlined has no frame, so the two are not. jitdump is whole once node has ended.
	for how in "--perf-basic-prof" ${NIGHTLY:+"--perf-prof"}; do # by day t180 has jitdumps
		check "node $how" "$BPFPROF" oncpu -F 499 -d 20 -o x.folded -o x.txt -o x.bpfprof -- \
			node "$how" --no-turbo-inlining --no-maglev burns.js
		# It begins by the clock, and ends by it: how much of its time it takes to begin depends on who else runs.
		check_pct x.folded 'JS:[*](often|seldom) .*burns.js:[12]:1[56]' 80 20
		grep -F burns.js: x.folded >burns.folded
		check_pct burns.folded 'JS:[*]often .*burns.js:2:15' 75 6
		check_pct burns.folded 'JS:[*]seldom .*burns.js:1:16' 25 6
		check_grep '^names  *(100|9[89])' x.txt "node $how: all has names"
	done
	check "node without" "$BPFPROF" oncpu -F 499 -o x.folded -o x.txt 1 -- node burns.js
	check_no_grep 'often' x.folded "node without"
	check_grep 'node: JavaScript: run it with node --perf-basic-prof' x.txt "what would help"
}

burn() { # OPTIONS...; sets $PID
	start java -XX:+PreserveFramePointer "$@" -cp "$TMP" Burns
	wait_until 20 grep -q begun "$LOG"
	sleep 1
}

# It is told why, instead of to ask again; and no thread dump lands in the log of who cannot be asked.
cannot() { # DESC REASON; of $PID
	check "$1" "$BPFPROF" oncpu -F 499 -p "$PID" --java-names -o x.folded -o x.txt 1
	check_grep "no names of Java code of process $PID: $2" "$ERR" "$1: a warning"
	check_grep "java: Java code: --java-names got none: $2" x.txt "$1: the summary"
	check_no_grep 'Java code: --java-names has' x.txt "$1: it is not advised again"
	check_no_grep 'Full thread dump' "$LOG" "$1: no SIGQUIT"
	check "$1: it lives on" kill -0 "$PID"
}

javas() {
	cat >Burns.java <<-'JAVA'
		public class Burns {
			static long seldom(int n) { long s = 0; for (int i = 0; i < n; i++) s = s * 37 + i; return s; }
			static long often(int n) { long s = 0; for (int i = 0; i < n; i++) s = s * 37 + i; return s; }
			public static void main(String[] a) {
				long x = 0, end = System.currentTimeMillis() + 60000;
				System.out.println("begun");
				while (System.currentTimeMillis() < end) { x += often(300000); x += seldom(100000); }
				System.out.println(x);
			}
		}
	JAVA
	check "javac" javac Burns.java
	burn -XX:CompileCommand=quiet -XX:CompileCommand=dontinline,Burns::often -XX:CompileCommand=dontinline,Burns::seldom
	check "java, not asked" "$BPFPROF" oncpu -F 499 -p "$PID" -o x.folded -o x.txt 1
	check_no_grep 'Burns.often' x.folded "a JVM is not asked by itself"
	check_grep 'java: Java code: --java-names' x.txt "what would help"
	if java -version 2>&1 | grep -qE 'version "(1[7-9]|[2-9][0-9])'; then
		check "java, asked" "$BPFPROF" oncpu -F 499 -p "$PID" --java-names -o x.folded -o x.txt 3
		check_pct x.folded 'long Burns.often[(]int[)]' 75 6
		check_pct x.folded 'long Burns.seldom[(]int[)]' 25 6
		check_no_grep 'Full thread dump' "$LOG" "nothing is printed by the JVM"
		check_pct x.folded 'JavaMain' 98 2.5
		check_no_grep 'run it with java -XX:[+]PreserveFramePointer' x.txt "stacks with frame pointers need no advice"
		[ -z "$(find "/proc/$PID/cwd/" -maxdepth 1 -name '.attach_pid*')" ] || fail "the file that woke it is left"
	fi
	stop "$PID"
	# SIGQUIT would kill this one; but it listens without.
	burn -Xrs
	check "java -Xrs" "$BPFPROF" oncpu -F 99 -p "$PID" --java-names -o x.folded 1
	check_grep 'Burns.often' x.folded "java -Xrs"
	check "java -Xrs lives on" kill -0 "$PID"
	stop "$PID"
	if [ -n "${NIGHTLY:-}" ]; then # by day as the environment has it
		burn -XX:+DisableAttachMechanism
		cannot "attaching is forbidden" '-XX:[+]DisableAttachMechanism forbids it: run it without'
		stop "$PID"
	fi
	JAVA_TOOL_OPTIONS="-Dx=y -XX:+DisableAttachMechanism" burn -Dx=z
	cannot "forbidden by the environment" '-XX:[+]DisableAttachMechanism forbids it: run it without'
	stop "$PID"
	unwalked
	stopped
}

# Compiled code without frame pointers loses its callers; the option that keeps them is advised where that costs.
unwalked() {
	burn -XX:-PreserveFramePointer
	check "java without frame pointers" "$BPFPROF" oncpu -F 499 -p "$PID" -o x.folded -o x.txt 2
	check_between "$(awk '/^stacks/ { print int($2) }' x.txt)" 0 50 "% in complete stacks, without frame pointers"
	check_grep '% java: Java code without frame pointers: run it with java -XX:[+]PreserveFramePointer' x.txt "what would help"
	stop "$PID"
}

# One that does not answer is waited for by a child: the second Ctrl-C ends that, as it does whatever comes at the end.
stopped() {
	local java begin

	burn -XX:CompileCommand=quiet
	java=$PID
	start_bpfprof oncpu -F 99 -p "$java" --java-names -o x.folded
	sleep 1
	kill -STOP "$java"
	kill -INT "$PID"
	sleep 1
	check "a JVM that is stopped is waited for" kill -0 "$PID"
	begin=$EPOCHREALTIME
	kill -INT "$PID"
	wait_for "$PID"
	check_between "$(awk -v a="$begin" -v b="$EPOCHREALTIME" 'BEGIN { printf "%d", 1000 * (b - a) }')" 0 1000 "ms after Ctrl-C"
	check_grep "no names of Java code of process $java: interrupted" "$ERR"
	kill -CONT "$java"
	stop "$java"
}

command -v node >/dev/null && nodes
command -v javac >/dev/null && javas
find /tmp -maxdepth 1 -name 'perf-*.map' -newer begin -delete
command -v node >/dev/null || command -v javac >/dev/null || skip "no node, no javac"
finish

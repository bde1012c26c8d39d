#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Programs that nobody here wrote reach the root, whatever they do: at least 99.9 % of the weight of C, C++ and Rust, at least
# 99 % where code is generated, or comes without unwind data. Programs that are not installed are named. By day one program of
# each kind: in C, C++, Rust, Go, of assembly without unwind data, and generated code.
# alone: it needs the CPUs for itself
# timeout: 300
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3
stacks=${PROGS%/progs}/e2e/saved_stacks
nr_ran=0
absent=()

has() { # NAME PROGRAM...: it can be tried
	local program

	for program in "${@:2}"; do
		command -v "$program" >/dev/null 2>&1 || {
			absent+=("$1 (no $program)")
			return 1
		}
	done
}

# By day another program of its kind is tried.
nightly() { # NAME PROGRAM...
	[ -n "${NIGHTLY:-}" ] && has "$@"
}

# Programs in Go have symbols that tell too little; t432 checks them with those of others. Generated code that has not made
# its frame yet, as regular expressions of node, hides who called it: one or two samples in a thousand.
check_edges() { # NAME
	local most=0.1

	case $1 in go | gron) return ;; node) most=0.5 ;; esac
	[ "$(uname -m)" = aarch64 ] || command -v objdump >/dev/null || return
	check "$1: callers did call" python3 "$ROOT/tests/e2e/edges.py" --most "$most" "$stacks" "$TMP/x.bpfprof"
	sed 's/^/#   /' "$OUT"
}

# What bpfprof is to record, and how, comes last. Fewer samples than MIN_SAMPLES would be no proof.
record() { # NAME MIN_ROOTED_PCT MIN_SAMPLES ARGS...
	# shellcheck disable=SC2086
	check "$1" "$BPFPROF" oncpu ${HOW:-} -F 499 -o "$TMP/x.json" -o "$TMP/x.bpfprof" "${@:4}"
	judge "$@"
}

# A process that runs already, until it has had three seconds of CPU time: on a busy machine that takes longer.
record_busy() { # NAME MIN_ROOTED_PCT MIN_SAMPLES PID
	local end PID

	# shellcheck disable=SC2086
	start_bpfprof oncpu ${HOW:-} -F 999 -o "$TMP/x.json" -o "$TMP/x.bpfprof" -p "$4" 60
	end=$(($(cpu_ms "$4") + 3000))
	wait_until 50 has_run "$4" $end
	stop "$PID" INT
	check_is "$STATUS" 0 "$1: exit status"
	judge "$@"
}

cpu_ms() { # PID
	sed 's/.*) //' "/proc/$1/stat" | awk -v hz="$(getconf CLK_TCK)" '{ printf "%d\n", ($12 + $13) * 1000 / hz }'
}

has_run() { # PID MS: so long, or to its end
	grep -q ') Z' "/proc/$1/stat" || [ "$(cpu_ms "$1")" -ge "$2" ]
}

judge() { # NAME MIN_ROOTED_PCT MIN_SAMPLES
	local name=$1 min=$2 least=$3 pct samples

	pct=$(json "$TMP/x.json" stacks rooted_pct)
	samples=$(json "$TMP/x.json" samples recorded)
	echo "# figure: rooted/$name $(uname -m) $(uname -r | cut -d . -f 1,2) $pct % of $samples samples, $(json "$TMP/x.json" stacks guessed_pct) % guessed"
	check_near "$pct" 100 "$(awk -v min="$min" 'BEGIN { print 100 - min }')" "$name: weight that reaches the root, %"
	check "$name: $samples samples, at least $least" test "$samples" -ge "$least"
	"$BPFPROF" report --broken "$TMP/x.bpfprof" 2>/dev/null | head -n 12 | sed 's/^/#   /'
	check_edges "$name"
	rm -f "$TMP/x.json" "$TMP/x.bpfprof"
	nr_ran=$((nr_ran + 1))
}

cat >"$TMP/threads.py" <<'EOP'
import json, re, sys, threading, time, zlib
end = time.time() + float(sys.argv[1])
def work(n):
    while time.time() < end:
        text = json.dumps([{"i": i, "s": str(i) * 5} for i in range(300)])
        json.loads(text)
        re.sub(r"(\d+)(, )", r"<\1>\2", text)
        zlib.compress(text.encode())
        sorted(text, key=lambda c: -ord(c))
for n in range(5):
    threading.Thread(target=work, args=(n,)).start()
EOP
# The distribution's, and others that are there; by day the first (t183 has the newest).
for python in python3.1{2,3,4} "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.1[2-9]*/bin/python3.1[2-9]; do
	! "$python" -c '' 2>/dev/null || printf '%s\n' "$python"
done | sort -V >"$TMP/others"
for python in /usr/bin/python3 ${NIGHTLY:+$(cat "$TMP/others")}; do
	start "$python" "$TMP/threads.py" 60
	wait_until 10 sh -c '[ "$(ls "/proc/'"$PID"'/task" | wc -l)" -ge 6 ]'
	record_busy "${python##*/}" 99.9 500 "$PID"
	stop "$PID" KILL
done

if has g++ g++; then
	cat >"$TMP/heavy.cc" <<'EOC'
#include <algorithm>
#include <functional>
#include <map>
#include <regex>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>
template <int N> struct Fib { static constexpr long value = Fib<N - 1>::value + Fib<N - 2>::value; };
template <> struct Fib<1> { static constexpr long value = 1; };
template <> struct Fib<0> { static constexpr long value = 0; };
template <int N> struct Maps {
	std::map<int, std::tuple<std::string, std::vector<Fib<N>>>> m;
	std::unordered_map<std::string, std::function<int(int)>> f;
	int run(const std::string &s)
	{
		std::regex r("(a+)(b|c)*[0-9]{1,3}" + s);
		std::smatch found;
		m[N] = { s, {} };
		f[s] = [this](int x) { return x + static_cast<int>(m.size()) + N; };
		std::vector<std::string> v{ s, "x", "y" };
		std::sort(v.begin(), v.end(), [](auto &a, auto &b) { return a.size() + N < b.size(); });
		return f[s](std::regex_search(s, found, r)) + static_cast<int>(Fib<N>::value);
	}
	int all(const std::string &s) { return run(s) + Maps<N - 1>().all(s); }
};
template <> struct Maps<0> { int all(const std::string &) { return 0; } };
int heavy(const std::string &s) { return Maps<12>().all(s); }
EOC
	# The compiler's garbage collector follows lists by recursion, thousands of frames deep. Here it has nothing to do.
	record g++ 99.9 1000 -- g++ --param ggc-min-heapsize=4000000 -O2 -c "$TMP/heavy.cc" -o "$TMP/heavy.o"
fi

if nightly rustc rustc && rustc --version >/dev/null 2>&1; then
	cat >"$TMP/lib.rs" <<'EOR'
use std::collections::{BTreeMap, HashMap};
pub trait Shape { fn area(&self, x: u64) -> u64; }
macro_rules! shapes { ($($name:ident $n:literal)*) => { $(
	pub struct $name(pub u64, pub HashMap<String, [u8; $n]>);
	impl Shape for $name {
		fn area(&self, x: u64) -> u64 {
			let mut t: BTreeMap<u64, [u8; $n]> = BTreeMap::new();
			let mut v: Vec<(String, [u8; $n])> = self.1.iter().map(|(k, v)| (format!("{}-{:?}", k, v), *v)).collect();
			v.sort_by(|a, b| b.0.cmp(&a.0));
			for (k, b) in &v { t.insert(k.len() as u64 * x, *b); }
			self.0 * x + t.values().map(|b| b[0] as u64).sum::<u64>()
		}
	}
)* } }
shapes!(A 1 B 2 C 3 D 4 E 5 F 6 G 7 H 8 I 9 J 10 K 11 L 12);
EOR
	# By its own path: what is called rustc may be a program that starts the compiler.
	# Its tables, of 300 MB of libraries, take longest of all, and each compiler's life is short: its first stacks find no room.
	record rustc 95 500 -- sh -c 'for i in 1 2 3; do "$0"/bin/rustc -O --crate-type=lib --emit=obj -o "$2" "$1"; done' \
		"$(rustc --print sysroot)" "$TMP/lib.rs" "$TMP/lib.o"
fi

if has ripgrep rg; then
	python3 -c 'import random
random.seed(1)
words = ["".join(random.choice("abcdefghij") for _ in range(random.randint(2, 9))) for _ in range(3000)]
for _ in range(60000): print(" ".join(random.choice(words) for _ in range(12)))' >"$TMP/text"
	# The same file again and again: one process is all there is.
	mapfile -t text < <(yes "$TMP/text" | head -n 500)
	start rg -c '(\w+)\s+\w*(abc|cde|h.*j)\w*\s+[a-f]{3,9}$' "${text[@]}"
	wait_until 5 sh -c '[ "$(ls "/proc/'"$PID"'/task" | wc -l)" -ge 2 ]'
	# LLVM's unwind data for aarch64 holds at calls, not between the instructions that make a frame and undo it.
	least=99.9
	[ "$(uname -m)" != aarch64 ] || least=99.5
	record_busy ripgrep "$least" 500 "$PID"
	stop "$PID" KILL
fi

if nightly perl perl; then
	start perl -e 'while (1) { my %h; $h{$_ % 97} .= "x$_" for 1..5000; join(",", sort { $b cmp $a } map { s/x(\d)/y$1/gr } values %h); }'
	sleep 0.3
	record_busy perl 99.9 500 "$PID"
	stop "$PID" KILL
fi

if nightly ruby ruby; then
	start ruby -e 'loop { h = Hash.new(0); 5000.times { |i| h[(i * 7919 % 997).to_s] += i }; h.sort_by { |k, v| [-v, k] }.map { |k, v| k.gsub(/(\d)/, "<\\1>") }.join }'
	sleep 0.5
	record_busy ruby 99.9 500 "$PID"
	stop "$PID" KILL
fi

# Half of it is assembly that has neither tables nor symbols.
if has ffmpeg ffmpeg; then
	record ffmpeg 97 500 -- ffmpeg -loglevel error -f lavfi -i testsrc=size=640x360:rate=25 -t "$(by_day 12 20)" -c:v libx264 -f null -
fi

# Debian's redis-tools have the server as well, under the name of a checker; the package of the server would start one.
if nightly redis redis-benchmark redis-check-rdb; then
	ln -s "$(readlink -f "$(command -v redis-check-rdb)")" "$TMP/redis-server"
	start "$TMP/redis-server" --port 0 --unixsocket "$TMP/redis.sock" --save '' --appendonly no --dir "$TMP"
	server=$PID
	wait_until 5 test -S "$TMP/redis.sock"
	start redis-benchmark -s "$TMP/redis.sock" -n 100000000 -c 20 -P 16 -q -t set,get,lpush,lrange_100,zadd
	record_busy redis-server 99.9 300 "$server"
	check "redis: it was served" test -d "/proc/$server" -a -d "/proc/$PID"
	stop "$PID" KILL
	stop "$server" KILL
fi

if has node node; then
	cat >"$TMP/json.js" <<'EOJ'
function parse(n) { return JSON.parse(JSON.stringify(Array.from({ length: n }, (_, i) => ({ i, s: "x".repeat(i % 50) })))); }
function words(list) { const m = new Map(); for (const o of list) m.set(o.s.length, (m.get(o.s.length) || 0) + o.i); return m.size; }
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
const end = Date.now() + 1000 * Number(process.argv[2]);
let sum = 0;
while (Date.now() < end) {
	const list = parse(1000);
	list.sort((a, b) => a.s.length - b.s.length || b.i - a.i);
	sum += words(list) + fib(18) + list.map(o => o.s.replace(/x{3,}/g, "y")).join("").length;
}
console.log(sum);
EOJ
	start node "$TMP/json.js" 60
	sleep 1
	record_busy node 99 500 "$PID"
	stop "$PID" KILL
fi

# Version 11 and later run a source file as it is.
if nightly java java javac; then
	cat >"$TMP/Busy.java" <<'EOJ'
import java.util.*;
import java.util.stream.*;
public class Busy {
	interface Shape { long area(long x); }
	record Square(long a) implements Shape { public long area(long x) { return a * a + x; } }
	record Circle(long r) implements Shape { public long area(long x) { return 3 * r * r + x; } }
	static long sort(int n) {
		List<String> v = IntStream.range(0, n).mapToObj(i -> (i * 7919 % n) + "-" + i).collect(Collectors.toList());
		Collections.sort(v, Comparator.reverseOrder());
		return v.get(0).length();
	}
	static long count(int n) {
		Map<String, Integer> m = new HashMap<>();
		for (int i = 0; i < n; i++) m.merge(Integer.toString(i % 97), i, Integer::sum);
		return m.values().stream().mapToLong(x -> x).sum();
	}
	public static void main(String[] args) {
		long end = System.nanoTime() + (long) (Double.parseDouble(args[0]) * 1e9), sum = 0;
		Shape[] shapes = new Shape[1000];
		for (int i = 0; i < shapes.length; i++) shapes[i] = i % 3 == 0 ? new Square(i) : new Circle(i);
		while (System.nanoTime() < end) {
			sum += sort(2000) + count(2000);
			for (Shape s : shapes) sum += s.area(sum & 7);
		}
		System.out.println(sum);
	}
}
EOJ
	if javac -d "$TMP" "$TMP/Busy.java" 2>"$TMP/javac"; then
		start java -XX:+PreserveFramePointer -Xmx256m -cp "$TMP" Busy 60
		sleep 2
		record_busy java 99 500 "$PID"
		stop "$PID" KILL
	else
		absent+=("java (javac: $(head -n 1 "$TMP/javac"))")
	fi
fi

# A program of Debian in Go; and what its compiler makes here, if there is one.
if nightly gron gron; then
	python3 -c 'import json
print(json.dumps([{"i": i, "name": "n" * (i % 20), "list": list(range(i % 10)), "o": {"a": i, "b": None}} for i in range(200000)]))' >"$TMP/big.json"
	start gron "$TMP/big.json"
	record_busy gron 99 500 "$PID"
	stop "$PID" KILL
fi
if has go go && (cd "$TMP" && cat >busy.go && GOFLAGS=-mod=mod HOME=$TMP go build -o busy busy.go) 2>"$TMP/go" <<'EOG'; then
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"sort"
	"strconv"
	"time"
)

func work(end time.Time, done chan int) {
	sum := 0
	for time.Now().Before(end) {
		v := make([]string, 0, 2000)
		for i := 0; i < 2000; i++ {
			v = append(v, strconv.Itoa(i*7919%2000))
		}
		sort.Slice(v, func(a, b int) bool { return v[a] > v[b] })
		b, _ := json.Marshal(v)
		sum += len(b)
	}
	done <- sum
}

func main() {
	s, _ := strconv.ParseFloat(os.Args[1], 64)
	end := time.Now().Add(time.Duration(s * 1e9))
	done := make(chan int)
	for i := 0; i < 4; i++ {
		go work(end, done)
	}
	for i := 0; i < 4; i++ {
		fmt.Println(<-done)
	}
}
EOG
	start "$TMP/busy" 60
	sleep 0.5
	record_busy go 99 500 "$PID"
	stop "$PID" KILL
fi

echo "# ran: $nr_ran programs; absent: ${absent[*]:-none}"
finish

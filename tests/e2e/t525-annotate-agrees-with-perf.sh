#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Instructions of C++, of Rust and of the C library have the shares that perf annotate gives them, within what two samples
# of the same thing differ by.
# timeout: 240
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_nightly
need_bpf
need python3 perf g++ rustc gcc
cd "$TMP" || exit 1

cat >sorts.cc <<'P'
#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <vector>
int main(int, char **argv)
{
	std::vector<unsigned> v(5000);
	unsigned seed = 1;
	for (time_t end = time(nullptr) + atoi(argv[1]); time(nullptr) < end;) {
		for (auto &x : v)
			x = seed = seed * 1664525 + 1013904223;
		std::sort(v.begin(), v.end(), [](unsigned a, unsigned b) { return (a >> 3) < (b >> 3); });
	}
	return v.empty();
}
P
cat >sieve.rs <<'P'
use std::time::{Duration, Instant};
#[inline(never)]
fn sieve(n: usize) -> usize {
    let mut composite = vec![false; n + 1];
    let mut count = 0;
    for i in 2..=n {
        if !composite[i] {
            count += 1;
            let mut j = i * i;
            while j <= n {
                composite[j] = true;
                j += i;
            }
        }
    }
    count
}
fn main() {
    let secs: u64 = std::env::args().nth(1).unwrap().parse().unwrap();
    let end = Instant::now() + Duration::from_secs(secs);
    let mut sum = 0;
    while Instant::now() < end {
        sum += sieve(20000);
    }
    println!("{}", sum);
}
P
cat >strings.c <<'P'
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
int main(int argc, char **argv)
{
	char text[64];
	double sum = 0;
	for (time_t end = time(NULL) + atoi(argv[1]); time(NULL) < end;)
		for (int i = 0; i < 10000; i++) {
			snprintf(text, sizeof(text), "%d %s", i * 7919, argv[0]);
			sum += text[3];
		}
	return sum == 1;
}
P
check "C++" g++ -O2 -g -o sorts sorts.cc
check "Rust" rustc -C opt-level=2 -g -o sieve sieve.rs
check "C" gcc -O2 -g -o strings strings.c

cat >compare.py <<'P'
import json, re, sys
d = json.load(open("ours.json"))
f = d["functions"][0]
ours = {i["address"]: i["weights"][0] for i in f["instructions"]}
n = sum(ours.values())
theirs = {}
total = 0
for line in open("theirs.txt", errors="replace"):
    m = re.match(r"\s*(\d+)\s*:\s*([0-9a-f]+):\s", line)
    if m:
        theirs[int(m[2], 16)] = int(m[1])
m = sum(theirs.values())
assert n > 200 and m > 200, (n, m, "too few samples")
ours = {a: w / n for a, w in ours.items()}
theirs = {a: w / m for a, w in theirs.items()}
worst = 0
for a in set(ours) | set(theirs):
    p, q = ours.get(a, 0), theirs.get(a, 0)
    mean = (p * n + q * m) / (n + m)
    sigma = (mean * (1 - mean) * (1 / n + 1 / m)) ** 0.5
    worst = max(worst, abs(p - q) / (sigma + 1e-9) if abs(p - q) > 0.004 else 0)
    if abs(p - q) > 5 * sigma + 0.01:
        sys.exit("0x%x: %.2f %% here, %.2f %% by perf, of %d and %d samples" % (a, 100 * p, 100 * q, n, m))
print("# %s: %d and %d samples in %d and %d instructions; the worst differs by %.1f sigma"
      % (f["function"], n, m, sum(w > 0 for w in ours.values()), sum(w > 0 for w in theirs.values()), worst))
P

compare() { # PROGRAM FUNCTION-REGEX
	local function
	check "$1: recorded" "$BPFPROF" oncpu -F 999 --max-overhead 0 -o x.bpfprof -- "./$1" 5
	check "$1: recorded by perf" perf record -q -e cpu-clock -F 999 -o x.data -- "./$1" 5
	function=$(perf report -i x.data --stdio --sort sym --percent-limit 5 2>/dev/null |
		grep -oP "\[\.\] \K.*$2.*" | head -1 | sed 's/ *$//')
	echo "# $1: $function"
	check "$1: annotated" "$BPFPROF" annotate --json x.bpfprof "$function"
	cp "$OUT" ours.json
	perf annotate -i x.data --stdio --show-nr-samples --no-source -s "$function" >theirs.txt 2>/dev/null
	check "$1: shares of instructions are perf's" python3 compare.py
	cat "$OUT"
}
compare sorts introsort
compare sieve sieve
compare strings vfprintf
finish

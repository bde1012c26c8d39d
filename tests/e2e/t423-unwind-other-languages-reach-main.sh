#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# At least 99.9 % of the weight reaches the root in programs without frame pointers: busy in the C library, linked dynamically
# and statically; in C++ with exceptions, sorting, virtual calls; in Rust as it is built for release.
# timeout: 180
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3
need_prog nofp_libc

# Stacks without a root whose innermost function matches, in percent of all.
broken_in() { # PATTERN
	pattern=$1 awk '{ n = $NF; all += n; sub(/ [0-9]+$/, ""); if (!/;_start;/ && $0 ~ ENVIRON["pattern"]) part += n }
		END { printf "%.4f\n", all ? 100 * part / all : 100 }' "$TMP/x.folded"
}

record() { # NAME FUNCTION COMMAND...: FUNCTION stands below main in nearly all stacks
	local pct landing

	start "${@:3}" 60
	sleep 0.2
	# shellcheck disable=SC2086
	check "oncpu records $1" "$BPFPROF" oncpu ${HOW:-} -p "$PID" -U -F 997 -o "$TMP/x.json" -o "$TMP/x.bpfprof" -f 3
	stop "$PID" KILL
	cp "$OUT" "$TMP/x.folded"
	pct=$(json "$TMP/x.json" stacks rooted_pct)
	echo "# figure: rooted/$1 $(uname -m) $(uname -r | cut -d . -f 1,2) $pct % of $(folded_sum "$TMP/x.folded") samples"
	if [ -n "${lands:-}" ]; then
		landing=$(broken_in "$lands")
		check_near "$landing" 0 "$([ -n "${IN_GUEST:-}" ] && echo 1 || echo 0.5)" "weight whose stack is just being left for a handler, %"
		pct=$(awk -v pct="$pct" -v landing="$landing" 'BEGIN { print pct + landing }')
	fi
	check_near "$pct" 100 0.1 "weight that reaches the root${lands:+, or is just being left}, %"
	check_near "$(folded_pct "$TMP/x.folded" "^[^;]+;(_start;.*;)$2;")" 100 2 "samples below $2, %"
	grep -v ';_start;' "$TMP/x.folded" | cut -c 1-200 | sed 's/^/#   /'
}

record nofp_libc 'main;work' "$PROGS/nofp_libc"
if [ -x "$PROGS/nofp_libc-static" ]; then
	record nofp_libc-static 'main;work' "$PROGS/nofp_libc-static"
	if command -v readelf >/dev/null; then
		check_no_grep 'NEEDED|INTERP' <(readelf -dlW "$PROGS/nofp_libc-static") "it is a static program"
	fi
else
	echo "# no static C library: not tried"
fi

if [ -x "$PROGS/nofp_throw" ]; then
	# At the end of a throw libgcc puts in the registers of the handler's frame and moves the stack there (eh_return): for
	# these few instructions the frame of libgcc is half gone, and no unwind data describes what is left.
	lands=';(_Unwind_(Resume|RaiseException|ForcedUnwind|Resume_or_Rethrow)|uw_install_context(_1)?)$' record nofp_throw main "$PROGS/nofp_throw"
	for what in throw_often sort_often call_virtual fill_map; do
		check_grep ";main;([^ ]*;)?$what" "$TMP/x.folded"
	done
else
	echo "# no C++ compiler when the test programs were built: C++ not tried"
fi

# A name is not proof enough: rustup has one, and no compiler behind it.
if rustc --version >/dev/null 2>&1; then
	cat >"$TMP/release.rs" <<'RUST'
use std::collections::{BTreeMap, HashMap};

trait Shape { fn area(&self, x: u64) -> u64; }
struct Square(u64);
struct Circle(u64);
impl Shape for Square { #[inline(never)] fn area(&self, x: u64) -> u64 { self.0 * self.0 + x } }
impl Shape for Circle { #[inline(never)] fn area(&self, x: u64) -> u64 { self.0 * self.0 * 3 + x } }

#[inline(never)]
fn sort_strings(n: u64) -> usize {
    let mut v: Vec<String> = (0..n).map(|i| format!("{}-{}", i * 7919 % n, i)).collect();
    v.sort_by(|a, b| b.cmp(a));
    v[0].len()
}

#[inline(never)]
fn count_words(n: u64) -> u64 {
    let mut m: HashMap<String, u64> = HashMap::new();
    let mut t: BTreeMap<u64, u64> = BTreeMap::new();
    for i in 0..n { *m.entry((i % 97).to_string()).or_insert(0) += i; t.insert(i * 31 % n, i); }
    m.values().sum::<u64>() + t.values().max().copied().unwrap_or(0)
}

#[inline(never)]
fn areas(shapes: &[Box<dyn Shape>]) -> u64 { shapes.iter().enumerate().map(|(i, s)| s.area(i as u64)).sum() }

#[inline(never)]
fn work(seconds: f64) -> u64 {
    let start = std::time::Instant::now();
    let shapes: Vec<Box<dyn Shape>> = (0..1000u64)
        .map(|i| if i % 3 == 0 { Box::new(Square(i)) as Box<dyn Shape> } else { Box::new(Circle(i)) }).collect();
    let mut sum = 0;
    while start.elapsed().as_secs_f64() < seconds {
        sum += sort_strings(2000) as u64 + count_words(2000) + areas(&shapes);
    }
    sum
}

fn main() {
    let seconds = std::env::args().nth(1).and_then(|s| s.parse().ok()).unwrap_or(5.0);
    println!("{}", work(seconds));
}
RUST
	check "rustc -O" rustc -O -o "$TMP/release" "$TMP/release.rs"
	record rust-release '([^;]*;)*release::work' "$TMP/release"
	if [ -n "${NIGHTLY:-}" ]; then
		check "rustc -O -C panic=abort" rustc -O -C panic=abort -C lto=fat -o "$TMP/release-abort" "$TMP/release.rs"
		record rust-release-abort '([^;]*;)*release::work' "$TMP/release-abort"
	fi
else
	echo "# no rustc: Rust not tried"
fi
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# timeout: 300
# Split units in packages (.dwp), of gcc, clang and rustc, packed by dwp and llvm-dwp: names, inlined calls and lines are
# those of the same program that is not split (t405 compares these with llvm-symbolizer). A package of another build is not used, and said
# to be missing.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
CHAINS=$ROOT/build/tests/e2e/chains
[ -x "$CHAINS" ] || skip "$CHAINS is not built"
need gcc python3
packer=$(compgen -c llvm-dwp | sort -rV | head -n 1)
cd "$TMP" || exit 1
cat >p.cc <<-'EOT'
	extern "C" int printf(const char *, ...);
	long other(long);
	namespace shop {
	struct item {
		long x;
		bool operator<(const item &o) const { return x % 7 < o.x % 7; }
	};
	template <int N, typename F> static void sort(item *v, long n, F less)
	{
		for (long i = 1; i < n; i++)
			for (long k = i; k > 0 && less(v[k], v[k - 1]); k--) {
				item t = v[k];
				v[k] = v[k - 1];
				v[k - 1] = t;
			}
		if constexpr (N > 0)
			sort<N - 1>(v, n / 2, [&](const item &a, const item &b) { return less(b, a); });
	}
	struct pile {
		item v[64];
		pile(long n) { for (auto &i : v) i.x = n = n * 31 + 7; }
		long sum() const { long s = 0; for (auto &i : v) s += i.x * other(i.x); return s; }
	};
	__attribute__((noinline)) static long total(long n)
	{
		pile p(n);
		sort<3>(p.v, 64, [](const item &a, const item &b) { return a < b; });
		return p.sum();
	}
	}
	int main(int argc, char **) { printf("%ld\n", shop::total(argc) + other(argc)); }
EOT
cat >q.cc <<-'EOT'
	volatile long sink;
	static inline void note(long n) { sink = sink + n; }
	static inline long step(long n) { note(n); return n & 1 ? 3 * n + 1 : n / 2; }
	long other(long n)
	{
		long steps = 0;
		for (; n > 1 && steps < 99; steps++)
			n = step(n);
		note(steps);
		return steps;
	}
EOT

ask() { # FILE: addresses in all its functions
	nm -S "$1" | python3 -c 'import sys
for start, size, kind, *_ in (line.split() for line in sys.stdin if len(line.split()) == 4):
    if kind in "tTwW":
        [print(f"{at:x}") for at in range(int(start, 16), int(start, 16) + int(size, 16), 5)]'
}

say() { # FILE
	"$CHAINS" "$PWD/$1" <addresses 2>/dev/null
}

same() { # NAME: split and packed it says what it says as a whole; .llvm.HASH is of the build
	sed -E 's/\.llvm\.[0-9]+//g' "$1.said" >one
	sed -E 's/\.llvm\.[0-9]+//g' "$1.whole-said" >two
	check "$1: $(grep -c . one) places, $(awk -F '\t' 'NF > 3' one | wc -l) with inlined calls" cmp one two
	check "$1: inlined calls are there" grep -q -P '\t.*\t.*\t' one
}

# --- C++ ---

pack() { # HOW FILE
	case $1 in
	gnu) command -v dwp >/dev/null && timeout 20 dwp -e "$2" -o "$2.dwp" ;; # that of binutils 2.40 dies of version 5,
	*) [ -n "$packer" ] && timeout 20 "$packer" -e "$2" -o "$2.dwp" ;;	# and that of LLVM 14 runs for ever on some
	esac
}

nr=0
for compiler in g++ clang++; do
	command -v $compiler >/dev/null || continue
	for version in 4 5; do
		name=$compiler-$version
		for split in "" -gsplit-dwarf; do
			for unit in p q; do
				$compiler -std=c++17 -O2 -gdwarf-$version $split -c $unit.cc -o $unit.o || fail "$name compiles"
			done
			$compiler p.o q.o -o "$name${split:+-split}" || fail "$name is linked"
		done
		ask $name-split >addresses
		say $name >$name.whole-said
		for how in gnu llvm; do
			rm -f $name-split.dwp
			pack $how $name-split 2>/dev/null || { echo "# no package of $name by $how"; continue; }
			mkdir -p away && mv p.dwo q.dwo away
			say $name-split >$name.said
			same $name
			mv away/* .
			nr=$((nr + 1))
		done
		[ -s $name-split.dwp ] || continue
		rm p.dwo q.dwo
		if objcopy --compress-debug-sections=zlib $name-split.dwp packed 2>/dev/null && readelf -SW packed | grep -qE ' CE? '; then
			mv packed $name-split.dwp
			say $name-split >$name.said
			check "compressed" cmp $name.said $name.whole-said
		fi
	done
done
[ $nr -gt 0 ] || skip "needs dwp or llvm-dwp"

# Units of types are sections of their own, of the same name, before that of the code.
for split in "" -gsplit-dwarf; do
	for unit in p q; do
		g++ -std=c++17 -O2 -gdwarf-5 -fdebug-types-section $split -c $unit.cc -o $unit.o || fail "types compile"
	done
	g++ p.o q.o -o "types${split:+-split}" || fail "types are linked"
done
ask types-split >addresses
say types >types.whole-said
say types-split >types.said
same types

# --- Rust ---

if command -v rustc >/dev/null; then
	cat >r.rs <<-'EOT'
		use std::collections::HashMap;
		fn main() {
		    let mut m: HashMap<usize, Vec<usize>> = HashMap::new();
		    for i in 0..std::env::args().count() * 1000 { m.entry(i % 97).or_default().push(i); }
		    let mut v: Vec<_> = m.into_iter().map(|(k, x)| (k, x.iter().filter(|y| **y % 3 == 0).sum::<usize>())).collect();
		    v.sort();
		    println!("{:?}", v.first());
		}
	EOT
	rustc -C opt-level=3 -g -C split-debuginfo=off r.rs -o rust 2>rust.log && cp rust rust-whole &&
		rustc -C opt-level=3 -g -C split-debuginfo=packed r.rs -o rust 2>rust.log
	check "rustc packs" test -s rust.dwp
	ask rust >addresses
	say rust >rust.said
	say rust-whole >rust.whole-said
	same rust
else
	echo "# no rustc: Rust is left out"
fi

# --- a recording ---

if [ "$(id -u)" -eq 0 ] && [ -r "$ROOT/tests/progs/inlines.c" ] && [ -n "$packer" ]; then
	spare=$([ -n "${IN_GUEST:-}" ] && echo 14 || echo 8)
	record=("$BPFPROF" oncpu -U -F 999 --no-symbol-cache -s -o x.folded -- ./split 0.3)
	gcc -O2 -gdwarf-4 -gsplit-dwarf "$ROOT/tests/progs/inlines.c" -o split && pack llvm split && rm ./*.dwo
	check "a recording" "${record[@]}"
	check_near "$(folded_pct x.folded ';main;outer;middle;inner')" 66.7 "$spare" "share of the inlined call"
	check_no_grep 'dwo|dwp' "$OUT" "nothing is missing"
	objcopy --only-keep-debug split split.debug && strip split && objcopy --add-gnu-debuglink=split.debug split
	mv split.dwp split.debug.dwp
	check "... with a debug file" "${record[@]}"
	check_near "$(folded_pct x.folded ';main;outer;middle;inner')" 66.7 "$spare" "share of the inlined call"
	rm split.debug.dwp
	check "... without" "${record[@]}"
	check_no_grep 'inner' x.folded "no inlined calls"
	check_grep 'inlined calls and lines of who makes them are missing: there is no .*\.dwo .split DWARF., nor a package with it, .*/split.dwp: ' "$OUT"
	for other in g++-5-split.dwp clang++-5-split.dwp; do
		[ -s "$other" ] && cp "$other" split.dwp
	done
	check "... with another build's" "${record[@]}"
	check_no_grep 'inner' x.folded "it is not used"
	check_grep 'nor a package with it, .*/split.dwp: keep it there' "$OUT" "and the summary says the same"
fi
finish

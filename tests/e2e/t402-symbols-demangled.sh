#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# C++ names (and Rust's, both manglings, as symbols of an assembler file) are shown as in the source; --no-demangle keeps them.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need g++

cat >"$TMP/x.cc" <<'C'
#include <cstdlib>
#include <ctime>
static volatile unsigned long sink;
namespace shop {
template <typename T> struct cart {
	__attribute__((noinline)) void fill(T s)
	{
		time_t end = time(nullptr) + s;
		while (time(nullptr) < end)
			for (int i = 0; i < 100000; i++)
				sink = sink + 1;
	}
};
}
extern "C" {
#define RUST(f) __attribute__((noinline)) void f(void (*next)(void)) { next(); sink = sink + 1; }
RUST(_RNvC7mycrate3foo)
RUST(_ZN4core3ops8function6FnOnce9call_once17h0123456789abcdefE)
}
static void go() { shop::cart<int>().fill(1 + 1); sink = sink + 1; }
static void rust() { _ZN4core3ops8function6FnOnce9call_once17h0123456789abcdefE(go); sink = sink + 1; }
int main() { _RNvC7mycrate3foo(rust); }
C
g++ -O1 -fno-omit-frame-pointer -fno-optimize-sibling-calls -fno-inline "$TMP/x.cc" -o "$TMP/x" || skip "g++ fails"
check "C++ and Rust" "$BPFPROF" oncpu -F 499 -f -o "$TMP/x.bpfprof" -- "$TMP/x"
check_grep 'mycrate::foo;rust;core::ops::function::FnOnce::call_once;go;shop::cart<int>::fill' "$OUT"
check "--no-demangle, later" "$BPFPROF" report -f --no-demangle "$TMP/x.bpfprof"
check_grep '_RNvC7mycrate3foo;_ZL4rustv;_ZN4core3ops8function6FnOnce9call_once17h0123456789abcdefE;_ZL2gov;_ZN4shop4cartIiE4fillEi' "$OUT"
finish

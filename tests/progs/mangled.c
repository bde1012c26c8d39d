/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mangled [SECONDS]: spins at the end of a chain of functions whose symbols are as compilers of
 * Rust (both manglings) and C++ write them, global and local; so the test needs neither compiler:
 *
 *	main -> mycrate::foo -> rust() -> core::ops::function::FnOnce::call_once -> go()
 *	     -> shop::cart<int>::fill(int)
 */
#include "burn.h"

/* clang-format off */
#define FUNCTION(name, symbol)                                                                     \
	void name(uint64_t until) __asm__(symbol);                                                 \
	KEEP void name(uint64_t until)
/* clang-format on */

FUNCTION(fill, "_ZN4shop4cartIiE4fillEi")
{
	burn_until(CLOCK_MONOTONIC, until);
	__asm__ volatile("");
}

FUNCTION(go, "_ZL2gov")
{
	fill(until);
	__asm__ volatile("");
}

FUNCTION(call_once, "_ZN4core3ops8function6FnOnce9call_once17h0123456789abcdefE")
{
	go(until);
	__asm__ volatile("");
}

FUNCTION(rust, "_ZL4rustv")
{
	call_once(until);
	__asm__ volatile("");
}

FUNCTION(foo, "_RNvC7mycrate3foo")
{
	rust(until);
	__asm__ volatile("");
}

int main(int argc, char **argv)
{
	foo(wall_ns() + arg_ns(argc, argv, 1, 1));
	return 0;
}

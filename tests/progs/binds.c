/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* CFLAGS: -O1 -fplt -Wl,-z,lazy */
/* LDLIBS: -lm */
/*
 * binds [SECONDS]: one child after the other calls functions of libraries for the first time, so
 * that the dynamic linker looks them up.
 */
#include <math.h>
#include <sys/wait.h>
#include <unistd.h>

#include "burn.h"

static __attribute__((noinline)) double bind_some(double x)
{
	x = sin(x) + cos(x) + tan(x) + asin(x) + acos(x) + atan(x) + sinh(x) + cosh(x) + tanh(x);
	x += exp(x) + exp2(x) + expm1(x) + log(x) + log2(x) + log10(x) + log1p(x) + cbrt(x);
	x += asinh(x) + acosh(x) + atanh(x) + erf(x) + erfc(x) + lgamma(x) + tgamma(x) + logb(x);
	return x + j0(x) + j1(x) + y0(x) + y1(x) + significand(x) + gamma(x);
}

int main(int argc, char **argv)
{
	uint64_t end = wall_ns() + arg_ns(argc, argv, 1, 5);
	volatile double x = 0.5;
	pid_t child;

	while (wall_ns() < end) {
		child = fork();
		if (!child) {
			x = bind_some(x);
			_exit(x == 1);
		}
		if (waitpid(child, NULL, 0) != child)
			return 1;
	}
	return 0;
}

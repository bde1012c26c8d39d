/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The two loops that measure a roof, in C with vectors, which the compiler makes code of for each
 * architecture. The arithmetic is one text, compiled once for each width that a CPU may have.
 */
#include <stdbool.h>

#include "collect/peaks.h"

/*
 * Chains that do not wait for each other: as many as hide the latency of an operation on all units
 * that do it, and as fit into the registers together with two constants.
 */
#define TWELVE(f) f(0) f(1) f(2) f(3) f(4) f(5) f(6) f(7) f(8) f(9) f(10) f(11)
#ifdef __aarch64__
#define CHAINS	 16
#define CHAIN(f) TWELVE(f) f(12) f(13) f(14) f(15)
#else
#define CHAINS	 12
#define CHAIN(f) TWELVE(f)
#endif

#define BEGIN(i) vector x##i = start + i;
#define STEP(i)	 x##i = x##i * a + b;
#define SUM(i)	 sum += x##i;

/* Factors below 1 keep the values away from infinity, and the summand from denormal ones. */
#define ARITHMETIC(name, bytes, target)                                                            \
	target static double name(uint64_t rounds, double factor, double summand)                  \
	{                                                                                          \
		typedef double vector __attribute__((vector_size(bytes)));                         \
		const vector start = {}, a = start + factor, b = start + summand;                  \
		vector sum = start;                                                                \
		double result = 0;                                                                 \
                                                                                                   \
		CHAIN(BEGIN)                                                                       \
		for (uint64_t i = 0; i < rounds; i++) {                                            \
			CHAIN(STEP)                                                                \
		}                                                                                  \
		CHAIN(SUM)                                                                         \
		for (unsigned int i = 0; i < (bytes) / sizeof(double); i++)                        \
			result += sum[i];                                                          \
		return result;                                                                     \
	}

/* A multiplication and an addition for each double of each chain. */
#define FLOPS(bytes) (2.0 * CHAINS * (bytes) / sizeof(double))

ARITHMETIC(narrow, 16, )

static bool always(void)
{
	return true;
}

#ifdef __x86_64__
ARITHMETIC(wide, 32, __attribute__((target("avx2,fma"))))
ARITHMETIC(widest, 64, __attribute__((target("avx512f"))))

static bool has_avx2(void)
{
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

static bool has_avx512(void)
{
	return __builtin_cpu_supports("avx512f");
}
#endif

static const struct peaks_loop loops[] = {
#ifdef __x86_64__
	{ "AVX-512", has_avx512, widest, FLOPS(64) },
	{ "AVX2 with FMA", has_avx2, wide, FLOPS(32) },
#endif
	{ "vectors of 128 bits", always, narrow, FLOPS(16) },
};

const struct peaks_loop *peaks_loop(void)
{
	const struct peaks_loop *loop = loops;

	while (!loop->is_here())
		loop++;
	return loop;
}

void peaks_triad(double *to, const double *a, const double *b, double factor, size_t bytes)
{
	typedef double vector __attribute__((vector_size(64)));
	const vector *va = (const vector *)a, *vb = (const vector *)b;
	vector *vto = (vector *)to;

	for (size_t i = 0; i < bytes / sizeof(vector); i++)
		vto[i] = va[i] + factor * vb[i];
}

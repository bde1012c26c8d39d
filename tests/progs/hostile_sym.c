/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * hostile_sym [SECONDS]: spins in 65 functions in turn, 1 ms each, for SECONDS of CPU time. Their
 * symbols are place-holders, "hostile_NN_xxx…", since no assembler takes the real names; the last
 * one is 4 KB long and stays.
 *
 * hostile_sym --patch FILE: writes a copy of itself to FILE in which function NN bears hostile name
 * NN, in the symbol table and in the debug information. That copy is the one to profile.
 */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "burn.h"
#include "hostile.h"

/* clang-format off */
#define PAD   "xxxxxxxxxxxxxxxx"
#define PAD8  PAD PAD PAD PAD PAD PAD PAD PAD
#define PAD64 PAD8 PAD8 PAD8 PAD8 PAD8 PAD8 PAD8 PAD8
#define PAD4K PAD64 PAD64 PAD64 PAD64
/* clang-format on */
#define MARK	 "hostile_" /* of a place-holder, with NN_ behind it */
#define MARK_LEN 11
#define MAX_SIZE (16u << 20)

#define FUNCTION(n, pad)                                                                           \
	void function_##n(uint64_t until) __asm__("hostile_" #n "_" pad);                          \
	KEEP void function_##n(uint64_t until)                                                     \
	{                                                                                          \
		burn_until(CLOCK_THREAD_CPUTIME_ID, until);                                        \
		__asm__ volatile("" : : "i"(1##n));                                                \
	}
/* clang-format off */
#define TEN(t, X)                                                                                  \
	X(t##0, PAD) X(t##1, PAD) X(t##2, PAD) X(t##3, PAD) X(t##4, PAD)                           \
	X(t##5, PAD) X(t##6, PAD) X(t##7, PAD) X(t##8, PAD) X(t##9, PAD)
#define ALL(X)                                                                                     \
	TEN(0, X) TEN(1, X) TEN(2, X) TEN(3, X) TEN(4, X) TEN(5, X)                                \
	X(60, PAD) X(61, PAD) X(62, PAD) X(63, PAD) X(64, PAD4K)
/* clang-format on */

ALL(FUNCTION)

#define POINTER(n, pad) function_##n,
static void (*const functions[])(uint64_t until) = { ALL(POINTER) };
#define NR_FUNCTIONS (sizeof(functions) / sizeof(*functions))

/* The number in the place-holder at s, -1 when there is none. */
static int placeholder(const char *s, const char *last)
{
	int n;

	if (last - s < MARK_LEN + (long)sizeof(PAD) || memcmp(s, MARK, sizeof(MARK) - 1))
		return -1;
	n = (s[8] - '0') * 10 + s[9] - '0';
	return n < 0 || n >= NR_HOSTILE || memcmp(s + MARK_LEN, PAD, sizeof(PAD)) ? -1 : n;
}

/* Names are shorter than their place-holders and take their NUL along. */
static int patch(char *image, size_t sz)
{
	int n, nr = 0;
	char *p;

	for (p = image; p < image + sz; p++) {
		n = placeholder(p, image + sz);
		if (n < 0)
			continue;
		strcpy(p, hostile_names[n]);
		nr++;
	}
	return nr;
}

static int write_patched(const char *path)
{
	char *image = malloc(MAX_SIZE);
	FILE *in = fopen("/proc/self/exe", "r"), *out = fopen(path, "w");
	size_t sz = image && in ? fread(image, 1, MAX_SIZE, in) : 0;
	int nr;

	if (!sz || sz == MAX_SIZE || !out)
		return 1;
	nr = patch(image, sz);
	if (fwrite(image, 1, sz, out) != sz || fclose(out) || chmod(path, 0755))
		return 1;
	fclose(in);
	free(image);
	return nr >= NR_HOSTILE ? 0 : 1;
}

int main(int argc, char **argv)
{
	uint64_t end;
	size_t i;

	if (argc > 2 && !strcmp(argv[1], "--patch"))
		return write_patched(argv[2]);
	end = arg_ns(argc, argv, 1, 10);
	for (i = 0; cpu_ns() < end; i++)
		functions[i % NR_FUNCTIONS](cpu_ns() + NS_PER_S / 1000);
	return 0;
}

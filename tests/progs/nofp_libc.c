/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* CFLAGS: -O2 -fomit-frame-pointer -momit-leaf-frame-pointer */
/*
 * nofp_libc [SECONDS]: burns in the C library: sorting with a comparison of its own, formatting,
 * memory, strings. Linked statically as well, where its strings come by stubs without unwind data.
 */
#include <string.h>

#include "nofp.h"

#define NR 2000

static unsigned int seed = 1;

static CHAIN int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static CHAIN void sort(void)
{
	int i, values[NR];

	for (i = 0; i < NR; i++) {
		seed = seed * 1103515245 + 12345;
		values[i] = (int)(seed >> 2);
	}
	qsort(values, NR, sizeof(values[0]), compare);
}

static CHAIN void format(void)
{
	char text[256];
	int i;

	for (i = 0; i < NR; i++)
		snprintf(text, sizeof(text), "%s %d %g %-20.5x", "some text", i, i / 7.0, seed);
}

static CHAIN size_t strings(void)
{
	size_t sum = 0, sz;
	char *copy;
	int i;

	for (i = 0; i < NR; i++) {
		sz = (size_t)(i % 300 + 1);
		copy = malloc(sz);
		memset(copy, 'x', sz);
		copy[sz - 1] = 0;
		sum += strlen(copy) + (strchr(copy, 'y') != NULL);
		free(copy);
	}
	return sum;
}

static CHAIN void work(uint64_t until)
{
	while (wall_ns() < until) {
		sort();
		format();
		strings();
	}
}

int main(int argc, char **argv)
{
	work(wall_ns() + arg_ns(argc, argv, 1, 5));
	return 0;
}

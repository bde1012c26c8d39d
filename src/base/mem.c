/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Allocation that ends the program instead of failing. */
#include "base/mem.h"

#include <malloc.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LARGE (128 << 10)

static void (*ends_by)(void);

void mem_ends_by(void (*end)(void))
{
	ends_by = end;
}

static void *check(void *ptr)
{
	if (ptr)
		return ptr;
	if (ends_by)
		ends_by();
	fputs("bpfprof: out of memory (ulimit -v, or the host has none left)\n", stderr);
	_exit(EXIT_FAILURE);
}

void *xmalloc(size_t sz)
{
	return check(malloc(sz ? sz : 1));
}

void *xcalloc(size_t nr, size_t sz)
{
	return check(calloc(nr ? nr : 1, sz ? sz : 1));
}

void *xreallocarray(void *ptr, size_t nr, size_t sz)
{
	return check(reallocarray(ptr, nr ? nr : 1, sz));
}

void *xcopy(const void *from, size_t nr, size_t sz)
{
	void *to = xcalloc(nr, sz);

	if (nr && sz)
		memcpy(to, from, nr * sz);
	return to;
}

char *xstrdup(const char *s)
{
	return check(strdup(s));
}

char *xstrndup(const char *s, size_t sz)
{
	return check(strndup(s, sz));
}

char *xasprintf(const char *fmt, ...)
{
	char *s = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&s, fmt, ap) < 0)
		s = NULL;
	va_end(ap);
	return check(s);
}

void *xgrow(void *vec, size_t nr, size_t *cap, size_t sz)
{
	if (nr < *cap)
		return vec;
	*cap = *cap ? *cap * 2 : 16;
	return xreallocarray(vec, *cap, sz);
}

void mem_for_long(void)
{
#ifdef __GLIBC__
	mallopt(M_MMAP_THRESHOLD, LARGE); /* else it grows with what is freed, up to 32 MB */
#endif
}

void mem_give_back(void)
{
#ifdef __GLIBC__ /* others do so by themselves */
	malloc_trim(0);
#endif
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Memory that is there or the program ends: no caller checks (no core: that needs memory, too). */
#ifndef BPFPROF_BASE_MEM_H
#define BPFPROF_BASE_MEM_H

#include <stddef.h>

/*
 * All end the program, with one line on stderr, when memory runs out or a size overflows; free with
 * free().
 */
void *xmalloc(size_t sz);
void *xcalloc(size_t nr, size_t sz);
void *xreallocarray(void *ptr, size_t nr, size_t sz);
void *xcopy(const void *from, size_t nr, size_t sz); /* nr elements of size sz */
char *xstrdup(const char *s);
char *xstrndup(const char *s, size_t sz);
__attribute__((format(printf, 1, 2))) char *xasprintf(const char *fmt, ...);

/* Instead of that line, for a process that others wait for: end() must not return. */
void mem_ends_by(void (*end)(void));

/*
 * Makes room for one more element behind nr in a vector with cap elements of size sz: returns the
 * (possibly moved) vector and raises *cap. Use: v->x = xgrow(v->x, v->nr, &v->cap, sizeof(*v->x));
 * v->x[v->nr++] = …
 */
void *xgrow(void *vec, size_t nr, size_t *cap, size_t sz);

/*
 * For whoever runs for long and lets go of much: what is large lies in pages of its own from now
 * on, so that none stay behind when it is freed.
 */
void mem_for_long(void);

/* What was freed goes back to the kernel, as far as it can. Takes about a millisecond. */
void mem_give_back(void);

#endif

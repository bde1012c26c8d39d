/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The kernel's tracepoints by name, "category:name", as its tracefs lists them. */
#ifndef BPFPROF_EVENT_TRACEPOINTS_H
#define BPFPROF_EVENT_TRACEPOINTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tracepoints {
	int root; /* of tracefs */
	char **names;
	size_t nr, cap;
};

/*
 * Lists those of a tracefs; of this machine's with NULL. 0 or negative errno, not logged:
 * tracepoints_why() says what helps. Close it always.
 */
int tracepoints_open(struct tracepoints *t, const char *tracefs);
void tracepoints_close(struct tracepoints *t);

/* One sentence on why it could not be opened. To be freed. */
char *tracepoints_why(int err);

/* Is a name meant by the word, which may be a shell pattern, as tracepoints_is_glob() says? */
bool tracepoints_is_glob(const char *word);
bool tracepoints_is_meant(const char *name, const char *word);

/* How many are meant by the word. */
size_t tracepoints_count(const struct tracepoints *t, const char *word);

/* A file of a tracepoint: "id", "format". NULL with errno. To be freed. */
char *tracepoints_read(const struct tracepoints *t, const char *name, const char *file);

/* Its number, by which it is opened; 0 of those that cannot be, as the tracer's own. */
uint64_t tracepoints_id(const struct tracepoints *t, const char *name);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Engines are rows: where requests go, what they look like, and what the engine takes at once.
 * Limits are those that the engines have by default, with room to spare.
 */
#ifndef BPFPROF_PUSH_ENGINES_H
#define BPFPROF_PUSH_ENGINES_H

#include "push/series.h"

/*
 * The body of a request: parts between prefix and suffix of its engine, each of which the engine
 * could get alone. In one piece of memory.
 */
struct request {
	uint8_t *bytes;
	size_t len, cap;
	size_t *lens; /* of each part */
	size_t nr, cap_lens;
	size_t raw; /* bytes as the engine's limits count them */
};

struct requests {
	struct request *v;
	size_t nr, cap;
	uint64_t unfit;	 /* series that were left out, since engines would refuse them, or die, */
	const char *why; /* and why the last of them */
};

struct engine {
	const char *name, *path, *content_type;
	const char *content_encoding; /* NULL = none */
	const char *prefix, *separator, *suffix;
	size_t max_samples;  /* of a profile */
	size_t max_profile;  /* bytes of it, before compression */
	size_t max_request;  /* the same of all profiles of a request */
	uint64_t max_age_ns; /* of what it takes; 0 = any. Then the newest go first */
	bool all_or_nothing; /* of a request that it refuses, nothing is kept */
	void (*encode)(const struct engine *e, const struct series_set *set, struct requests *to);
};

extern const struct engine engines[];
extern const size_t nr_engines;

/* NULL: no such engine. */
const struct engine *engine_find(const char *name);

/* All series of a window, for this engine, split as it has to be. To be released. */
void requests_make(struct requests *r, const struct engine *e, const struct series_set *set);
void requests_release(struct requests *r);
/* Adds a part to the last request, or to a new one. raw: as above. */
void requests_add(struct requests *r, const struct engine *e, const void *part, size_t len,
		  size_t raw);

void request_release(struct request *r);
/* The whole body. To be freed. */
uint8_t *request_body(const struct engine *e, const uint8_t *bytes, const size_t *lens, size_t nr,
		      size_t *len);

/* Why no engine should get the series; NULL = it is fit. */
const char *series_unfit(const struct series *s);
/* Whether it is unfit, and counted as that. */
bool requests_leave_out(struct requests *r, const struct series *s);

/* A label's name as all engines take it: letters, digits, '_'. To be freed. */
char *engine_label(const char *name);
/* Each series has a label of that name already. */
bool engine_has_label(const char *name);

/* In otlp.c. */
void otlp_encode(const struct engine *e, const struct series_set *set, struct requests *to);

#endif

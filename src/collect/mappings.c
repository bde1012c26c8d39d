/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Question: the numbers of processes. Answer: how many bytes of it are there (the child may hang at
 * the next process), then for each process a head and the text of its mappings. A process that does
 * not answer is remembered, and those behind it are asked for again.
 */
#include "collect/mappings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "collect/reading.h"
#include "proc/maps.h"

#define BASE_NS	    100000000ull /* for one that answers in microseconds */
#define EACH_NS	    2000000ull
#define MAX_TEXT    (16u << 20) /* 65,530 mappings, the most by default, have some 6 MB */
#define MAX_BATCH   512u
#define MOST_SILENT 8 /* more at a time are not asked for, in one go */

struct head {
	uint32_t pid, len;
};

int mappings_do_read(struct reader_work *w)
{
	const uint32_t *pids = w->question;
	uint64_t *there = w->answer, at = sizeof(*there);

	for (size_t i = 0; i < w->question_sz / sizeof(*pids); i++) {
		struct head h = { .pid = pids[i] };
		char *to = (char *)w->answer + at;

		if (w->max_sz - at < sizeof(h) + MAX_TEXT)
			break;
		h.len = maps_copy(h.pid, to + sizeof(h), MAX_TEXT);
		memcpy(to, &h, sizeof(h));
		at += sizeof(h) + h.len;
		__atomic_store_n(there, at, __ATOMIC_RELEASE);
	}
	*there = at;
	w->sz = at;
	return 0;
}

/* How many processes have been answered. */
static size_t take(const struct reader_answer *a, const uint32_t *pids, size_t nr, void *to)
{
	uint64_t at = sizeof(uint64_t);
	size_t i = 0;

	for (; i < nr && a->sz >= at && a->sz - at >= sizeof(struct head); i++) {
		char *bytes = (char *)a->bytes + at;
		struct head h;

		memcpy(&h, bytes, sizeof(h));
		if (h.pid != pids[i] || h.len > a->sz - at - sizeof(h))
			break;
		if (h.len)
			proc_take_maps(to, h.pid, bytes + sizeof(h), h.len);
		at += sizeof(h) + h.len;
	}
	return i;
}

/*
 * How many of the processes are done with; *err: of the question. Of several that took too long
 * nobody is to blame: the one that comes next is asked alone.
 */
static size_t ask_some(struct reading *r, const uint32_t *pids, size_t nr, void *to, int *err)
{
	struct reader_question q = { .task = READER_MAPS,
				     .bytes = pids,
				     .sz = nr * sizeof(*pids),
				     .timeout_ns = BASE_NS + nr * EACH_NS,
				     .in_parts = true };
	struct reader_answer a;
	size_t done;

	*err = reader_ask(r->reader, &q, &a);
	done = take(&a, pids, nr, to);
	free(a.bytes);
	if (!*err && !done)
		*err = -EBADMSG;
	if (*err == -ETIMEDOUT && nr == 1) {
		if (!done)
			reading_add_silent(r, pids[0]);
		done = 1;
	}
	return done;
}

static int ask_all(struct reading *r, const uint32_t *pids, size_t nr, void *to)
{
	int err = 0, last = 0, nr_silent = 0;
	size_t at = 0, some;

	while (at < nr && nr_silent < MOST_SILENT && (!err || err == -ETIMEDOUT)) {
		some = err ? 1 : nr - at < MAX_BATCH ? nr - at : MAX_BATCH;
		at += ask_some(r, pids + at, some, to, &err);
		nr_silent += err && some == 1;
		if (some == 1 && err == -ETIMEDOUT) {
			last = err;
			err = 0;
		}
	}
	return err ? err : last;
}

int mappings_read(void *arg, const uint32_t *pids, size_t nr, void *to)
{
	struct reading *r = arg;
	uint32_t *asked = xcalloc(nr + 1, sizeof(*asked));
	size_t nr_asked = 0;
	int err;

	for (size_t i = 0; i < nr; i++)
		if (!reading_is_silent(r, pids[i]))
			asked[nr_asked++] = pids[i];
	err = nr_asked ? ask_all(r, asked, nr_asked, to) : nr ? -ETIMEDOUT : 0;
	free(asked);
	if (err && err != -ETIMEDOUT && reader_tells(&r->nr_told))
		log_warn("mappings of processes could not be read (%s): their code may have no "
			 "names",
			 strerror(-err));
	return err;
}

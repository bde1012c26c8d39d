/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The part of a recording that is about allocations: what samples stand for. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "collect/record_parts.h"
#include "profile/kind.h"

#define PARTS	  1024	     /* of an object: one of those that are large stands for 1.58 */
#define IS_IN_USE (1u << 31) /* in prof_count.wait, until it is weighed */

/* Each size by itself. */
static void weigh_alloc(void *arg, struct tally *t, const struct prof_count *n)
{
	const struct alloc_opts *o = &((struct record *)arg)->opts->alloc;
	uint32_t event = o->live && !(n->wait & IS_IN_USE) ? ALLOC_LIVE_EVENTS : 0;
	uint64_t size = ALLOC_BYTES(n->chain);
	double bytes = n->samples * alloc_weight(size, o->every);
	struct prof_count part = *n;

	part.chain = 0;
	part.wait = PROF_WAIT_OF_EVENT(event);
	part.weight = llround(bytes);
	tally_add(t, &part, NULL, 0);
	part.wait = PROF_WAIT_OF_EVENT(event + 1);
	part.weight = llround(PARTS * bytes / size);
	tally_add(t, &part, NULL, 0);
}

/* A fault makes a process larger by a page. */
static void weigh_growth(void *arg, struct tally *t, const struct prof_count *n)
{
	struct prof_count pages = *n;

	pages.weight *= sysconf(_SC_PAGESIZE);
	tally_add(t, &pages, NULL, 0);
}

record_weigh_fn *record_weigher(const struct record_opts *o)
{
	if (kind_of(o->command)->grows)
		return weigh_growth;
	return o->alloc.every ? weigh_alloc : NULL;
}

void record_whole(void *arg, struct sample *s)
{
	if (PROF_WAIT_EVENT(s->wait) % 2)
		s->weight = (s->weight + PARTS / 2) / PARTS;
}

struct live {
	struct record *record;
	uint64_t until_ns;
};

static void add_live(void *arg, const struct alloc_live *a)
{
	const struct live *l = arg;
	struct prof_count n = { .pid = a->pid,
				.tid = a->tid,
				.ustack = a->ustack,
				.samples = 1,
				.wait = IS_IN_USE,
				.chain = a->size };

	memcpy(n.comm, a->comm, sizeof(n.comm));
	if (a->time_ns <= l->until_ns)
		capture_add(&l->record->capture, &n);
}

void record_add_live(struct record *r, uint64_t end_ns)
{
	struct live l = { r, end_ns - r->opts->alloc.older_ns };

	session_live(r->session, add_live, &l);
}

/* Functions that were probed, as frames. To be freed. */
static bool *find_allocators(const struct record *r)
{
	const struct calls_opts *o = &r->opts->calls;
	const struct profile *p = r->profile;
	bool *is = xcalloc(p->nr_frames, sizeof(*is));

	for (size_t i = 1; i < p->nr_frames; i++)
		for (size_t k = 0; k < o->nr_events && !is[i]; k++)
			is[i] = !strcmp(profile_frame_linkage(p, i), o->events[k].name);
	return is;
}

/* Called by another one: it counts there. */
static bool is_nested(const struct profile *p, const struct sample *s, const bool *is_allocator)
{
	uint32_t nr;
	const uint32_t *frames = profile_stack_frames(p, s->ustack, &nr);

	for (uint32_t i = 1; i < nr; i++)
		if (is_allocator[frames[i]])
			return true;
	return false;
}

static void leave_out_nested(struct record *r)
{
	uint32_t event = r->opts->alloc.live ? ALLOC_LIVE_EVENTS : 0;
	bool *is_allocator = find_allocators(r);
	struct profile *p = r->profile;
	size_t nr = 0;

	for (size_t i = 0; i < p->nr_samples; i++) {
		const struct sample *s = &p->samples[i];

		if (!is_nested(p, s, is_allocator)) {
			p->samples[nr++] = *s;
		} else if (PROF_WAIT_EVENT(s->wait) == event) {
			p->counters[PROF_FILTER_NESTED] += s->count;
			p->counters[PROF_RECORDED] -= s->count;
		}
	}
	p->nr_samples = nr;
	free(is_allocator);
}

void record_describe_allocs(struct record *r)
{
	static const char *const names[] = { "live-bytes", "live-objects", "bytes", "objects" };
	const struct alloc_opts *o = &r->opts->alloc;
	struct profile *p = r->profile;

	for (size_t i = o->live ? 0 : ALLOC_LIVE_EVENTS; i < 4; i++)
		profile_add_event(p, &(struct sampled_event){
					     .name = profile_string(p, names[i]),
					     .period = i % 2 ? 0 : o->every,
				     });
	p->meta.event = p->events[0].name;
	p->meta.by_weight = true;
	leave_out_nested(r);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sums over samples, which are all within slow polls. */
#include "profile/slow_polls.h"

#include <stdlib.h>

#include "base/mem.h"
#include "profile/threads.h"

static void add(struct slow_polls *s, uint32_t wait, uint64_t ns)
{
	switch (PROF_WAIT_KIND(wait)) {
	case PROF_RUNNING:
		s->unsampled_ns += ns;
		break;
	case PROF_ON_CPU:
		s->sampled_ns += ns;
		break;
	default:
		s->waiting_ns += ns;
	}
}

/*
 * Per group: is it known how long it ran? Else there was no room for its time, which is in the
 * ledger, and samples of it are no time.
 */
static bool *find_timed(const struct profile *p, const struct thread_groups *groups)
{
	bool *timed = xcalloc(groups->nr, sizeof(*timed));

	for (size_t i = 0; i < p->nr_samples; i++)
		timed[groups->of_sample[i]] |= PROF_WAIT_KIND(p->samples[i].wait) == PROF_RUNNING;
	return timed;
}

static void add_all(struct slow_polls *s, const struct profile *p)
{
	struct thread_groups groups;
	uint64_t *ns;
	bool *timed;

	thread_groups_init(&groups, p);
	ns = thread_weights(p, &groups);
	timed = find_timed(p, &groups);
	for (size_t i = 0; i < p->nr_samples; i++)
		if (PROF_WAIT_KIND(p->samples[i].wait) != PROF_ON_CPU || timed[groups.of_sample[i]])
			add(s, p->samples[i].wait, ns[i]);
	free(timed);
	free(ns);
	thread_groups_release(&groups);
}

bool slow_polls_init(struct slow_polls *s, const struct profile *p)
{
	uint64_t sum;

	*s = (struct slow_polls){ .open = p->counters[PROF_POLLS_OPEN],
				  .ns = p->counters[PROF_POLLS_NS] };
	if (!p->meta.slow_poll_ns)
		return false;
	add_all(s, p);
	for (size_t i = 0; i < p->nr_call_rows; i++)
		s->nr += p->call_rows[i].calls;
	sum = s->waiting_ns + s->sampled_ns + s->unsampled_ns;
	s->missing_ns = s->ns > sum ? s->ns - sum : 0;
	return true;
}

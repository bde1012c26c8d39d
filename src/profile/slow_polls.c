/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sums over samples, which are all within slow polls. */
#include "profile/slow_polls.h"

#include <stdlib.h>

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

bool slow_polls_init(struct slow_polls *s, const struct profile *p)
{
	struct thread_groups groups;
	uint64_t *ns, sum;

	*s = (struct slow_polls){ .open = p->counters[PROF_POLLS_OPEN],
				  .ns = p->counters[PROF_POLLS_NS] };
	if (!p->meta.slow_poll_ns)
		return false;
	thread_groups_init(&groups, p);
	ns = thread_weights(p, &groups);
	for (size_t i = 0; i < p->nr_samples; i++)
		add(s, p->samples[i].wait, ns[i]);
	free(ns);
	thread_groups_release(&groups);
	for (size_t i = 0; i < p->nr_call_rows; i++)
		s->nr += p->call_rows[i].calls;
	sum = s->waiting_ns + s->sampled_ns + s->unsampled_ns;
	s->missing_ns = s->ns > sum ? s->ns - sum : 0;
	return true;
}

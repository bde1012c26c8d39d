/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From waits and samples to spans. A wait that is one of many (those for events) may have shorter
 * ones of its thread within it, which are dropped. Where a thread was first and last seen running,
 * a span of no length stands, so that what lies between two spans was run.
 */
#include "profile/gap_spans.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "bpf/thin.h"
#include "profile/threads.h"
#include "profile/wait.h"

static int compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

/* Of two that begin together the one without length comes first. */
static int by_thread(const void *x, const void *y)
{
	const struct gap_span *a = x, *b = y;
	int order = compare(a->pid, b->pid);

	order = order ? order : compare(a->tid, b->tid);
	order = order ? order : compare(a->begin_ns, b->begin_ns);
	return order ? order : compare(a->end_ns, b->end_ns);
}

static int by_runtime(const void *x, const void *y)
{
	const struct gap_span *a = x, *b = y;
	int order = compare(a->pid, b->pid);

	order = order ? order : compare(a->runtime, b->runtime);
	order = order ? order : compare(a->begin_ns, b->begin_ns);
	return order ? order : by_thread(x, y);
}

static int by_time(const void *x, const void *y)
{
	const struct gap_moment *a = x, *b = y;
	int order = compare(a->pid, b->pid);

	order = order ? order : compare(a->tid, b->tid);
	return order ? order : compare(a->at_ns, b->at_ns);
}

static void add(struct gap_spans *s, struct gap_span one)
{
	s->v = xgrow(s->v, s->nr, &s->cap, sizeof(*s->v));
	s->v[s->nr++] = one;
}

static enum doing doing_of(const struct context_of *of)
{
	static const enum doing by_context[CONTEXT_NR] = {
		[CONTEXT_NONE] = RESTS,		 [CONTEXT_TASK] = BLOCKS,
		[CONTEXT_POOL_JOB] = ELSEWHERE,	 [CONTEXT_MAIN_FUTURE] = BLOCKS,
		[CONTEXT_RUNTIME] = RESTS,	 [CONTEXT_IDLE_PARK] = RESTS,
		[CONTEXT_IDLE_DRIVER] = DRIVES,	 [CONTEXT_IDLE_POOL] = ELSEWHERE,
		[CONTEXT_IDLE_BLOCK_ON] = RESTS, [CONTEXT_OTHER] = RESTS,
		[CONTEXT_NOT_SAMPLED] = RESTS,
	};

	return by_context[of->context];
}

static bool is_for_events(const struct profile *p, uint32_t wait)
{
	const char *name = wait_syscall(p, wait);

	return wait == PROF_GAP(PROF_BLOCKED) || (name && !strncmp(name, "epoll_", 6));
}

/*
 * Per sample of which no stack was taken, since its thread waits often, the one that it is most
 * like: where that thread waits longest in the same system call. Of others, the sample itself; and
 * of many waits together, which have no system call, but are no page faults for that.
 */
static uint32_t *find_likes(const struct contexts *c, const struct thread_groups *groups)
{
	const struct profile *p = c->p;
	uint32_t *likes = xcalloc(p->nr_samples + 1, sizeof(*likes));
	const struct sample *a, *b;
	const uint32_t how = 0xffff; /* the system call, and the kind of the wait */

	for (size_t i = 0; i < p->nr_samples; i++) {
		a = &p->samples[i];
		likes[i] = i;
		if (!(a->wait & PROF_WAIT_NOT_SAMPLED) || a->wait == PROF_GAP(PROF_BLOCKED))
			continue;
		for (size_t k = 0; k < p->nr_samples; k++) {
			b = &p->samples[k];
			if (groups->of_sample[k] != groups->of_sample[i] || !b->ustack ||
			    b->wait & PROF_WAIT_NOT_SAMPLED || (a->wait & how) != (b->wait & how))
				continue;
			if (likes[i] == i || b->weight > p->samples[likes[i]].weight)
				likes[i] = k;
		}
	}
	return likes;
}

/*
 * A worker of which no switch was looked at polls now and then: who leaves the driver to nobody is
 * looked at, since it runs or waits for longer.
 */
static enum doing doing_at(const struct contexts *c, size_t i)
{
	const struct context_of *of = contexts_at(c, i);

	if (of->context == CONTEXT_NOT_SAMPLED && is_for_events(c->p, c->p->samples[i].wait))
		return DRIVES;
	return doing_of(of);
}

static bool waits(const struct sample *s)
{
	uint32_t kind = PROF_WAIT_KIND(s->wait);

	return kind != PROF_RUNNING && kind != PROF_ON_CPU;
}

/*
 * The runtimes of threads: of workers that have driven the epoll that they waited in, since each
 * runtime has one of its own, and their name, but for its number; of one that is all of its runtime
 * the thread. A name of which all that drove have the same epoll is of that one.
 */
struct driver {
	uint32_t name; /* of a worker's thread */
	bool alone;    /* it is all of its runtime */
	uint32_t epoll;
	uint64_t waits; /* in that one: the most */
};

static void drives(struct driver *d, const struct contexts *c, size_t i)
{
	const struct sample *s = &c->p->samples[i];
	uint32_t epoll = wait_epoll(c->p, s->wait);

	if (!epoll || s->count <= d->waits)
		return;
	d->epoll = epoll;
	d->waits = s->count;
}

static struct driver *find_drivers(const struct contexts *c, const struct thread_groups *groups)
{
	struct driver *drivers = xcalloc(groups->nr + 1, sizeof(*drivers));

	for (size_t i = 0; i < c->p->nr_samples; i++) {
		const struct context_of *of = contexts_at(c, i);
		const struct sample *s = &c->p->samples[i];
		struct driver *to = &drivers[groups->of_sample[i]];

		if (!of->runtime || !context_has_driver(of->runtime - 1) || !s->tid)
			continue;
		if (of->context == CONTEXT_IDLE_DRIVER)
			drives(to, c, i);
		if (of->role == ROLE_WORKER)
			to->name = s->thread;
		else if (of->role == ROLE_BLOCK_ON && of->context == CONTEXT_IDLE_DRIVER)
			to->alone = true;
	}
	return drivers;
}

static size_t base_length(const char *name)
{
	size_t len = strlen(name);

	while (len > 1 && strchr("0123456789-_#", name[len - 1]))
		len--;
	return len;
}

static bool is_like(const struct profile *p, const struct thread_groups *g,
		    const struct driver *drivers, size_t i, size_t k)
{
	const char *a = profile_str(p, drivers[i].name), *b = profile_str(p, drivers[k].name);
	size_t len = base_length(a);

	return drivers[i].name && drivers[k].name && g->v[i].pid == g->v[k].pid &&
	       (drivers[i].name == drivers[k].name ||
		(len == base_length(b) && !strncmp(a, b, len)));
}

/* Which all workers like that one drive, 0 = several, or none. */
static uint32_t only_epoll(const struct profile *p, const struct thread_groups *g,
			   const struct driver *drivers, size_t i)
{
	uint32_t epoll = 0;

	for (size_t k = 0; k < g->nr; k++) {
		if (!drivers[k].epoll || !is_like(p, g, drivers, i, k))
			continue;
		if (epoll && epoll != drivers[k].epoll)
			return 0;
		epoll = drivers[k].epoll;
	}
	return epoll;
}

/* Per group the first one of its runtime + 1, 0 = it drives none. Workers are some hundreds. */
static uint32_t *find_runtimes(const struct contexts *c, const struct thread_groups *g)
{
	struct driver *drivers = find_drivers(c, g);
	uint32_t *runtimes = xcalloc(g->nr + 1, sizeof(*runtimes));
	uint32_t *epolls = xcalloc(g->nr + 1, sizeof(*epolls));

	for (size_t i = 0; i < g->nr; i++)
		if (drivers[i].name)
			epolls[i] = drivers[i].epoll ? drivers[i].epoll
						     : only_epoll(c->p, g, drivers, i);
	for (size_t i = 0; i < g->nr; i++) {
		size_t k = drivers[i].name ? 0 : i;

		while (k < i && (epolls[k] != epolls[i] || !is_like(c->p, g, drivers, i, k)))
			k++;
		if (drivers[i].name || drivers[i].alone)
			runtimes[i] = k + 1;
	}
	free(epolls);
	free(drivers);
	return runtimes;
}

static void add_moment(struct gap_spans *s, const struct contexts *c, struct gap_span one)
{
	bool polls = contexts_polls(c, one.sample);

	if (!polls) {
		s->moments = xgrow(s->moments, s->nr_moments, &s->cap_moments, sizeof(*s->moments));
		s->moments[s->nr_moments++] =
			(struct gap_moment){ one.pid, one.tid, one.sample, one.end_ns };
	}
	one.begin_ns = one.end_ns;
	one.doing = polls ? POLLS : one.doing == ELSEWHERE ? ELSEWHERE : RESTS;
	add(s, one);
}

static void add_waits(struct gap_spans *s, const struct contexts *c)
{
	const struct profile *p = c->p;
	struct thread_groups groups;
	uint32_t *runtimes, *likes;

	thread_groups_init(&groups, p);
	runtimes = find_runtimes(c, &groups);
	likes = find_likes(c, &groups);
	for (size_t i = 0; i < p->nr_long_waits; i++) {
		const struct long_wait *w = &p->long_waits[i];
		const struct sample *of = &p->samples[w->sample];
		uint32_t like = likes[w->sample];
		struct gap_span one = { .pid = of->pid,
					.runtime = runtimes[groups.of_sample[w->sample]],
					.tid = of->tid,
					.sample = like,
					.begin_ns = w->begin_ns,
					.end_ns = w->end_ns,
					.doing = doing_at(c, like),
					.preempted = PROF_WAIT_KIND(of->wait) == PROF_PREEMPTED };

		if (one.runtime && waits(of))
			add(s, one);
		else if (one.runtime && PROF_WAIT_KIND(of->wait) == PROF_ON_CPU)
			add_moment(s, c, one);
	}
	free(likes);
	free(runtimes);
	thread_groups_release(&groups);
}

static bool is_same_thread(const struct gap_span *a, const struct gap_span *b)
{
	return a->pid == b->pid && a->tid == b->tid;
}

/*
 * Of those of a thread that lie within another the longer one is left, and one that begins in
 * another goes on from its end. Moments at which a thread ran are needed where nothing else says
 * that it was there: its first and its last one. All that polled are kept.
 */
static void untangle(struct gap_spans *s)
{
	size_t nr = 0;

	for (size_t i = 0; i < s->nr; i++) {
		struct gap_span *own = &s->v[i], *last = nr ? &s->v[nr - 1] : NULL;
		bool first = !last || !is_same_thread(last, own);
		bool end = i + 1 == s->nr || !is_same_thread(own, &s->v[i + 1]);
		bool moment = own->begin_ns == own->end_ns;

		if (moment && own->doing != POLLS && !first && !end)
			continue;
		if (!first && own->begin_ns < last->end_ns && own->end_ns <= last->end_ns)
			continue;
		if (!first && own->begin_ns < last->end_ns)
			own->begin_ns = last->end_ns;
		s->v[nr++] = *own;
	}
	s->nr = nr;
}

/* Between two waits a thread runs; one of the pool that stays there runs no worker. */
static void fill(struct gap_spans *s)
{
	size_t nr = s->nr;

	for (size_t i = 0; i < nr; i++) {
		struct gap_span own = s->v[i], next = i + 1 < nr ? s->v[i + 1] : own;
		bool last = i + 1 == nr || !is_same_thread(&own, &next);

		if (!last && own.end_ns >= next.begin_ns)
			continue;
		own.doing = last || (own.doing == ELSEWHERE && next.doing == ELSEWHERE) ? ELSEWHERE
											: RUNS;
		own.begin_ns = own.end_ns;
		own.end_ns = last ? UINT64_MAX : next.begin_ns;
		add(s, own);
	}
}

void gap_spans_init(struct gap_spans *s, const struct contexts *c)
{
	*s = (struct gap_spans){};
	add_waits(s, c);
	if (s->nr_moments)
		qsort(s->moments, s->nr_moments, sizeof(*s->moments), by_time);
	if (s->nr)
		qsort(s->v, s->nr, sizeof(*s->v), by_thread);
	untangle(s);
	fill(s);
	if (s->nr)
		qsort(s->v, s->nr, sizeof(*s->v), by_runtime);
}

void gap_spans_release(struct gap_spans *s)
{
	free(s->v);
	free(s->moments);
	*s = (struct gap_spans){};
}

/* How many moments lie before that one, or are it. */
static size_t nr_until(const struct gap_spans *s, const struct gap_moment *key)
{
	size_t from = 0, to = s->nr_moments;

	while (from < to) {
		size_t mid = from + (to - from) / 2;

		if (by_time(&s->moments[mid], key) <= 0)
			from = mid + 1;
		else
			to = mid;
	}
	return from;
}

const struct gap_moment *gap_spans_moments(const struct gap_spans *s, const struct gap_span *of,
					   uint64_t begin_ns, uint64_t end_ns, size_t *nr)
{
	struct gap_moment key = { of->pid, of->tid, 0, begin_ns };
	size_t first = nr_until(s, &key);

	key.at_ns = end_ns;
	*nr = nr_until(s, &key) - first;
	return *nr ? s->moments + first : NULL;
}

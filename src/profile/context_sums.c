/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sums by context over the samples of waits. */
#include "profile/context_sums.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "profile/threads.h"
#include "profile/trim.h"

static void add(struct waits_sum *sum, uint64_t ns, uint64_t nr)
{
	sum->ns += ns;
	sum->nr += nr;
}

static void add_kind(struct context_kind_sums *k, const char *kind, uint64_t ns, uint64_t nr)
{
	size_t i = 0;

	while (i < k->nr && strcmp(k->v[i].kind, kind))
		i++;
	if (i == CONTEXT_MAX_KINDS)
		return;
	if (i == k->nr)
		k->v[k->nr++].kind = kind;
	add(&k->v[i].sum, ns, nr);
}

/* Without the number at its end. */
static uint32_t stem_length(const char *name)
{
	uint32_t len = strlen(name);

	while (len > 1 && name[len - 1] >= '0' && name[len - 1] <= '9')
		len--;
	return len;
}

static void add_name(struct context_table *t, const struct profile *p, uint32_t name,
		     uint64_t nr_threads)
{
	const char *text = profile_str(p, name);
	uint32_t stem = stem_length(text);
	size_t i = 0;

	while (i < t->nr_names) {
		const char *other = profile_str(p, t->names[i].name);

		if (stem == stem_length(other) && !strncmp(text, other, stem))
			break;
		i++;
	}
	if (i == CONTEXT_MAX_NAMES)
		return;
	if (i == t->nr_names)
		t->names[t->nr_names++] = (struct context_name){ name, strlen(text), 0 };
	if (t->names[i].name != name)
		t->names[i].shown = stem;
	t->names[i].nr_threads += nr_threads;
}

static void add_to_table(struct context_table *t, const struct sample *of,
			 const struct context_of *c, uint64_t ns)
{
	uint32_t kind = PROF_WAIT_KIND(of->wait);

	if (kind == PROF_RUNNING || kind == PROF_ON_CPU) {
		t->running_ns += ns;
	} else if (kind != PROF_BLOCKED) {
		add(&t->queue, ns, of->count);
	} else {
		add(&t->by[c->context], ns, of->count);
		if (c->context == CONTEXT_TASK)
			add_kind(&t->kinds, c->kind, ns, of->count);
		else if (c->context == CONTEXT_MAIN_FUTURE)
			add_kind(&t->mains, c->kind, ns, of->count);
	}
}

static void add_sample(struct context_sums *s, const struct sample *of, const struct context_of *c,
		       uint64_t ns)
{
	uint32_t kind = PROF_WAIT_KIND(of->wait);

	if (kind == PROF_RUNNING || kind == PROF_ON_CPU)
		return;
	add(&s->all[c->context], ns, of->count);
	if (kind == PROF_BLOCKED && c->context == CONTEXT_TASK)
		add_kind(&s->kinds, c->kind, ns, of->count);
}

static int by_time(const void *x, const void *y)
{
	const struct context_kind_sum *a = x, *b = y;

	if (a->sum.ns != b->sum.ns)
		return a->sum.ns > b->sum.ns ? -1 : 1;
	return strcmp(a->kind, b->kind);
}

/* Those of as many threads as they were met: strings have numbers in that order. */
static int by_threads(const void *x, const void *y)
{
	const struct context_name *a = x, *b = y;

	if (a->nr_threads != b->nr_threads)
		return a->nr_threads > b->nr_threads ? -1 : 1;
	return a->name < b->name ? -1 : 1;
}

static void count_threads(struct context_sums *s, const struct trim *t,
			  const struct thread_groups *groups)
{
	uint8_t *role = xcalloc(groups->nr + 1, 1);

	for (size_t i = 0; i < t->p->nr_samples; i++) {
		const struct context_of *c = trim_context(t, i);

		if (c && c->context != CONTEXT_NONE)
			role[groups->of_sample[i]] = c->learned;
	}
	for (size_t i = 0; i < groups->nr; i++) {
		const struct thread_group *g = &groups->v[i];

		s->nr_threads[role[i]] += !role[i]		     ? 0
					  : g->tid || !g->nr_threads ? 1
								     : g->nr_threads;
	}
	free(role);
}

/* Per group its table + 1, 0 = none. One that waits in a driver and is no worker is alone. */
static uint8_t *sort_threads(const struct trim *t, const struct thread_groups *groups)
{
	uint8_t *sorts = xcalloc(groups->nr + 1, 1);

	for (size_t i = 0; i < t->p->nr_samples; i++) {
		const struct context_of *c = trim_context(t, i);
		uint8_t *to = &sorts[groups->of_sample[i]];

		if (!c || c->context == CONTEXT_NONE)
			continue;
		if (c->learned == ROLE_WORKER)
			*to = SORT_WORKERS + 1;
		else if (c->context == CONTEXT_IDLE_DRIVER && c->learned != ROLE_POOL)
			*to = SORT_ALONE + 1;
	}
	return sorts;
}

/* The table + 1 that a sample is in, 0 = none. */
static uint8_t sort_of(const struct context_of *c, uint8_t of_thread)
{
	return of_thread || c->role != ROLE_WORKER ? of_thread : SORT_MOVED + 1;
}

/* Threads that were workers, but not for most of the time. */
static void count_moved(struct context_sums *s, const struct trim *t,
			const struct thread_groups *groups, const uint8_t *sorts)
{
	bool *moved = xcalloc(groups->nr + 1, sizeof(*moved));

	for (size_t i = 0; i < t->p->nr_samples; i++) {
		const struct context_of *c = trim_context(t, i);
		uint32_t group = groups->of_sample[i];

		if (c && sort_of(c, sorts[group]) == SORT_MOVED + 1 && !moved[group]) {
			moved[group] = true;
			s->tables[SORT_MOVED].nr_threads++;
		}
	}
	free(moved);
}

/* Which threads they are, and how long they were watched. */
static void add_threads(struct context_sums *s, const struct profile *p,
			const struct thread_groups *groups, const uint8_t *sorts)
{
	for (size_t i = 0; i < groups->nr; i++) {
		const struct thread_group *g = &groups->v[i];
		uint64_t nr = g->tid || !g->nr_threads ? 1 : g->nr_threads;
		struct context_table *t = sorts[i] ? &s->tables[sorts[i] - 1] : NULL;

		if (!t)
			continue;
		t->nr_threads += nr;
		add_name(t, p, g->thread, nr);
		t->ns += g->wall_ns ? g->wall_ns : nr * p->meta.duration_ns;
	}
}

static void find_mangling(struct context_sums *s, const struct profile *p)
{
	for (size_t i = 1; i < p->nr_frames; i++) {
		const char *name = profile_frame_linkage(p, i);

		s->legacy |= !strncmp(name, "_ZN", 3) && strstr(name, "17h");
		s->v0 |= !strncmp(name, "_R", 2);
	}
}

/* Whether waits of threads that were recorded were left out, by -m, -M or --state, or by lock. */
static bool waits_are_filtered(const struct profile *p)
{
	return p->counters[PROF_FILTER_SHORT] || p->counters[PROF_FILTER_LONG] ||
	       p->counters[PROF_FILTER_STATE] || p->counters[PROF_FILTER_WAIT];
}

/*
 * What is left is what nobody counted: of offcpu, that they ran, as far as there are CPUs for it.
 * More is time in which they were not born, or had ended.
 */
static void close_table(struct context_sums *s, struct context_table *t, const struct profile *p)
{
	const struct profile_meta *m = &p->meta;
	uint64_t all = t->queue.ns, most = m->duration_ns * m->nr_cpus;

	for (uint32_t i = 0; i < CONTEXT_NR; i++)
		all += t->by[i].ns;
	t->measured = t->running_ns != 0;
	if (t == &s->tables[SORT_MOVED]) /* of which nobody knows how long they were workers */
		t->ns = all + t->running_ns;
	t->filtered = !t->measured && waits_are_filtered(p);
	if (t->measured)
		t->residual_ns = (int64_t)(t->ns - all - t->running_ns);
	else
		t->running_ns = t->ns > all ? t->ns - all : 0;
	if (!t->measured && !t->filtered && m->nr_cpus && t->running_ns > most) {
		t->residual_ns = (int64_t)(t->running_ns - most);
		t->running_ns = most;
	}
	if (!t->measured && all > t->ns)
		t->residual_ns = (int64_t)(t->ns - all);
	qsort(t->kinds.v, t->kinds.nr, sizeof(*t->kinds.v), by_time);
	qsort(t->mains.v, t->mains.nr, sizeof(*t->mains.v), by_time);
	qsort(t->names, t->nr_names, sizeof(*t->names), by_threads);
}

bool context_sums_init(struct context_sums *s, const struct profile *p, const struct view *v)
{
	struct thread_groups groups;
	struct trim trim;
	uint8_t *sorts;
	uint64_t *ns;
	bool any = false;

	*s = (struct context_sums){};
	if (!p->meta.is_time)
		return false;
	trim_init(&trim, p, v);
	s->by_form = contexts_by_form(&trim.contexts);
	if (trim.contexts.v) {
		thread_groups_init(&groups, p);
		ns = thread_weights(p, &groups);
		sorts = sort_threads(&trim, &groups);
		for (size_t i = 0; i < p->nr_samples; i++) {
			const struct context_of *c = trim_context(&trim, i);
			uint8_t sort;

			if (!c)
				continue;
			sort = sort_of(c, sorts[groups.of_sample[i]]);
			any = true;
			s->runtime = c->runtime - 1;
			add_sample(s, &p->samples[i], c, ns[i]);
			if (sort)
				add_to_table(&s->tables[sort - 1], &p->samples[i], c, ns[i]);
		}
		count_threads(s, &trim, &groups);
		add_threads(s, p, &groups, sorts);
		count_moved(s, &trim, &groups, sorts);
		find_mangling(s, p);
		for (size_t i = 0; i < NR_SORTS; i++)
			close_table(s, &s->tables[i], p);
		qsort(s->kinds.v, s->kinds.nr, sizeof(*s->kinds.v), by_time);
		free(sorts);
		free(ns);
		thread_groups_release(&groups);
	}
	trim_release(&trim);
	return any;
}

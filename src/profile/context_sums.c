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

static void add_name(struct context_sums *s, uint32_t name, uint64_t nr_threads)
{
	size_t i = 0;

	while (i < s->nr_names && s->names[i].name != name)
		i++;
	if (i == CONTEXT_MAX_NAMES)
		return;
	if (i == s->nr_names)
		s->names[s->nr_names++].name = name;
	s->names[i].nr_threads += nr_threads;
}

static void add_sample(struct context_sums *s, const struct sample *of, const struct context_of *c,
		       uint64_t ns)
{
	uint32_t kind = PROF_WAIT_KIND(of->wait);
	bool worker = c->learned == ROLE_WORKER;

	if (kind == PROF_RUNNING || kind == PROF_ON_CPU) {
		s->running_ns += worker ? ns : 0;
		return;
	}
	add(&s->all[c->context], ns, of->count);
	if (kind != PROF_BLOCKED) {
		if (worker)
			add(&s->queue, ns, of->count);
		return;
	}
	if (worker)
		add(&s->by[c->context], ns, of->count);
	if (c->context != CONTEXT_TASK)
		return;
	add_kind(&s->kinds, c->kind, ns, of->count);
	if (worker)
		add_kind(&s->worker_kinds, c->kind, ns, of->count);
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

/* Threads by the role of their samples, and how long workers were watched. */
static void add_threads(struct context_sums *s, const struct trim *t,
			const struct thread_groups *groups)
{
	const struct profile *p = t->p;
	uint8_t *role = xcalloc(groups->nr + 1, 1);

	for (size_t i = 0; i < p->nr_samples; i++) {
		const struct context_of *c = trim_context(t, i);

		if (c && c->context != CONTEXT_NONE)
			role[groups->of_sample[i]] = c->learned;
	}
	for (size_t i = 0; i < groups->nr; i++) {
		const struct thread_group *g = &groups->v[i];
		uint64_t nr = g->tid || !g->nr_threads ? 1 : g->nr_threads;

		s->nr_threads[role[i]] += role[i] ? nr : 0;
		if (role[i] != ROLE_WORKER)
			continue;
		add_name(s, g->thread, nr);
		s->worker_ns += g->wall_ns ? g->wall_ns : nr * p->meta.duration_ns;
	}
	qsort(s->names, s->nr_names, sizeof(*s->names), by_threads);
	free(role);
}

static void find_mangling(struct context_sums *s, const struct profile *p)
{
	for (size_t i = 1; i < p->nr_frames; i++) {
		const char *name = profile_frame_linkage(p, i);

		s->legacy |= !strncmp(name, "_ZN", 3) && strstr(name, "17h");
		s->v0 |= !strncmp(name, "_R", 2);
	}
}

/*
 * What is left is what nobody counted: of offcpu, that they ran, as far as there are CPUs for it.
 * More is time in which they were not born, or had ended.
 */
static void close_sums(struct context_sums *s, const struct profile_meta *m)
{
	uint64_t all = s->queue.ns, most = m->duration_ns * m->nr_cpus;

	for (uint32_t i = 0; i < CONTEXT_NR; i++)
		all += s->by[i].ns;
	s->measured = s->running_ns != 0;
	if (s->measured)
		s->residual_ns = (int64_t)(s->worker_ns - all - s->running_ns);
	else
		s->running_ns = s->worker_ns > all ? s->worker_ns - all : 0;
	if (!s->measured && m->nr_cpus && s->running_ns > most) {
		s->residual_ns = (int64_t)(s->running_ns - most);
		s->running_ns = most;
	}
	if (!s->measured && all > s->worker_ns)
		s->residual_ns = (int64_t)(s->worker_ns - all);
	qsort(s->kinds.v, s->kinds.nr, sizeof(*s->kinds.v), by_time);
	qsort(s->worker_kinds.v, s->worker_kinds.nr, sizeof(*s->worker_kinds.v), by_time);
}

bool context_sums_init(struct context_sums *s, const struct profile *p, const struct view *v)
{
	struct thread_groups groups;
	struct trim trim;
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
		for (size_t i = 0; i < p->nr_samples; i++) {
			const struct context_of *c = trim_context(&trim, i);

			if (!c)
				continue;
			any = true;
			s->runtime = c->runtime - 1;
			add_sample(s, &p->samples[i], c, ns[i]);
		}
		add_threads(s, &trim, &groups);
		find_mangling(s, p);
		close_sums(s, &p->meta);
		free(ns);
		thread_groups_release(&groups);
	}
	trim_release(&trim);
	return any;
}

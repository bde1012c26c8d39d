/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sums of windows. Owners that were not seen for an hour make room for others; to a reader a series
 * that comes back later is a counter that was set back, as after a restart. When there is no room
 * the owner is "other".
 */
#include "serve/metrics.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <uthash.h>

#include "base/mem.h"
#include "profile/kind.h"
#include "serve/metrics_parts.h"

#define NS_PER_S 1000000000ull
#define HOUR_NS	 (3600 * NS_PER_S)

struct metrics *metrics_new(uint32_t max_owners)
{
	struct metrics *m = xcalloc(1, sizeof(*m));

	m->max_owners = max_owners ? max_owners : METRICS_MAX_OWNERS;
	return m;
}

static void free_owner(struct metrics *m, struct metrics_owner *o)
{
	HASH_DEL(m->owners, o);
	m->nr_hists -= o->hists && !o->is_other;
	free(o->key);
	free(o->labels);
	free(o->hists);
	free(o);
}

void metrics_free(struct metrics *m)
{
	struct metrics_owner *o, *next;

	if (!m)
		return;
	HASH_ITER (hh, m->owners, o, next)
		free_owner(m, o);
	for (size_t i = 0; i < m->nr_rows; i++) {
		free((char *)m->rows[i].name);
		free((char *)m->rows[i].help);
		free((char *)m->rows[i].labels);
	}
	free(m->rows);
	free(m);
}

/* --- owners --- */

static const char *const owner_labels[] = { "service_name", "namespace", "pod", "container" };

/* "service_name=\"a\",namespace=\"\",…": all of a metric have the same labels. */
static char *owner_text(const struct labels *l)
{
	char *text = xstrdup(""), *more, *value;
	const char *v;

	for (size_t i = 0; i < sizeof(owner_labels) / sizeof(*owner_labels); i++) {
		v = l ? labels_get(l, owner_labels[i]) : NULL;
		value = metrics_escape(v ? v : "");
		more = xasprintf("%s%s%s=\"%s\"", text, i ? "," : "", owner_labels[i], value);
		free(text);
		free(value);
		text = more;
	}
	return text;
}

static void forget_old(struct metrics *m)
{
	struct metrics_owner *o, *next;

	HASH_ITER (hh, m->owners, o, next)
		if (m->now_ns - o->seen_ns > HOUR_NS)
			free_owner(m, o);
}

static struct metrics_owner *take_owner(struct metrics *m, char *labels)
{
	struct metrics_owner *o;

	HASH_FIND_STR(m->owners, labels, o);
	if (o) {
		free(labels);
		return o;
	}
	o = xcalloc(1, sizeof(*o));
	o->labels = labels;
	o->key = xstrdup(labels);
	HASH_ADD_KEYPTR(hh, m->owners, o->key, strlen(o->key), o);
	return o;
}

static struct metrics_owner *take_other(struct metrics *m)
{
	struct labels other = {};
	struct metrics_owner *o;

	labels_set(&other, "service_name", "other");
	o = take_owner(m, owner_text(&other));
	labels_release(&other);
	m->nr_hists -= o->hists && !o->is_other; /* a service may be called so */
	o->is_other = true;
	o->seen_ns = m->now_ns;
	return o;
}

static struct metrics_owner *find_owner(struct metrics *m, const struct labels *l)
{
	struct metrics_owner *o;
	char *text = owner_text(l);

	HASH_FIND_STR(m->owners, text, o);
	if (!o && HASH_COUNT(m->owners) >= m->max_owners)
		forget_old(m);
	if (!o && HASH_COUNT(m->owners) >= m->max_owners) {
		free(text);
		return take_other(m);
	}
	o = take_owner(m, text);
	o->seen_ns = m->now_ns;
	return o;
}

/* Samples of a process mostly stand together. */
struct asker {
	struct metrics *m;
	metrics_who who;
	void *arg;
	uint32_t pid;
	struct metrics_owner *owner; /* of pid */
};

static struct metrics_owner *owner_of(struct asker *a, uint32_t pid)
{
	if (!a->owner || pid != a->pid)
		a->owner = find_owner(a->m, a->who ? a->who(a->arg, pid) : NULL);
	a->pid = pid;
	return a->owner;
}

/* --- how long waits were --- */

/* An owner's own; those of "other" when there are too many. */
static struct metrics_hist *hists_of(struct metrics *m, struct metrics_owner *o)
{
	if (!o->hists && !o->is_other &&
	    m->nr_hists >= (uint64_t)m->max_owners * METRICS_HISTS_OF / METRICS_HISTS_TO)
		o = take_other(m);
	if (!o->hists) {
		o->hists = xcalloc(METRICS_NR_HISTS, sizeof(*o->hists));
		m->nr_hists += !o->is_other;
	}
	return o->hists;
}

/* Bounds are those of the kernel's buckets: each of these lies in one of ours. */
static unsigned int bucket_of(unsigned int index)
{
	unsigned int end = PROF_WAIT_BUCKET_SHIFT + index, i = 0; /* a power of two of ns */

	while (i < METRICS_BUCKETS && (index + 1 >= PROF_WAIT_BUCKETS || end > metrics_bound(i)))
		i++;
	return i;
}

static void add_ended(struct metrics_hist *h, const struct ended *e)
{
	for (unsigned int i = 0; i < PROF_WAIT_BUCKETS; i++) {
		h->counts[bucket_of(i)] += e->count[i];
		h->count += e->count[i];
	}
	h->sum_ns += e->ns;
}

static bool is_runnable(uint32_t class)
{
	return class < WAIT_NR_CLASSES && 1u << class & WAIT_RUNNABLE;
}

static void add_lengths(struct asker *a, const struct metrics_window *w, const struct waits *waits)
{
	for (size_t i = 0; i < w->nr_ended; i++) {
		const struct ended *e = &w->ended[i];
		uint32_t class = waits->class_of[e->sample];

		if (waits->idle_is[e->sample])
			class = METRICS_IDLE;
		else if (class == WAITS_ON_CPU)
			continue;
		else if (is_runnable(class))
			class = METRICS_RUN_QUEUE;
		add_ended(&hists_of(a->m, owner_of(a, w->p->samples[e->sample].pid))[class], e);
	}
}

/* --- samples --- */

static void add_waits(const struct metrics_window *window, struct asker *a)
{
	const struct profile *p = window->p;
	const struct view v = {};
	struct waits w;

	waits_init(&w, p, &v);
	for (size_t i = 0; i < p->nr_samples; i++) {
		struct metrics_owner *o = owner_of(a, p->samples[i].pid);

		if (w.class_of[i] == WAITS_ON_CPU)
			o->cpu_ns += w.ns[i];
		else
			o->wait_ns[w.idle_is[i] ? METRICS_IDLE : w.class_of[i]] += w.ns[i];
	}
	add_lengths(a, window, &w);
	waits_release(&w);
}

static void add_running(const struct profile *p, struct asker *a)
{
	bool is_clock = profile_is_clock(profile_str(p, p->meta.event));

	for (size_t i = 0; i < p->nr_samples; i++) {
		const struct sample *s = &p->samples[i];

		if (is_clock)
			owner_of(a, s->pid)->cpu_ns += s->weight;
		else if (p->meta.rate_hz)
			owner_of(a, s->pid)->cpu_ns += s->count * NS_PER_S / p->meta.rate_hz;
	}
}

static void add_cost(struct metrics *m, const struct profile_meta *meta)
{
	uint64_t ns = meta->cpu_ns + meta->bpf_ns + meta->interrupts_ns;
	double all_ns = (double)meta->duration_ns * (double)meta->nr_cpus;

	m->cost_ns += ns;
	m->thinned_ns += meta->thinned_ns;
	m->missed += meta->missed;
	m->overhead = all_ns > 0 ? (double)ns / all_ns : 0;
	m->budget = (double)meta->budget_ppm / 1e6;
	m->rss_bytes = meta->rss_bytes;
	m->window_ns += meta->duration_ns;
	m->start_ns = meta->start_ns;
	m->nr_windows++;
}

void metrics_add(struct metrics *m, const struct metrics_window *w, metrics_who who, void *arg)
{
	struct asker a = { .m = m, .who = who, .arg = arg };

	m->now_ns = w->p->meta.start_ns;
	if (kind_of_profile(w->p)->waits)
		add_waits(w, &a);
	else
		add_running(w->p, &a);
	for (size_t i = 0; i < PROF_NR_COUNTERS; i++)
		m->ledger[i] += w->p->counters[i];
	add_cost(m, &w->p->meta);
}

/* --- rows of others --- */

void metrics_set(struct metrics *m, const struct metrics_row *row)
{
	for (size_t i = 0; i < m->nr_rows; i++)
		if (!strcmp(m->rows[i].name, row->name) &&
		    !strcmp(m->rows[i].labels, row->labels)) {
			m->rows[i].value = row->value;
			return;
		}
	m->rows = xgrow(m->rows, m->nr_rows, &m->cap_rows, sizeof(*m->rows));
	m->rows[m->nr_rows++] = (struct metrics_row){ .name = xstrdup(row->name),
						      .help = xstrdup(row->help),
						      .labels = xstrdup(row->labels),
						      .value = row->value };
}

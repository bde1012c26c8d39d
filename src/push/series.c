/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Samples find their series by process, then by labels and class. */
#include "push/series.h"

#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/mem.h"
#include "base/text.h"
#include "profile/kind.h"
#include "profile/waits.h"
#include "push/forms.h"
#include "push/ledger.h"

#define SERVICE "service_name"

/* A process, as samples name it. */
struct process {
	uint32_t pid, name, owner;
};

/* Equal labels, one owner. */
struct owner {
	struct labels labels;
};

struct builder {
	const struct profile *p;
	const struct series_opts *o;
	struct series_set *set;
	struct process *processes;
	struct owner *owners;
	uint32_t (*keys)[2]; /* of each series: owner and class */
	size_t nr_processes, cap_processes, nr_owners, cap_owners, nr_keys, cap_keys;
	struct index process_index, owner_index, series_index;
};

struct wanted {
	const struct builder *b;
	const void *key;
};

static bool is_process(const void *arg, uint32_t id)
{
	const struct wanted *w = arg;

	return !memcmp(w->key, &w->b->processes[id], offsetof(struct process, owner));
}

static bool is_owner(const void *arg, uint32_t id)
{
	const struct wanted *w = arg;

	return !labels_compare(w->key, &w->b->owners[id].labels);
}

static bool is_series(const void *arg, uint32_t id)
{
	const struct wanted *w = arg;

	return !memcmp(w->key, w->b->keys[id], sizeof(w->b->keys[id]));
}

static void set_missing(struct labels *l, const char *name, const char *value)
{
	char *clean = text_cleaned(value);

	if (!labels_get(l, name))
		labels_set(l, name, clean);
	free(clean);
}

/* With what all have: the labels of the user win. */
static void complete(const struct builder *b, struct labels *l, const char *service)
{
	for (size_t i = 0; i < b->o->labels->nr; i++)
		labels_set(l, b->o->labels->v[i].name, b->o->labels->v[i].value);
	set_missing(l, SERVICE, *service ? service : "unknown");
	set_missing(l, "host", profile_str(b->p, b->p->meta.host));
}

static uint32_t hash_labels(const struct labels *l)
{
	uint32_t hash = 0;

	for (size_t i = 0; i < l->nr; i++) {
		hash = index_hash(hash, l->v[i].name, strlen(l->v[i].name) + 1);
		hash = index_hash(hash, l->v[i].value, strlen(l->v[i].value) + 1);
	}
	return hash;
}

/* Takes the labels. */
static uint32_t add_owner(struct builder *b, struct labels *l)
{
	const struct wanted w = { b, l };
	uint32_t id, hash = hash_labels(l);

	if (index_find(&b->owner_index, hash, is_owner, &w, &id)) {
		labels_release(l);
		return id;
	}
	b->owners = xgrow(b->owners, b->nr_owners, &b->cap_owners, sizeof(*b->owners));
	b->owners[b->nr_owners].labels = *l;
	index_add(&b->owner_index, hash, b->nr_owners);
	return b->nr_owners++;
}

static uint32_t owner_of(struct builder *b, const struct sample *s)
{
	struct process process = { s->pid, s->process, 0 };
	const struct wanted w = { b, &process };
	uint32_t id, hash = index_hash(0, &process, offsetof(struct process, owner));
	const struct labels *known;
	struct labels l = {};

	if (index_find(&b->process_index, hash, is_process, &w, &id))
		return b->processes[id].owner;
	known = b->o->who ? b->o->who(b->o->arg, s->pid) : NULL;
	if (known)
		labels_copy(&l, known);
	complete(b, &l, profile_str(b->p, s->process));
	process.owner = add_owner(b, &l);
	b->processes =
		xgrow(b->processes, b->nr_processes, &b->cap_processes, sizeof(*b->processes));
	b->processes[b->nr_processes] = process;
	index_add(&b->process_index, hash, b->nr_processes++);
	return process.owner;
}

static uint32_t series_of_key(struct builder *b, uint32_t owner, uint32_t class)
{
	uint32_t key[2] = { owner, class }, id, hash = index_hash(0, key, sizeof(key));
	const struct wanted w = { b, key };
	struct series_set *set = b->set;
	struct series *s;

	if (index_find(&b->series_index, hash, is_series, &w, &id))
		return id;
	b->keys = xgrow(b->keys, b->nr_keys, &b->cap_keys, sizeof(*b->keys));
	memcpy(b->keys[b->nr_keys], key, sizeof(key));
	index_add(&b->series_index, hash, b->nr_keys++);
	set->v = xgrow(set->v, set->nr, &set->cap, sizeof(*set->v));
	s = &set->v[set->nr++];
	*s = (struct series){ .from = &set->window_samples };
	labels_copy(&s->labels, &b->owners[owner].labels);
	return set->nr - 1;
}

static uint32_t series_of(void *arg, const struct profile *p, const struct sample *s,
			  uint32_t class)
{
	struct builder *b = arg;

	return series_of_key(b, owner_of(b, s), form_class(b->p, class));
}

static uint64_t weight_of(const struct dictionary *d, uint32_t sample)
{
	return d->values[sample * d->types.nr + d->types.shown];
}

static void add_sample(struct series *s, uint32_t sample, uint64_t weight)
{
	s->samples = xgrow(s->samples, s->nr, &s->cap, sizeof(*s->samples));
	s->samples[s->nr++] = sample;
	s->weight += weight;
}

/* --- the cap --- */

static int by_weight(const void *x, const void *y, void *arg)
{
	const struct series *a = (struct series *)arg + *(const uint32_t *)x;
	const struct series *b = (struct series *)arg + *(const uint32_t *)y;

	return a->weight == b->weight ? 0 : a->weight > b->weight ? -1 : 1;
}

/* The owner of what there are too many of. */
static uint32_t add_other(struct builder *b)
{
	struct labels l = {};

	complete(b, &l, "other");
	labels_set(&l, SERVICE, "other");
	return add_owner(b, &l);
}

static void fold(struct builder *b, uint32_t series, uint32_t other)
{
	uint32_t to = series_of_key(b, other, b->keys[series][1]);
	struct series *from = &b->set->v[series];

	if (to == series)
		return;
	for (size_t i = 0; i < from->nr; i++)
		add_sample(&b->set->v[to], from->samples[i],
			   weight_of(&b->set->window_samples, from->samples[i]));
	from->nr = 0;
	b->set->folded++;
}

/* The greatest stay, so engines have no more series than they were said to get, but for "other". */
static void keep_greatest(struct builder *b)
{
	size_t nr = b->set->nr;
	uint32_t *order = xcalloc(nr + 1, sizeof(*order)), other;

	if (nr <= b->o->max_series) {
		free(order);
		return;
	}
	for (size_t i = 0; i < nr; i++)
		order[i] = i;
	qsort_r(order, nr, sizeof(*order), by_weight, b->set->v);
	other = add_other(b);
	for (size_t i = b->o->max_series; i < nr; i++)
		fold(b, order[i], other);
	free(order);
}

/* --- all of it --- */

static void add_figures(struct builder *b, struct profile *figures, struct dictionary *d,
			const char *name, const char *unit)
{
	const struct view view = { .runtime = RUNTIME_OFF };
	struct series_set *set = b->set;
	struct series *s;

	dictionary_init(d, figures, &view);
	if (!d->nr_samples)
		return;
	set->v = xgrow(set->v, set->nr, &set->cap, sizeof(*set->v));
	s = &set->v[set->nr++];
	*s = (struct series){ .from = d, .name = name };
	complete(b, &s->labels, "bpfprof");
	labels_set(&s->labels, SERVICE, "bpfprof");
	form_figures(&s->types, name, unit);
	for (size_t i = 0; i < d->nr_samples; i++)
		add_sample(s, i, weight_of(d, i));
}

static void build(struct builder *b)
{
	const struct view view = { .idle = IDLE_SHOW, .runtime = RUNTIME_OFF };
	const struct dictionary_series by_series = { series_of, b };
	struct series_set *set = b->set;
	struct dictionary *d = &set->window_samples;

	dictionary_init_series(d, b->p, &view, &by_series);
	for (size_t i = 0; i < d->nr_samples; i++)
		add_sample(&set->v[d->samples[i].series], i, weight_of(d, i));
	keep_greatest(b);
	for (size_t i = 0; i < set->nr; i++) {
		form_series(&set->v[i], b->p, b->keys[i][1]);
		if (b->o->min_weight > 0 || set->folded)
			series_prune(d, &set->v[i], b->o->min_weight);
	}
}

static void drop_empty(struct series_set *set)
{
	size_t nr = 0;

	for (size_t i = 0; i < set->nr; i++) {
		if (set->v[i].nr) {
			set->v[nr++] = set->v[i];
			continue;
		}
		labels_release(&set->v[i].labels);
		free(set->v[i].samples);
	}
	set->nr = nr;
}

/* Those with the same labels next to each other. */
static int by_labels(const void *x, const void *y)
{
	return labels_compare(&((const struct series *)x)->labels,
			      &((const struct series *)y)->labels);
}

static void builder_release(struct builder *b)
{
	for (size_t i = 0; i < b->nr_owners; i++)
		labels_release(&b->owners[i].labels);
	free(b->owners);
	free(b->processes);
	free(b->keys);
	index_release(&b->process_index);
	index_release(&b->owner_index);
	index_release(&b->series_index);
}

void series_set_init(struct series_set *set, const struct profile *p, const struct series_opts *o)
{
	struct builder b = { .p = p, .o = o, .set = set };

	*set = (struct series_set){ .start_ns = p->meta.start_ns,
				    .duration_ns = p->meta.duration_ns };
	build(&b);
	set->ledger = ledger_counts(p);
	set->cost = ledger_cost(p);
	add_figures(&b, set->ledger, &set->ledger_samples, "ledger", "count");
	add_figures(&b, set->cost, &set->cost_samples, "cost", "nanoseconds");
	builder_release(&b);
	drop_empty(set);
	if (set->nr)
		qsort(set->v, set->nr, sizeof(*set->v), by_labels);
}

void series_set_release(struct series_set *set)
{
	for (size_t i = 0; i < set->nr; i++) {
		labels_release(&set->v[i].labels);
		free(set->v[i].samples);
	}
	free(set->v);
	dictionary_release(&set->window_samples);
	dictionary_release(&set->ledger_samples);
	dictionary_release(&set->cost_samples);
	profile_free(set->ledger);
	profile_free(set->cost);
}

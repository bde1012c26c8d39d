/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/labels.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Where it is, or where it belongs. */
static size_t place_of(const struct labels *l, const char *name)
{
	size_t i = 0;

	while (i < l->nr && strcmp(l->v[i].name, name) < 0)
		i++;
	return i;
}

static bool is_at(const struct labels *l, size_t i, const char *name)
{
	return i < l->nr && !strcmp(l->v[i].name, name);
}

static void drop(struct labels *l, size_t i)
{
	free(l->v[i].name);
	free(l->v[i].value);
	memmove(&l->v[i], &l->v[i + 1], (--l->nr - i) * sizeof(*l->v));
}

static void insert(struct labels *l, size_t i, const char *name, const char *value)
{
	l->v = xgrow(l->v, l->nr, &l->cap, sizeof(*l->v));
	memmove(&l->v[i + 1], &l->v[i], (l->nr++ - i) * sizeof(*l->v));
	l->v[i] = (struct label){ xstrdup(name), xstrdup(value) };
}

void labels_set(struct labels *l, const char *name, const char *value)
{
	size_t i = place_of(l, name);
	bool has = is_at(l, i, name), keep = value && *value;
	char *copy;

	if (has && keep) {
		copy = xstrdup(value); /* it may be the one that is there */
		free(l->v[i].value);
		l->v[i].value = copy;
	} else if (has) {
		drop(l, i);
	} else if (keep) {
		insert(l, i, name, value);
	}
}

const char *labels_get(const struct labels *l, const char *name)
{
	size_t i = place_of(l, name);

	return is_at(l, i, name) ? l->v[i].value : NULL;
}

int labels_compare(const struct labels *a, const struct labels *b)
{
	int d;

	for (size_t i = 0; i < a->nr && i < b->nr; i++) {
		d = strcmp(a->v[i].name, b->v[i].name);
		if (!d)
			d = strcmp(a->v[i].value, b->v[i].value);
		if (d)
			return d;
	}
	return (a->nr > b->nr) - (a->nr < b->nr);
}

void labels_copy(struct labels *to, const struct labels *from)
{
	struct labels copy = {};

	for (size_t i = 0; i < from->nr; i++)
		insert(&copy, i, from->v[i].name, from->v[i].value);
	labels_release(to);
	*to = copy;
}

void labels_release(struct labels *l)
{
	while (l->nr)
		drop(l, l->nr - 1);
	free(l->v);
	*l = (struct labels){};
}

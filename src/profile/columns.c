/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sums of counters by the name of the innermost function. */
#include "profile/columns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <uthash.h>

#include "base/mem.h"

struct columns_sum {
	const char *name; /* of the trees */
	struct prof_event_count counted[PMU_MAX_EVENTS];
	UT_hash_handle hh;
};

static void add(const struct columns *c, struct prof_event_count *to,
		const struct prof_event_count *from)
{
	for (size_t i = 0; i < 2 * c->profile->nr_columns; i++) {
		to[i].value += from[i].value;
		to[i].enabled_ns += from[i].enabled_ns;
		to[i].running_ns += from[i].running_ns;
	}
}

static struct columns_sum *sum_get(struct columns *c, char *name)
{
	struct columns_sum *sum;

	HASH_FIND_STR(c->by_name, name, sum);
	if (sum) {
		free(name);
		return sum;
	}
	sum = xcalloc(1, sizeof(*sum));
	sum->name = name;
	HASH_ADD_KEYPTR(hh, c->by_name, sum->name, strlen(sum->name), sum);
	return sum;
}

void columns_init(struct columns *c, const struct profile *p, const struct view *view)
{
	char *leaf;

	*c = (struct columns){ .profile = p };
	for (size_t i = 0; p->nr_columns && i < p->nr_samples; i++) {
		const struct prof_event_count *counted = &p->counted[i * 2 * p->nr_columns];

		add(c, c->all, counted);
		leaf = view_leaf(view, p, &p->samples[i]);
		if (leaf)
			add(c, sum_get(c, leaf)->counted, counted);
	}
}

void columns_release(struct columns *c)
{
	struct columns_sum *sum, *tmp;

	HASH_ITER (hh, c->by_name, sum, tmp) {
		HASH_DEL(c->by_name, sum);
		free((char *)sum->name);
		free(sum);
	}
}

/* As if it had been on the hardware all the time. */
static double scaled(const struct prof_event_count *n)
{
	return n->running_ns ? (double)n->value * n->enabled_ns / n->running_ns : NAN;
}

static double share(const struct prof_event_count *n)
{
	return n->enabled_ns ? (double)n->running_ns / n->enabled_ns : 0;
}

struct columns_value columns_get(const struct columns *c, const char *name, size_t i)
{
	const struct prof_event_count *n = c->all;
	struct columns_value v = { NAN, 0 };
	struct columns_sum *sum;
	double part, whole;

	if (name) {
		HASH_FIND_STR(c->by_name, name, sum);
		if (!sum)
			return v;
		n = sum->counted;
	}
	n += 2 * i;
	part = scaled(&n[0]);
	whole = scaled(&n[1]);
	v.coverage = fmin(share(&n[0]), share(&n[1]));
	if (whole > 0)
		v.value = part / whole * c->profile->columns[i].per;
	return v;
}

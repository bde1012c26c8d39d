/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Memory is by slots that were ever added to, not by all that there are. */
#include "collect/endings.h"

#include <stdlib.h>

#include "base/mem.h"

struct endings_before {
	uint32_t count[PROF_WAIT_BUCKETS];
};

void endings_init(struct endings *e, const union prof_wait_hist *hists, size_t nr_slots)
{
	*e = (struct endings){ .hists = hists };
	if (hists)
		e->row1_of = xcalloc(nr_slots, sizeof(*e->row1_of));
}

void endings_release(struct endings *e)
{
	free(e->row1_of);
	free(e->before);
	free(e->rows);
	*e = (struct endings){};
}

void endings_begin(struct endings *e)
{
	e->nr = 0;
}

static struct endings_before *before(struct endings *e, size_t slot)
{
	if (!e->row1_of[slot]) {
		e->before = xgrow(e->before, e->nr_before, &e->cap_before, sizeof(*e->before));
		e->before[e->nr_before++] = (struct endings_before){};
		e->row1_of[slot] = e->nr_before;
	}
	return &e->before[e->row1_of[slot] - 1];
}

void endings_see(struct endings *e, size_t slot, uint32_t sum, uint64_t ns)
{
	struct endings_before *b;
	struct ended row = { .sample = sum, .ns = ns };

	if (!e->hists)
		return;
	b = before(e, slot);
	for (size_t i = 0; i < PROF_WAIT_BUCKETS; i++) {
		uint32_t now = __atomic_load_n(&e->hists[slot].count[i], __ATOMIC_RELAXED);

		row.count[i] = now - b->count[i];
		b->count[i] = now;
	}
	e->rows = xgrow(e->rows, e->nr, &e->cap, sizeof(*e->rows));
	e->rows[e->nr++] = row;
}

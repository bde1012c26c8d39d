/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Found by the innermost frame: each full stack is gone through once, whatever their number. */
#include "collect/sleeping.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void sleeping_add(struct sleeping *s, uint32_t id)
{
	s->stacks = xgrow(s->stacks, s->nr, &s->cap, sizeof(*s->stacks));
	s->stacks[s->nr++] = (struct sleeping_stack){ .id = id };
}

void sleeping_index(struct sleeping *s, const struct profile *p)
{
	uint32_t *first;

	if (!s->nr)
		return;
	s->by_leaf = xcalloc(p->nr_frames, sizeof(*s->by_leaf));
	for (size_t i = 0; i < s->nr; i++) {
		if (!p->stacks[s->stacks[i].id].nr)
			continue;
		first = &s->by_leaf[profile_stack_leaf(p, s->stacks[i].id)];
		s->stacks[i].next = *first;
		*first = i + 1;
	}
}

/* Frames of a full stack from some on, against those of a sleeping one. */
static bool is_rest(const struct profile *p, const uint32_t *rest, uint32_t nr, uint32_t id)
{
	uint32_t nr_frames;
	const uint32_t *frames = profile_stack_frames(p, id, &nr_frames);

	return nr_frames == nr && !memcmp(rest, frames, nr * sizeof(*rest));
}

void sleeping_look(struct sleeping *s, const struct profile *p, uint32_t id)
{
	uint32_t nr;
	const uint32_t *frames = profile_stack_frames(p, id, &nr);
	struct sleeping_stack *one;

	for (uint32_t k = 1; s->nr && k < nr; k++)
		for (uint32_t i = s->by_leaf[frames[k]]; i; i = one->next) {
			one = &s->stacks[i - 1];
			if (!one->instead && is_rest(p, frames + k, nr - k, one->id))
				one->instead = id;
		}
}

static int by_id(const void *key, const void *element)
{
	uint32_t id = *(const uint32_t *)key;
	const struct sleeping_stack *one = element;

	return id < one->id ? -1 : id > one->id;
}

uint32_t sleeping_instead(const struct sleeping *s, uint32_t id)
{
	const struct sleeping_stack *one = NULL;

	if (s->nr && id)
		one = bsearch(&id, s->stacks, s->nr, sizeof(*one), by_id);
	return one && one->instead ? one->instead : id;
}

void sleeping_release(struct sleeping *s)
{
	free(s->stacks);
	free(s->by_leaf);
}

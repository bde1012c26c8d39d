/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Kinds of disagreements between stacks that were remembered and walked. */
#include "profile/audit.h"

#include "profile/wait.h"

const char *const audit_kind_keys[AUDIT_NR_KINDS] = {
	[AUDIT_FUNCTIONS] = "functions",
	[AUDIT_DEPTH] = "depth",
	[AUDIT_PLACES] = "places",
	[AUDIT_GENERATED] = "generated",
};

const char *const audit_kind_texts[AUDIT_NR_KINDS] = {
	[AUDIT_FUNCTIONS] = "other functions",
	[AUDIT_DEPTH] = "one ends where the other goes on",
	[AUDIT_PLACES] = "the same functions, at other places or with another end",
	[AUDIT_GENERATED] = "they part at generated code",
};

static uint32_t frame_of(const struct profile *p, uint32_t stack, uint32_t i)
{
	uint32_t nr;
	const uint32_t *frames = profile_stack_frames(p, stack, &nr);

	return i < nr ? frames[i] : 0;
}

static bool is_generated(const struct profile *p, uint32_t frame)
{
	return profile_frame_at(p, frame)->kind == FRAME_ANON;
}

static bool same_function(const struct profile *p, uint32_t x, uint32_t y)
{
	const struct frame *a = profile_frame_at(p, x), *b = profile_frame_at(p, y);

	return a->name == b->name && a->kind == b->kind &&
	       profile_frame_module(p, x) == profile_frame_module(p, y);
}

/* Where in generated code nobody can tell. */
static bool same_place(const struct profile *p, uint32_t x, uint32_t y)
{
	return x == y || (is_generated(p, x) && same_function(p, x, y));
}

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

uint32_t audit_common(const struct profile *p, const struct disagreement *d)
{
	uint32_t nr = least(p->stacks[d->remembered].nr, p->stacks[d->walked].nr), i = 0;

	while (i < nr && same_place(p, frame_of(p, d->remembered, i), frame_of(p, d->walked, i)))
		i++;
	return i;
}

static bool same_functions(const struct profile *p, const struct disagreement *d)
{
	uint32_t nr = p->stacks[d->walked].nr, i = 0;

	while (i < nr && same_function(p, frame_of(p, d->remembered, i), frame_of(p, d->walked, i)))
		i++;
	return i == nr && p->stacks[d->remembered].nr == nr;
}

static enum audit_kind kind_of(const struct profile *p, const struct disagreement *d)
{
	uint32_t i = audit_common(p, d);

	if (is_generated(p, frame_of(p, d->remembered, i)) ||
	    is_generated(p, frame_of(p, d->walked, i)))
		return AUDIT_GENERATED;
	if (same_functions(p, d))
		return AUDIT_PLACES;
	if (i == least(p->stacks[d->remembered].nr, p->stacks[d->walked].nr))
		return AUDIT_DEPTH;
	return AUDIT_FUNCTIONS;
}

/* But for the frames of who takes stacks, both are the same. */
static bool same_but_plumbing(const struct profile *p, const struct disagreement *d)
{
	uint32_t i = wait_plumbing(p, d->remembered), k = wait_plumbing(p, d->walked);
	uint32_t nr = p->stacks[d->remembered].nr;

	if (!i || !k || nr - i != p->stacks[d->walked].nr - k)
		return false;
	while (i < nr && frame_of(p, d->remembered, i) == frame_of(p, d->walked, k))
		i++, k++;
	return i == nr;
}

void audit_settle(struct profile *p)
{
	size_t nr = 0;

	for (size_t i = 0; i < p->nr_disagreements; i++) {
		struct disagreement *d = &p->disagreements[i];

		if (d->half == PROF_STACK_KERNEL && same_but_plumbing(p, d))
			p->counters[PROF_AUDIT_WRONG] -= d->times;
		else
			p->disagreements[nr++] = *d;
	}
	p->nr_disagreements = nr;
}

size_t audit_rows(const struct profile *p, struct audit_row rows[AUDIT_MAX_ROWS])
{
	struct audit_row all[AUDIT_MAX_ROWS] = {};
	size_t nr = 0, at;

	for (size_t i = 0; i < p->nr_disagreements; i++) {
		const struct disagreement *d = &p->disagreements[i];
		enum audit_kind kind = kind_of(p, d);

		at = (d->half == PROF_STACK_KERNEL ? AUDIT_NR_KINDS : 0) + kind;
		all[at].kind = kind;
		all[at].times += d->times;
		if (!all[at].first)
			all[at].first = d;
	}
	for (at = 0; at < AUDIT_MAX_ROWS; at++)
		if (all[at].first)
			rows[nr++] = all[at];
	return nr;
}

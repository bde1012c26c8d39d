/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which paths a view keeps: names are matched once each, and each stands on many paths. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "profile/tree_parts.h"

enum { KNOWN = 1, IN_FOCUS = 2, IGNORED = 4, WITHIN = 8 }; /* WITHIN << i: the name of number i */
_Static_assert(WITHIN << (VIEW_MAX_WITHIN - 1) <= UINT8_MAX, "one bit for each");

static bool matches(const regex_t *re, const char *name)
{
	return re && !regexec(re, name, 0, NULL, 0);
}

static uint8_t withins(const struct view *v, const char *name)
{
	uint8_t is = 0;

	for (size_t i = 0; i < v->nr_within; i++)
		is |= strcmp(v->within[i], name) ? 0 : WITHIN << i;
	return is;
}

/* Names may have been added since. */
static uint8_t look_up(struct tree_filter *f, const struct tree *t, uint32_t name)
{
	const char *text = t->names.bytes + name;

	if (f->nr < t->names.len) {
		f->known = xreallocarray(f->known, t->names.len, 1);
		memset(f->known + f->nr, 0, t->names.len - f->nr);
		f->nr = t->names.len;
	}
	if (!f->known[name])
		f->known[name] = KNOWN | (matches(f->view->focus, text) ? IN_FOCUS : 0) |
				 (matches(f->view->ignore, text) ? IGNORED : 0) |
				 withins(f->view, text);
	return f->known[name];
}

bool tree_filter_keeps(struct tree_filter *f, const struct tree *t, const struct step *steps,
		       uint32_t nr)
{
	const struct view *v = f->view;
	uint8_t wanted = (v->focus ? IN_FOCUS : 0) | ((WITHIN << v->nr_within) - WITHIN), has = 0;

	if (!wanted && !v->ignore)
		return true;
	for (uint32_t i = 0; i < nr; i++) {
		has |= look_up(f, t, steps[i].name);
		if (has & IGNORED)
			return false;
	}
	return (has & wanted) == wanted;
}

void tree_filter_release(struct tree_filter *f)
{
	free(f->known);
}

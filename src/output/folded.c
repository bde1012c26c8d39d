/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Folded stacks: one line per distinct stack, thread name first, frames root to leaf, one space, an
 * integer: samples, or us of waiting, where less than half a one is no line. Heaviest first, ties
 * by text, so that two runs can be compared line by line. Nothing else is ever printed here.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "output/output.h"
#include "profile/waits.h"

struct lines {
	struct line {
		char *text;
		uint64_t count;
	} * v;
	size_t nr, cap;
};

/* Names from the root on, with ';' between them. */
static char *text_of(const struct tree *t, const uint32_t *path, size_t nr)
{
	size_t len = 0, at = 0, sz;
	char *text;

	for (size_t i = 0; i < nr; i++)
		len += strlen(tree_name(t, &t->nodes[path[i]])) + 1;
	text = xmalloc(len);
	for (size_t i = 0; i < nr; i++) {
		const char *name = tree_name(t, &t->nodes[path[i]]);

		sz = strlen(name);
		memcpy(text + at, name, sz);
		text[at + sz] = ';';
		at += sz + 1;
	}
	text[len - 1] = '\0';
	return text;
}

static void add_line(const struct tree *t, const uint32_t *path, size_t nr, void *arg)
{
	struct lines *lines = arg;
	struct line l = { .count = t->nodes[path[nr - 1]].self };

	if (t->profile->meta.is_time || t->profile->meta.timed)
		l.count = waits_us(l.count);
	if (!l.count)
		return;
	l.text = text_of(t, path, nr);
	lines->v = xgrow(lines->v, lines->nr, &lines->cap, sizeof(l));
	lines->v[lines->nr++] = l;
}

static int by_count(const void *x, const void *y)
{
	const struct line *a = x, *b = y;

	if (a->count != b->count)
		return a->count > b->count ? -1 : 1;
	return strcmp(a->text, b->text);
}

int folded_write(const struct profile *p, const struct view *v, FILE *out)
{
	struct tree *t = tree_new_turned(p, v);
	struct lines lines = {};

	tree_for_each_stack(t, add_line, &lines);
	if (lines.nr)
		qsort(lines.v, lines.nr, sizeof(*lines.v), by_count);
	for (size_t i = 0; i < lines.nr; i++) {
		fprintf(out, "%s %" PRIu64 "\n", lines.v[i].text, lines.v[i].count);
		free(lines.v[i].text);
	}
	free(lines.v);
	tree_free(t);
	return 0;
}

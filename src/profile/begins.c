/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Source lines of functions, sorted to be found. */
#include "profile/begins.h"

#include <stdlib.h>

#include "base/mem.h"

void profile_add_begin(struct profile *p, const struct begin *b)
{
	const struct begin *last = p->nr_begins ? &p->begins[p->nr_begins - 1] : NULL;

	if (last && last->module == b->module && last->name == b->name)
		return;
	p->begins = xgrow(p->begins, p->nr_begins, &p->cap_begins, sizeof(*b));
	p->begins[p->nr_begins++] = *b;
}

static int by_function(const void *x, const void *y)
{
	const struct begin *a = x, *b = y;

	if (a->module != b->module)
		return a->module < b->module ? -1 : 1;
	return a->name < b->name ? -1 : a->name > b->name;
}

static int by_function_and_line(const void *x, const void *y)
{
	const struct begin *a = x, *b = y;
	int order = by_function(a, b);

	return order ? order : a->line < b->line ? -1 : a->line > b->line;
}

/* Of several of one name, which files of a program may have, the first counts. */
void profile_sort_begins(struct profile *p)
{
	size_t nr = 0;

	if (p->nr_begins)
		qsort(p->begins, p->nr_begins, sizeof(*p->begins), by_function_and_line);
	for (size_t i = 0; i < p->nr_begins; i++)
		if (!nr || by_function(&p->begins[nr - 1], &p->begins[i]))
			p->begins[nr++] = p->begins[i];
	p->nr_begins = nr;
}

uint32_t profile_begin_line(const struct profile *p, uint32_t module, uint32_t name)
{
	const struct begin key = { .module = module, .name = name }, *found;

	found = p->nr_begins ? bsearch(&key, p->begins, p->nr_begins, sizeof(key), by_function)
			     : NULL;
	return found ? found->line : 0;
}

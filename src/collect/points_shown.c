/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What points at functions are called in the result, so that no two rows read the same. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "collect/points_parts.h"
#include "symbol/demangle.h"

uint64_t points_inside_at(const struct uprobe_spec *spec, const struct uprobe_function *fn)
{
	uint64_t at = spec->kind == UPROBE_OFFSET ? spec->offset : fn->address + spec->offset;

	return at != fn->address ? at : 0;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Which of the names others have, too: to be freed. */
static bool *find_equal(char *const *names, size_t nr)
{
	char **sorted = xcalloc(nr + 1, sizeof(*sorted)), **at;
	bool *equal = xcalloc(nr + 1, sizeof(*equal));

	memcpy(sorted, names, nr * sizeof(*sorted));
	qsort(sorted, nr, sizeof(*sorted), by_text);
	for (size_t i = 0; i < nr; i++) {
		at = bsearch(&names[i], sorted, nr, sizeof(*sorted), by_text);
		equal[i] = (at > sorted && !strcmp(at[-1], *at)) ||
			   (at + 1 < sorted + nr && !strcmp(at[1], *at));
	}
	free(sorted);
	return equal;
}

char **points_names_of(const struct points_file *f, const struct uprobe_spec *spec,
		       const struct uprobe_function *v, size_t nr)
{
	bool typed = spec->kind == UPROBE_NAME && strchr(spec->function, '(');
	char **names = xcalloc(nr + 1, sizeof(*names)), *more;
	bool *equal;

	for (size_t i = 0; i < nr; i++)
		names[i] = xstrdup(functions_shown(f->functions, &v[i]));
	for (int with_address = 0; with_address < 2; with_address++) {
		equal = find_equal(names, nr);
		for (size_t i = 0; i < nr; i++) {
			if (!equal[i] && (!typed || with_address))
				continue;
			more = with_address
				       ? xasprintf("%s (0x%" PRIx64 ")", names[i], v[i].address)
				       : demangle_signature(v[i].name);
			if (!more)
				continue;
			free(names[i]);
			names[i] = more;
		}
		free(equal);
	}
	return names;
}

char *points_name_of_place(const struct uprobe_spec *spec, const struct uprobe_function *fn,
			   const char *shown)
{
	uint64_t at = points_inside_at(spec, fn);

	if (!at)
		return xstrdup(shown);
	return fn->nr_names ? xasprintf("%s+0x%" PRIx64, shown, at - fn->address)
			    : xasprintf("+0x%" PRIx64, at);
}

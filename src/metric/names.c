/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Lists of names. */
#include "metric/names.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

bool names_have(const struct names *n, const char *name)
{
	for (size_t i = 0; i < n->nr; i++)
		if (!strcmp(n->v[i], name))
			return true;
	return false;
}

void names_add(void *arg, const char *name)
{
	struct names *n = arg;

	if (names_have(n, name))
		return;
	n->v = xgrow(n->v, n->nr, &n->cap, sizeof(*n->v));
	n->v[n->nr++] = xstrdup(name);
}

void names_release(struct names *n)
{
	for (size_t i = 0; i < n->nr; i++)
		free(n->v[i]);
	free(n->v);
	*n = (struct names){ 0 };
}

void names_print(const struct names *n, FILE *to)
{
	for (size_t i = 0; i < n->nr; i++)
		fprintf(to, "%s%s", i ? ", " : "", n->v[i]);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names of sets, as people write them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "metric/names.h"
#include "metric/plan_parts.h"

static size_t nr_sets(void)
{
	size_t nr = 0;

	while (metric_sets[nr].name)
		nr++;
	return nr;
}

static int unknown_set(const char *name)
{
	const char *names[PLAN_SETS_MAX], *near;
	struct names all = { 0 };
	size_t nr = nr_sets(), i, sz;
	char *list = NULL, *hint;
	FILE *to = open_memstream(&list, &sz);

	for (i = 0; i < nr; i++) {
		names[i] = metric_sets[i].name;
		names_add(&all, names[i]);
	}
	names_print(&all, to);
	fclose(to);
	near = text_nearest(name, names, nr);
	hint = near ? text_meant("", near) : xasprintf(" (there are %s and all)", list);
	log_err(0, "no set of metrics is called '%s'%s", name, hint);
	free(hint);
	names_release(&all);
	free(list);
	return -EINVAL;
}

/* What other tools call our sets; of the tree of topdown, down to which level. */
static const struct {
	const char *alias, *set;
	unsigned int level;
} aliases[] = {
	{ "TopdownL1", "topdown", 1 },	{ "TopdownL2", "topdown", 2 },
	{ "TopdownL3", "topdown", 3 },	{ "PipelineL1", "topdown", 1 },
	{ "PipelineL2", "topdown", 2 },
};

static const char *meant(const char *name, unsigned int *level)
{
	for (size_t i = 0; i < sizeof(aliases) / sizeof(*aliases); i++) {
		if (strcasecmp(aliases[i].alias, name) != 0)
			continue;
		*level = aliases[i].level > *level ? aliases[i].level : *level;
		return aliases[i].set;
	}
	return name;
}

/* Marks what a name means. */
static int mark_set(bool *marked, size_t *order, size_t *nr, const char *name)
{
	size_t all = nr_sets(), i;
	bool every = !strcmp(name, "all"), found = false;

	for (i = 0; i < all; i++) {
		if (!every && strcmp(metric_sets[i].name, name))
			continue;
		found = true;
		if (!marked[i])
			order[(*nr)++] = i;
		marked[i] = true;
	}
	return found ? 0 : unknown_set(name);
}

int plan_sets(const char *sets, size_t order[PLAN_SETS_MAX], size_t *nr, unsigned int *level)
{
	char *copy = xstrdup(sets), *at = copy, *name;
	bool marked[PLAN_SETS_MAX] = { false };
	int err = 0;

	*level = 0;
	while (!err && (name = strsep(&at, ",")))
		err = mark_set(marked, order, nr, meant(name, level));
	free(copy);
	return err;
}

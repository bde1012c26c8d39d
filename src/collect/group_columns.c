/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* From names of sets and events to pairs of counters. */
#include "collect/group_columns.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "collect/metric_host.h"
#include "metric/formula.h"
#include "metric/metric.h"
#include "profile/profile.h"

#define SETS_MAX 16

static struct group_column *column_new(struct group_column **v, size_t *nr, char *name,
				       uint64_t per)
{
	*v = xreallocarray(*v, *nr + 1, sizeof(**v));
	(*v)[*nr] = (struct group_column){ .name = name, .per = per };
	return &(*v)[(*nr)++];
}

/* Of a hybrid machine the first kind of cores: the other has no counter of that PMU. */
static int add_terms(const struct catalog *c, struct group_column *column, const char *a,
		     const char *b)
{
	struct event *more = NULL;
	size_t nr_more = 0;
	int err = catalog_find(c, a, &column->terms, &column->nr_terms);

	if (!err)
		err = catalog_find(c, b, &more, &nr_more);
	if (!err && (column->nr_terms > 1 || nr_more > 1)) {
		log_err(0, "-M: this machine has cores of several kinds, and counters of one kind "
			   "only would be half the truth");
		err = -EOPNOTSUPP;
	}
	if (!err) {
		column->terms = xreallocarray(column->terms, 2, sizeof(*column->terms));
		column->terms[column->nr_terms++] = *more;
		free(more);
		return 0;
	}
	events_free(more, nr_more);
	return err;
}

static int add_event(const struct catalog *c, const char *event, struct group_column **v,
		     size_t *nr)
{
	if (*nr == PROFILE_MAX_COLUMNS) {
		log_err(0, "-M: at most %d columns besides IPC can be counted at a time",
			PROFILE_MAX_COLUMNS - 1);
		return -EINVAL;
	}
	return add_terms(c, column_new(v, nr, xasprintf("%s/1k", event), 1000), event,
			 "instructions");
}

/* A metric that two counters make. */
static bool is_pair(const struct metric *m, struct formula *formula, struct formula_ratio *ratio)
{
	return formula_parse(formula, m->formula, NULL) && formula_ratio(formula, ratio) &&
	       ratio->above.nr == 1 && ratio->below.nr == 1 && *ratio->above.names[0] != '@' &&
	       *ratio->below.names[0] != '@' && ratio->factor == (uint64_t)ratio->factor;
}

/* What functions are compared by: it adds up, and is there wherever instructions are. */
static bool is_per_instructions(const struct metric *m)
{
	return !strcmp(m->unit, METRIC_PER_KILO);
}

static bool has_any_per_instructions(const struct metric_plan *plan)
{
	struct formula_ratio ratio;
	struct formula formula;

	for (size_t i = 0; i < plan->nr_metrics; i++)
		if (is_per_instructions(plan->metrics[i]) &&
		    is_pair(plan->metrics[i], &formula, &ratio))
			return true;
	return false;
}

static bool has_column(const struct group_column *v, size_t nr, const char *name)
{
	for (size_t i = 0; i < nr; i++)
		if (!strcmp(v[i].name, name))
			return true;
	return false;
}

static int add_metric(const struct catalog *c, const struct metric *m,
		      const struct formula_ratio *ratio, struct group_column **v, size_t *nr)
{
	if (has_column(*v, *nr, m->name))
		return 0;
	if (*nr == PROFILE_MAX_COLUMNS) {
		log_warn("-M: no room for %s: at most %d columns besides IPC can be counted at a "
			 "time",
			 m->name, PROFILE_MAX_COLUMNS - 1);
		return 0;
	}
	return add_terms(c, column_new(v, nr, xstrdup(m->name), ratio->factor),
			 ratio->above.names[0], ratio->below.names[0]);
}

static int add_metrics(const struct catalog *c, const char *set, const struct metric_plan *plan,
		       struct group_column **v, size_t *nr)
{
	bool only = has_any_per_instructions(plan), any = false;
	struct formula_ratio ratio;
	struct formula formula;
	int err = 0;

	for (size_t i = 0; i < plan->nr_notes; i++)
		log_info("-M %s", plan->notes[i]);
	for (size_t i = 0; i < plan->nr_metrics && !err; i++) {
		const struct metric *m = plan->metrics[i];

		if ((only && !is_per_instructions(m)) || !is_pair(m, &formula, &ratio) ||
		    !strcmp(m->name, "ipc")) /* is there already */
			continue;
		any = true;
		err = add_metric(c, m, &ratio, v, nr);
	}
	if (any)
		return err;
	log_err(0,
		"-M %s: this machine has no pair of counters for it (bpfprof stat -M %s shows "
		"what it has)",
		set, set);
	return -EOPNOTSUPP;
}

static int add_set(const struct catalog *c, const char *set, struct group_column **v, size_t *nr)
{
	struct metric_catalog per_task = { c, true };
	struct metric_host host = metric_host(&per_task);
	struct metric_plan plan = {};
	int err = metric_plan_make(&plan, set, &host);

	if (!err)
		err = add_metrics(c, set, &plan, v, nr);
	metric_plan_release(&plan);
	return err;
}

static int add_word(const struct catalog *c, const char *word, struct group_column **v, size_t *nr)
{
	const char *names[SETS_MAX], *near;
	size_t nr_names = 0;
	char *hint;

	if (!strcmp(word, "ipc")) /* is there already */
		return 0;
	for (; metric_sets[nr_names].name && nr_names < SETS_MAX; nr_names++) {
		names[nr_names] = metric_sets[nr_names].name;
		if (!strcmp(word, names[nr_names]))
			return add_set(c, word, v, nr);
	}
	near = catalog_has(c, word) ? NULL : text_nearest(word, names, nr_names);
	if (!near)
		return add_event(c, word, v, nr);
	hint = text_meant("", near);
	log_err(0, "-M '%s': neither a set nor an event%s", word, hint);
	free(hint);
	return -ENOENT;
}

int group_columns_find(const struct catalog *c, const char *list, struct group_column **v,
		       size_t *nr)
{
	char *copy = xstrdup(list), *rest = copy, *word;
	int err = add_terms(c, column_new(v, nr, xstrdup("IPC"), 1), "instructions", "cycles");

	while (!err && (word = strsep(&rest, ",")))
		err = add_word(c, word, v, nr);
	free(copy);
	return err;
}

void group_columns_free(struct group_column *v, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		events_free(v[i].terms, v[i].nr_terms);
		free(v[i].name);
	}
	free(v);
}

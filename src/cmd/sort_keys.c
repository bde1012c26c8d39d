/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Here a table is by one thing and in one order, where perf's --sort says by which things together.
 * Functions have their modules beside them, so "dso,symbol" is a table of functions.
 */
#include "cmd/sort_keys.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"

static const struct {
	const char *key;
	const char *by; /* NULL = it is an order */
	enum view_sort sort;
} keys_known[] = {
	{ "self", NULL, VIEW_SORT_SELF },
	{ "total", NULL, VIEW_SORT_TOTAL },
	{ "name", NULL, VIEW_SORT_NAME },
	{ "samples", NULL, VIEW_SORT_SELF },
	/* Those of perf, and the columns that they come with. */
	{ "overhead", NULL, VIEW_SORT_SELF },
	{ "overhead_children", NULL, VIEW_SORT_TOTAL },
	{ "symbol", "function", 0 },
	{ "sym", "function", 0 },
	{ "dso", "module", 0 },
	{ "comm", "thread", 0 },
	{ "tid", "thread", 0 },
	{ "pid", "process", 0 },
	{ "srcline", "line", 0 },
	{ "srcfile", "file", 0 },
	/* Our own words for these. */
	{ "function", "function", 0 },
	{ "module", "module", 0 },
	{ "thread", "thread", 0 },
	{ "process", "process", 0 },
	{ "line", "line", 0 },
	{ "file", "file", 0 },
	{ "class", "class", 0 },
	{ "context", "context", 0 },
	{ "kind", "kind", 0 },
	{ "role", "role", 0 },
	{ "task", "task", 0 },
};
#define NR_KEYS (sizeof(keys_known) / sizeof(*keys_known))

static int unknown(const char *key)
{
	const char *names[NR_KEYS], *near;
	char *shown = text_cleaned(key), *hint;

	for (size_t i = 0; i < NR_KEYS; i++)
		names[i] = keys_known[i].key;
	near = text_nearest(key, names, NR_KEYS);
	hint = near ? text_meant("", near)
		    : xstrdup(" (use self, total or name; of perf symbol, dso, comm, pid, tid, "
			      "srcline and srcfile)");
	log_err(0, "--sort: unknown key '%s'%s", shown, hint);
	free(hint);
	free(shown);
	return -EINVAL;
}

int sort_keys_by(const char *word)
{
	for (size_t i = 0; word && i < NR_KEYS; i++)
		if (keys_known[i].by && !strcmp(keys_known[i].key, word))
			word = keys_known[i].by;
	return results_word("--by", word, view_by_words, VIEW_NR_BY);
}

/* A module beside functions is no second thing. */
static int take_by(struct results_opts *o, const char *by)
{
	bool is_beside = o->by && !strcmp(o->by, "function") && !strcmp(by, "module");

	if (!o->by || (!strcmp(o->by, "module") && !strcmp(by, "function")))
		o->by = by;
	else if (!is_beside && strcmp(o->by, by) != 0)
		return log_as(-EINVAL, "a table is by one thing: --by %s or --by %s", o->by, by);
	return 0;
}

static bool is_of_timelines(const char *key)
{
	for (size_t i = 0; i < TIMELINE_NR_SORTS; i++)
		if (!strcmp(key, timeline_sort_names[i]))
			return true;
	return false;
}

static int take(struct results_opts *o, const char *key)
{
	for (size_t i = 0; i < NR_KEYS; i++) {
		if (strcmp(keys_known[i].key, key) != 0)
			continue;
		if (keys_known[i].by)
			return take_by(o, keys_known[i].by);
		o->view.sort = keys_known[i].sort;
		return 0;
	}
	return unknown(key);
}

int sort_keys_apply(const char *keys, struct results_opts *o)
{
	char *copy = xstrdup(keys ? keys : ""), *at = copy, *key;
	int err = 0;

	if (keys && is_of_timelines(keys)) {
		o->sort = keys;
		keys = NULL;
	}
	while (keys && !err && (key = strsep(&at, ",")))
		err = take(o, key);
	if (keys && !err && !o->by && !o->csv)
		o->by = "function";
	free(copy);
	return err;
}

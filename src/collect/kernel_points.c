/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Points of the kernel: its functions and its tracepoints. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "collect/call_args.h"
#include "collect/points_parts.h"
#include "doctor/doctor.h"
#include "event/tracepoints.h"

/* Names that a word is compared with. */
struct names {
	char **v;
	size_t nr, cap;
};

static void names_add(struct names *n, const char *name)
{
	n->v = xgrow(n->v, n->nr, &n->cap, sizeof(*n->v));
	n->v[n->nr++] = xstrdup(name);
}

static void names_release(struct names *n)
{
	for (size_t i = 0; i < n->nr; i++)
		free(n->v[i]);
	free(n->v);
}

/* The tracepoint of that name whose category was left out. */
static const char *without_category(char *const *names, size_t nr, const char *word)
{
	for (size_t i = 0; i < nr; i++) {
		const char *colon = strchr(names[i], ':');

		if (colon && !strcmp(colon + 1, word))
			return names[i];
	}
	return NULL;
}

static int not_found(char *const *names, size_t nr, const char *what, const char *word)
{
	const char *near = without_category(names, nr, word)
				   ?: text_nearest(word, (const char *const *)names, nr);
	char *hint = text_meant("", near);

	log_err(0, "the kernel has no %s '%s'%s", what, word, hint);
	free(hint);
	return -ENOENT;
}

static int too_many(struct points *p, size_t nr, const char *word)
{
	if (nr <= POINTS_WITHOUT_ALL || p->opts->all)
		return 0;
	return log_as(-EINVAL,
		      "'%s' means %zu places, and each hit of them costs: narrow it down, or "
		      "give --all",
		      word, nr);
}

/* Functions by the kernel's own list; compilers append suffixes to those that they split. */
static int read_functions(struct names *n)
{
	char line[512], type, name[256];
	FILE *f = fopen("/proc/kallsyms", "re");

	if (!f)
		return log_err(-errno, "cannot read /proc/kallsyms");
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%*s %c %255s", &type, name) == 2 && (type == 't' || type == 'T'))
			names_add(n, name);
	fclose(f);
	return 0;
}

static int add_function(struct points *p, const char *name)
{
	struct call_event e = { .where = "[kernel]" };
	struct point point = { .kind = POINT_KPROBE, .by_probe = p->opts->timed };
	struct call_args args;
	int err = call_args_of_function(&args, p->opts->args);

	if (err)
		return err;
	e.name = point.where = points_string(p, xstrdup(name));
	point.event = points_add_event(p, &e);
	point.args = points_add_args(p, &args);
	points_add(p, &point);
	return 0;
}

int points_add_kprobe(struct points *p, const char *word)
{
	struct names functions = {};
	size_t nr = 0;
	int err = doctor_check(USE_KPROBE, false);

	if (err)
		return err;
	err = read_functions(&functions);
	for (size_t i = 0; i < functions.nr; i++)
		nr += tracepoints_is_meant(functions.v[i], word);
	if (!err && !nr)
		err = not_found(functions.v, functions.nr, "function", word);
	if (!err)
		err = too_many(p, nr, word);
	for (size_t i = 0; i < functions.nr && !err; i++) {
		if (!tracepoints_is_meant(functions.v[i], word))
			continue;
		err = add_function(p, functions.v[i]);
		if (!tracepoints_is_glob(word)) /* of several of one name the kernel takes one */
			break;
	}
	names_release(&functions);
	return err;
}

/* What ends calls is no event of its own, but ends those of all. */
static int add_tracepoint(struct points *p, const struct tracepoints *t, const char *name,
			  bool is_until)
{
	struct call_event e = { .where = "[kernel]" };
	struct point point = { .kind = POINT_TRACEPOINT, .is_return = is_until };
	char *format = tracepoints_read(t, name, "format");
	struct call_args args = {};
	int err = 0;

	point.id = tracepoints_id(t, name);
	if (!point.id || !format)
		err = log_err(-errno, "cannot read the tracepoint %s", name);
	else if (!is_until)
		err = call_args_of_tracepoint(&args, p->opts->args, format);
	if (!err) {
		e.name = point.where = points_string(p, xstrdup(name));
		point.event = is_until ? 0 : points_add_event(p, &e);
		point.args = points_add_args(p, &args);
		points_add(p, &point);
	}
	free(format);
	return err;
}

static int cannot_open(int err)
{
	char *why = tracepoints_why(err);

	log_err(0, "%s", why);
	free(why);
	return err;
}

int points_add_tracepoint(struct points *p, const char *word, bool is_until)
{
	struct tracepoints t;
	int err = tracepoints_open(&t, NULL);
	size_t nr;

	if (err) {
		tracepoints_close(&t);
		return cannot_open(err);
	}
	nr = tracepoints_count(&t, word);
	err = nr ? too_many(p, nr, word) : not_found(t.names, t.nr, "tracepoint", word);
	for (size_t i = 0; i < t.nr && !err; i++)
		if (tracepoints_is_meant(t.names[i], word) &&
		    !(tracepoints_is_glob(word) && !tracepoints_id(&t, t.names[i])))
			err = add_tracepoint(p, &t, t.names[i], is_until);
	tracepoints_close(&t);
	return err;
}

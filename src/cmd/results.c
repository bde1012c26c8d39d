/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Opening and writing results. */
#include "cmd/results.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/outfile.h"
#include "base/text.h"
#include "output/output.h"
#include "profile/wait.h"

struct result {
	const struct output *output;
	struct outfile *file;
};

struct results {
	const struct results_opts *opts;
	struct result *v;
	size_t nr;
};

void results_default(struct results_opts *o, const struct kind *kind)
{
	o->view.split = kind->running;
	if (!o->idle)
		o->view.idle = kind->wakers ? IDLE_SHOW : IDLE_FOLD;
}

static int parse_idle(const char *mode, enum view_idle *idle)
{
	static const char *const modes[] = { "fold", "hide", "show" }; /* enum view_idle */
	const char *near = text_nearest(mode, modes, 3);
	char *shown;

	for (size_t i = 0; i < 3; i++) {
		if (!strcmp(mode, modes[i])) {
			*idle = i;
			return 0;
		}
	}
	shown = text_frame(mode, strlen(mode), 0);
	if (near)
		log_err(0, "--idle '%s' is none; did you mean '%s'?", *mode ? shown : "", near);
	else
		log_err(0, "--idle '%s' is none of fold, hide, show", *mode ? shown : "");
	free(shown);
	return -EINVAL;
}

int results_check(struct results_opts *o)
{
	int err = o->classes ? wait_parse_classes(o->classes, &o->view.classes) : 0;

	return !err && o->idle ? parse_idle(o->idle, &o->view.idle) : err;
}

static int open_one(struct results *r, const char *path)
{
	struct result *next = &r->v[r->nr];

	next->output = output_find(path);
	if (!next->output) {
		log_err(0, "-o %s: the extension tells the format, one of %s", path,
			output_extensions());
		return -EINVAL;
	}
	next->file = outfile_open(path);
	if (!next->file)
		return -errno;
	r->nr++;
	return 0;
}

struct results *results_open(const struct results_opts *o)
{
	struct results *r = xcalloc(1, sizeof(*r));
	int err = 0;

	r->opts = o;
	r->v = xcalloc(o->files.nr, sizeof(*r->v));
	for (size_t i = 0; i < o->files.nr && !err; i++)
		err = open_one(r, o->files.v[i]);
	if (!err)
		return r;
	results_close(r);
	errno = -err;
	return NULL;
}

static const struct output *stdout_output(const struct results_opts *o)
{
	if (o->budget)
		return output_get(o->json ? "budget-json" : "budget");
	if (o->broken)
		return output_get(o->json ? "broken-json" : "broken");
	if (o->branches && !o->json)
		return output_get(o->folded ? "branches-folded" : "branches");
	if (o->json)
		return output_get("json");
	if (o->folded)
		return output_get("folded");
	return output_get(o->summary || isatty(STDOUT_FILENO) ? "summary" : "folded");
}

static int no_such_event(const struct profile *p, const char *value)
{
	const char *names[PROF_MAX_EVENTS], *near;

	for (size_t i = 0; i < p->nr_events; i++)
		names[i] = profile_str(p, p->events[i].name);
	near = text_nearest(value, names, p->nr_events);
	log_err(0, "--value '%s': the profile has no such event%s%s%s", value,
		near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
	return -EINVAL;
}

int results_write(struct results *r, const struct profile *p)
{
	const struct view *v = &r->opts->view;
	int err = 0, err_one;

	if (v->value && profile_find_event(p, v->value) < 0)
		return no_such_event(p, v->value);

	for (size_t i = 0; i < r->nr; i++) {
		output_write(r->v[i].output, p, v, outfile_stream(r->v[i].file));
		err_one = outfile_commit(r->v[i].file);
		r->v[i].file = NULL;
		err = err ? err : err_one;
	}
	output_write(stdout_output(r->opts), p, v, stdout);
	return err;
}

void results_close(struct results *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->nr; i++)
		outfile_abort(r->v[i].file);
	free(r->v);
	free(r);
}

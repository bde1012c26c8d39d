/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Points at polls of Tokio's tasks, in a child: an event for each type of task. Its instances have
 * return probes, though Rust unwinds: raw::poll() and run_task() catch what a task throws below
 * themselves, so no panic passes the return address that the kernel has replaced.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "collect/call_args.h"
#include "collect/points_parts.h"
#include "symbol/crate_version.h"
#include "uprobe/tokio.h"

#define MOST_INSTANCES 2000
#define RUN	       "run_task"

static uint32_t event_of(struct points *p, const char *name)
{
	for (size_t i = 0; i < p->nr_events; i++)
		if (!strcmp(p->events[i].name, name))
			return i;
	return points_add_event(p, &(struct call_event){ .name = points_string(p, xstrdup(name)) });
}

/* What it polls is missing in the result: that is said, and the others are timed. */
static void refuse(const struct points_file *f, const char *name, const char *insn)
{
	struct points_told *t = f->told;
	char *before = t->refused;

	if (f->question->nr_refused + t->nr_refused++ >= POINTS_REFUSED_NAMED)
		return;
	t->refused =
		xasprintf("%s%s%s (\"%s\")", before ? before : "", before ? ", " : "", name, insn);
	free(before);
}

static int add_instance(struct points *p, struct points_file *f, const char *name,
			const struct uprobe_function *fn)
{
	struct uprobe_spec spec = { .kind = UPROBE_NAME };
	struct point point = { .kind = POINT_UPROBE, .by_probe = true };
	struct call_args args = {};
	struct place place;
	int err = points_choose_place(p, f, &spec, fn, &place);

	if (err)
		return err;
	if (place.price == PLACE_REFUSED) {
		refuse(f, name, place.insn);
		return 0;
	}
	points_tell_place(f, name, &place);
	point.is_dear = place.price == PLACE_STEPPED;
	if (p->opts->by_task)
		call_args_of_tokio(&args, place.address - fn->address);
	point.event = event_of(p, name);
	point.args = points_add_args(p, &args);
	point.offset = place.offset;
	points_add(p, &point);
	return 0;
}

static int add_runs(struct points *p, struct points_file *f)
{
	size_t nr;
	const struct uprobe_function *all = functions_all(f->functions, &nr);
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++) {
		const char *shown =
			strstr(all[i].name, RUN) ? functions_shown(f->functions, &all[i]) : "";

		if (!tokio_is_run(shown))
			continue;
		err = add_instance(p, f, shown, &all[i]);
		f->told->nr_runs++;
	}
	return err;
}

static int add_polls(struct points *p, struct points_file *f)
{
	struct points_told *t = f->told;
	struct tokio_poll *v;
	size_t nr = tokio_polls_find(f->functions, f->places, &v), had;
	int err = 0;

	for (size_t i = 0; i < nr; i++)
		t->nr_jobs += v[i].is_job;
	if (f->question->nr_points + nr > MOST_INSTANCES)
		err = log_as(-EINVAL,
			     "%s has %zu instances of tokio::runtime::task::raw::poll, and at most "
			     "%d can be probed; --runs needs only one",
			     f->path, nr, MOST_INSTANCES);
	for (size_t i = 0; i < nr && !err; i++) {
		if (v[i].is_job)
			continue;
		log_info("%s: %s", v[i].name, tokio_named_text(v[i].named));
		had = p->nr;
		err = add_instance(p, f, v[i].name, v[i].function);
		t->nr_named[v[i].named] += p->nr - had;
	}
	tokio_polls_free(v, nr);
	return err;
}

/* Sources that cargo vendor copied lie in a folder without a version. */
int points_find_polls(struct points *p, struct points_file *f)
{
	crate_version(functions_file(f->functions), f->told->tokio);
	if (!*f->told->tokio && !tokio_has_polls(f->functions))
		return 0;
	f->places = places_open(f->functions);
	if (!f->places)
		return log_err(-errno, "cannot read the code of %s", f->path);
	return p->opts->runs ? add_runs(p, f) : add_polls(p, f);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Points at polls of Tokio's tasks: an event for each type of task. Its instances have return
 * probes, though Rust unwinds: raw::poll() and run_task() catch what a task throws below
 * themselves, so no panic passes the return address that the kernel has replaced.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "collect/call_args.h"
#include "collect/points_parts.h"
#include "symbol/crate_version.h"
#include "uprobe/target.h"
#include "uprobe/tokio.h"

#define MOST_INSTANCES	   2000
#define MOST_REFUSED_NAMED 5
#define RUN		   "run_task"

/* A search through files. */
struct tokio_files {
	struct points *p;
	size_t nr_files, nr_jobs, nr_runs, nr_named[TOKIO_NR_NAMED];
	/* On which the kernel takes no probe: how many, and those that are named. */
	size_t nr_refused;
	char *refused;
	/* A file that has Tokio's constants, for who finds nothing else. */
	char *mute, version[CRATE_VERSION_BYTES];
};

static uint32_t event_of(struct points *p, const char *name, const char *where)
{
	for (size_t i = 0; i < p->nr_events; i++)
		if (!strcmp(p->events[i].name, name) && !strcmp(p->events[i].where, where))
			return i;
	return points_add_event(
		p, &(struct call_event){ .name = points_string(p, xstrdup(name)), .where = where });
}

/* What it polls is missing in the result: that is said, and the others are timed. */
static void refuse(struct tokio_files *t, const char *name, const char *insn)
{
	char *before = t->refused;

	if (t->nr_refused++ >= MOST_REFUSED_NAMED)
		return;
	t->refused =
		xasprintf("%s%s%s (\"%s\")", before ? before : "", before ? ", " : "", name, insn);
	free(before);
}

static int add_instance(struct tokio_files *t, struct points_file *f, const char *name,
			const struct uprobe_function *fn)
{
	struct points *p = t->p;
	struct uprobe_spec spec = { .kind = UPROBE_NAME };
	struct point point = { .kind = POINT_UPROBE, .where = f->path, .by_probe = true };
	struct call_args args = {};
	struct place place;
	int err = points_choose_place(p, f, &spec, fn, &place);

	if (err)
		return err;
	if (place.price == PLACE_REFUSED) {
		refuse(t, name, place.insn);
		return 0;
	}
	points_tell_place(f, name, &place);
	point.is_dear = place.price == PLACE_STEPPED;
	if (p->opts->by_task)
		call_args_of_tokio(&args, place.address - fn->address);
	point.event = event_of(p, name, f->path);
	point.args = points_add_args(p, &args);
	point.offset = place.offset;
	points_add(p, &point);
	return 0;
}

static int add_runs(struct tokio_files *t, struct points_file *f)
{
	size_t nr;
	const struct uprobe_function *all = functions_all(f->functions, &nr);
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++) {
		const char *shown =
			strstr(all[i].name, RUN) ? functions_shown(f->functions, &all[i]) : "";

		if (!tokio_is_run(shown))
			continue;
		err = add_instance(t, f, shown, &all[i]);
		t->nr_runs++;
	}
	return err;
}

static int add_polls(struct tokio_files *t, struct points_file *f)
{
	struct tokio_poll *v;
	size_t nr = tokio_polls_find(f->functions, f->places, &v), had;
	int err = 0;

	for (size_t i = 0; i < nr; i++)
		t->nr_jobs += v[i].is_job;
	if (t->p->nr + nr > MOST_INSTANCES)
		err = log_as(-EINVAL,
			     "%s has %zu instances of tokio::runtime::task::raw::poll, and at most "
			     "%d can be probed; --runs needs only one",
			     f->path, nr, MOST_INSTANCES);
	for (size_t i = 0; i < nr && !err; i++) {
		if (v[i].is_job)
			continue;
		log_info("%s: %s", v[i].name, tokio_named_text(v[i].named));
		had = t->p->nr;
		err = add_instance(t, f, v[i].name, v[i].function);
		t->nr_named[v[i].named] += t->p->nr - had;
	}
	tokio_polls_free(v, nr);
	return err;
}

/* Files that cannot be read are passed over. */
static int look_into(void *arg, const char *path)
{
	struct tokio_files *t = arg;
	char version[CRATE_VERSION_BYTES];
	struct points_file f;
	size_t nr = t->p->nr;
	int err = points_open_file(&f, path, path);

	if (err)
		return 0;
	f.path = points_string(t->p, xstrdup(path));
	t->nr_files++;
	crate_version(functions_file(f.functions), version);
	/* Sources that cargo vendor copied lie in a folder without a version. */
	if (*version || tokio_has_polls(f.functions)) {
		f.places = places_open(f.functions);
		err = !f.places		 ? log_err(-errno, "cannot read the code of %s", path)
		      : t->p->opts->runs ? add_runs(t, &f)
					 : add_polls(t, &f);
	}
	if (*version && t->p->nr == nr && !t->mute) {
		t->mute = xstrdup(path);
		memcpy(t->version, version, sizeof(version));
	}
	points_close_file(&f);
	return err;
}

static int nothing_found(const struct tokio_files *t, const char *program)
{
	const char *who = program ? program : "these processes";

	if (t->nr_refused)
		return log_as(-ENOENT,
			      "the kernel takes no probe where any of %zu instances begin: %s",
			      t->nr_refused, t->refused);
	if (t->mute && t->nr_jobs)
		return log_as(-ENOENT,
			      "%s has Tokio %s and starts no tasks: all %zu instances of "
			      "tokio::runtime::task::raw::poll are of spawn_blocking()",
			      t->mute, t->version, t->nr_jobs);
	if (t->mute)
		return log_as(
			-ENOENT,
			"%s has Tokio %s and no names of its functions, since it is "
			"stripped: polls cannot be timed without a debug file. What does work "
			"is bpfprof offcpu --by-class",
			t->mute, t->version);
	if (!t->nr_files && program)
		return log_as(-ENOENT,
			      "%s is no program in machine code (ELF): what a script starts is "
			      "found by -p PID",
			      program);
	if (!t->nr_files)
		return log_as(-ENOENT, "no file of these processes can be read: they have ended, "
				       "are of the kernel, or may not be looked into");
	return log_as(-ENOENT,
		      "no program of Tokio: none of the %zu file%s of %s has its constants "
		      "(\"/tokio-1.x.y/src/\") or functions tokio::runtime::task::raw::poll%s",
		      t->nr_files, t->nr_files == 1 ? "" : "s", who,
		      program ? "; what it starts is found by -p PID" : "");
}

static void tell(const struct tokio_files *t)
{
	size_t sure = t->nr_named[TOKIO_BY_TYPE] + t->nr_named[TOKIO_BY_CALL];

	if (t->nr_refused)
		log_warn("the kernel takes no probe on %zu of %zu instances, whose polls are not "
			 "in the result: %s%s",
			 t->nr_refused, t->p->nr + t->nr_refused, t->refused,
			 t->nr_refused > MOST_REFUSED_NAMED ? ", ..." : "");
	if (t->p->opts->runs)
		log_info("%zu functions run tasks", t->nr_runs);
	else
		log_info(
			"%zu of %zu instances are named by their type or body, %zu by a guess; %zu "
			"of spawn_blocking() and of workers are left out",
			sure, t->p->nr, t->p->nr - sure - t->nr_named[TOKIO_BY_ADDRESS],
			t->nr_jobs);
}

int points_add_polls(struct points *p, const char *program)
{
	struct tokio_files t = { .p = p };
	char *why = NULL, *path;
	int err;

	if (*program) {
		path = target_find(program, NULL, NULL, &why);
		err = path ? look_into(&t, path) : log_as(-ENOENT, "%s", why);
		free(path);
		free(why);
	} else {
		err = points_for_each_file(p->opts->pids, look_into, &t);
	}
	if (!err && !p->nr)
		err = nothing_found(&t, *program ? program : NULL);
	if (!err)
		tell(&t);
	free(t.mute);
	free(t.refused);
	return err;
}

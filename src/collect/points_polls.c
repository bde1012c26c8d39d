/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Polls of Tokio's tasks: what is asked of files, and what is said where none has any. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "collect/points_files.h"

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

static void add_refused(struct tokio_files *t, const char *more)
{
	char *before = t->refused;

	if (!more)
		return;
	t->refused = xasprintf("%s%s%s", before ? before : "", before ? ", " : "", more);
	free(before);
}

/* Files that cannot be read are passed over. */
static int look_into(void *arg, const struct point_file *f)
{
	struct tokio_files *t = arg;
	struct points_question q = { .what = POINTS_POLLS, .nr_refused = t->nr_refused };
	struct points_told told;
	size_t nr = t->p->nr;
	int err = points_search(t->p, f, &q, "", &told);

	if (err) {
		points_told_release(&told);
		return points_may_pass(err) ? 0 : err;
	}
	t->nr_files++;
	t->nr_jobs += told.nr_jobs;
	t->nr_runs += told.nr_runs;
	t->nr_refused += told.nr_refused;
	for (size_t i = 0; i < TOKIO_NR_NAMED; i++)
		t->nr_named[i] += told.nr_named[i];
	add_refused(t, told.refused);
	if (*told.tokio && t->p->nr == nr && !t->mute) {
		t->mute = xstrdup(f->path);
		memcpy(t->version, told.tokio, sizeof(t->version));
	}
	points_told_release(&told);
	return 0;
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
			"is bpfprof offcpu, which goes by the form of stacks",
			t->mute, t->version);
	if (!t->nr_files && program)
		return log_as(-ENOENT,
			      "%s is no program in machine code (ELF): what a script starts is "
			      "found by -p PID",
			      program);
	if (points_are_gone(t->p))
		return -ESRCH;
	if (!t->nr_files)
		return log_as(-ENOENT, "no file of these processes can be read: they are of the "
				       "kernel, or may not be looked into");
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
			 t->nr_refused > POINTS_REFUSED_NAMED ? ", ..." : "");
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
	const struct point_file *f;
	char *why = NULL;
	int err;

	if (*program) {
		err = points_open_target(p, program, &f, &why);
		if (why)
			log_err(0, "%s", why);
		err = err ? err : look_into(&t, f);
		free(why);
	} else {
		err = points_for_each_file(p, look_into, &t);
	}
	if (!err && !p->nr)
		err = nothing_found(&t, *program ? program : NULL);
	if (!err)
		tell(&t);
	free(t.mute);
	free(t.refused);
	return err;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Opening and closing a recording. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "collect/klocks.h"
#include "collect/memory_fit.h"
#include "collect/record_parts.h"
#include "event/cgroup.h"
#include "profile/kind.h"
#include "reader/jail.h"

#define UNWIND_BYTES (64ull << 20)
#define READER_PART  5		   /* of all memory, for one that reads while it records */
#define LATE_NS	     1000000000ull /* for what is kept of names to be written */

static const struct store_ops store_ops = { kernel_segments_make, kernel_segments_drop };

/* What the kernel has deferred must not fill its slots meanwhile. */
static void fetch_meanwhile(void *arg)
{
	bool done;

	record_fetch(arg, false, &done);
}

static struct store *open_store(struct record *r)
{
	const struct session_maps *maps = session_maps(r->session);
	struct store_opts o = { .ops = &store_ops,
				.arg = session_segments(r->session),
				.exes = maps->exes,
				.procs = maps->procs,
				.epoch = maps->table_epoch,
				.pause = &r->pause,
				.reader = r->reading->reader,
				.reads_none = r->is_tight || r->opts->max_bytes,
				.python = !r->opts->no_python,
				.earlier = r->opts->before ? r->opts->before->store : NULL,
				.shelf = r->opts->shelf,
				.max_bytes = r->unwind_bytes };

	r->pause = (struct table_pause){ fetch_meanwhile, r };
	r->store = store_new(&o);
	return r->store;
}

static struct session_opts session_options(const struct record *r)
{
	struct session_opts so = {
		.probe = probe_get(record_row(r->opts)),
		.config = record_config(r->opts),
		.glob = &r->glob,
		.cgroup_fd = r->cgroup_fd,
		.max_stacks = r->opts->max_stacks,
		.for_long = r->opts->always_on || r->opts->live.turn,
		.max_bytes = r->opts->stack_bytes,
		.calls = r->opts->calls.nr_events ? &r->opts->calls : NULL,
		.hits = r->opts->sampling.nr_tracepoints != 0,
		.only_hits = r->opts->sampling.nr_tracepoints &&
			     r->opts->sampling.nr_tracepoints == r->opts->sampling.nr_events,
		.alloc = r->opts->alloc.every ? &r->opts->alloc : NULL,
		.timeline = kind_of(r->opts->command)->timeline ? &r->opts->timeline : NULL,
		.ops = kind_of(r->opts->command)->operation ? &r->opts->ops : NULL,
	};

	if (r->cgroup_fd >= 0)
		so.config.cgroup_id = cgroup_id(r->cgroup_fd);
	return so;
}

static int open_session(struct record *r, const struct session_opts *so)
{
	r->session = session_open(so);
	if (!r->session)
		return -errno;
	if (so->config.call_graph != CALL_GRAPH_FP && !open_store(r))
		return -errno;
	return session_attach(r->session);
}

/* Signals become readable, so that nothing is interrupted half-way. */
static int open_loop(struct record *r)
{
	uint64_t ns = r->opts->live.turn_ns ? r->opts->live.turn_ns : RECORD_TURN_NS;
	struct itimerspec turn = { .it_interval.tv_nsec = ns, .it_value.tv_nsec = ns };
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, SIGINT);
	sigaddset(&mask, SIGTERM);
	sigaddset(&mask, SIGHUP);
	sigprocmask(SIG_BLOCK, &mask, &r->old_mask);
	record_tell_early(false);
	r->signals = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	r->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (r->signals < 0 || r->timer < 0 || timerfd_settime(r->timer, 0, &turn, NULL))
		return log_err(-errno, "cannot set up timer and signals");
	return 0;
}

/* -EINVAL is a mistake on the command line. Once that is checked, it is the kernel that objects. */
int record_not_usage(int err)
{
	return err == -EINVAL ? -EIO : err;
}

static int open_reading(struct record *r)
{
	r->reading = r->opts->reading ? r->opts->reading : &r->own_reading;
	return r->reading->reader ? 0 : reading_open(r->reading);
}

static int fit(struct record *r, struct session_opts *so)
{
	const struct memory_given given = { .max_bytes = r->opts->max_bytes };

	r->unwind_bytes = r->opts->unwind_bytes ? r->opts->unwind_bytes : UNWIND_BYTES;
	r->is_tight = memory_is_tight(&given);
	if (r->is_tight || given.max_bytes)
		mem_for_long();
	jail_allow_bytes(given.max_bytes / READER_PART);
	return memory_fit(so, &r->unwind_bytes, &given);
}

static int prepare(struct record *r)
{
	const struct record_opts *o = r->opts;
	struct session_opts so = session_options(r);
	int err;

	err = fit(r, &so);
	if (!err)
		err = open_reading(r);
	if (!err && o->live.target && o->live.target->pid)
		r->target = *o->live.target;
	else if (!err && o->program)
		err = target_start(&r->target, o->program);
	if (!err)
		err = open_session(r, &so);
	if (!err)
		err = open_loop(r);
	if (err)
		return record_not_usage(err);
	r->sideband = sideband_open();
	return r->sideband ? 0 : record_not_usage(-errno);
}

struct record *record_open(const struct record_opts *o)
{
	struct rlimit files;
	struct record *r = xcalloc(1, sizeof(*r));
	int err;

	*r = (struct record){
		.opts = o, .cgroup_fd = -1, .target.pidfd = -1, .timer = -1, .signals = -1
	};
	sigprocmask(SIG_SETMASK, NULL, &r->old_mask);
	if (!getrlimit(RLIMIT_NOFILE, &files)) { /* an event per CPU, a file per module */
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	err = record_check(r);
	if (!err)
		err = prepare(r);
	if (!err)
		return r;
	record_close(r);
	errno = -err;
	return NULL;
}

void record_hand_over(struct record *r, struct target *to)
{
	*to = r->target;
	r->target = (struct target){ .pidfd = -1 };
}

void record_go_alone(struct record *r)
{
	struct store_stats s;

	if (!r->store)
		return;
	store_go_alone(r->store);
	s = store_stats(r->store);
	log_info("unwind tables: %zu, of which %zu were taken over", s.nr_tables, s.nr_taken);
}

static void nothing(int signal)
{
	(void)signal;
}

/* Ends as if it had not been here: whoever waits for us sees by which signal. */
static void end_early(int signal)
{
	static const char text[] =
		"bpfprof: interrupted before the recording began: nothing was recorded\n";
	ssize_t done = write(STDERR_FILENO, text, sizeof(text) - 1);

	(void)done;
	raise(signal);
}

/* For all three signals: to a handler where it was the default, or back. */
static void handle(const struct sigaction *by, bool on)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	const struct sigaction usual = { .sa_handler = SIG_DFL };
	struct sigaction now;

	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++) {
		sigaction(signals[i], NULL, &now);
		if (on && now.sa_handler == SIG_DFL)
			sigaction(signals[i], by, NULL);
		else if (!on && now.sa_handler == by->sa_handler)
			sigaction(signals[i], &usual, NULL);
	}
}

void record_tell_early(bool on)
{
	handle(&(struct sigaction){ .sa_handler = end_early,
				    .sa_flags = SA_RESETHAND | SA_NODEFER },
	       on);
}

void record_survive(bool one)
{
	handle(&(struct sigaction){ .sa_handler = nothing, .sa_flags = SA_RESTART | SA_RESETHAND },
	       one);
}

void record_is_done(struct record *r)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	const struct sigaction always = { .sa_handler = nothing };
	struct sigaction now;

	r->done = true;
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++) {
		sigaction(signals[i], NULL, &now);
		if (now.sa_handler == SIG_DFL || now.sa_handler == nothing)
			sigaction(signals[i], &always, NULL);
	}
}

void record_close(struct record *r)
{
	if (!r)
		return;
	sampling_release(&r->sampling);
	groups_close(&r->groups);
	target_stop(&r->target);
	sideband_close(r->sideband);
	store_free(r->store);
	lifetimes_free(r->lifetimes);
	session_close(r->session);
	capture_release(&r->capture);
	proc_release(&r->procs);
	reading_close(&r->own_reading);
	index_release(&r->call_rows);
	timeline_marks_release(&r->marks);
	klock_names_free(r->klock_names);
	opt_ids_release(&r->probed);
	cpus_release(&r->confined);
	free(r->cpu_times);
	profile_free(r->profile);
	if (r->timer >= 0)
		close(r->timer);
	if (r->signals >= 0)
		close(r->signals);
	if (r->cgroup_fd >= 0)
		close(r->cgroup_fd);
	sigprocmask(SIG_SETMASK, &r->old_mask, NULL);
	reader_late_end(&r->late, LATE_NS);
	if (!r->done)
		record_survive(false);
	free(r);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The part of a recording that is about calls: where its programs stand, and what they found. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "collect/klocks.h"
#include "collect/points_files.h"
#include "collect/record_parts.h"
#include "collect/syscalls.h"
#include "profile/kind.h"

/*
 * Links of their own for so many processes: each has the kernel look through all that map the file.
 * With more of them, all who map it pay for a trap, and the filter leaves the others out.
 */
#define MAX_PROBED 16
/* Of allocators, which are called too often to let others pay for the trap. */
#define MAX_ALLOCATING 256

/*
 * Has it had children that it waited for? Then it will have more, which may be gone before anybody
 * hears of them. (In /proc/PID/stat, the page faults of such children.)
 */
static bool has_forked(uint32_t pid)
{
	char path[64], line[1024] = "";
	unsigned long minor = 0, major = 0;
	const char *end;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/stat", pid);
	f = fopen(path, "re");
	if (!f)
		return false;
	if (!fgets(line, sizeof(line), f))
		line[0] = '\0';
	fclose(f);
	end = strrchr(line, ')'); /* state ppid pgrp session tty tpgid flags minflt cminflt … */
	return end &&
	       sscanf(end + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %lu %*u %lu", &minor, &major) ==
		       2 &&
	       minor + major;
}

/* Do the selected processes start others, as far as is known? */
static bool have_children(const struct record *r)
{
	const struct record_opts *o = r->opts;
	bool any = HASH_COUNT(r->procs.processes) > o->pids.nr;

	for (size_t i = 0; i < o->pids.nr && !any; i++)
		any = has_forked(o->pids.v[i]);
	return any;
}

/*
 * Children may be gone before we hear of them: to see all of theirs, all who map the file are
 * probed, and the filter leaves the others out. So it is with a program that we start, and with
 * processes that have had children. Allocators are called too often for that.
 */
static bool only_selected(const struct record *r)
{
	const struct record_opts *o = r->opts;

	if (o->alloc.every)
		return true;
	if (o->calls.points[0].kind != POINT_UPROBE || o->tids.nr || (!o->pids.nr && !o->program))
		return false;
	return !o->all && (o->no_children || (!o->program && !have_children(r)));
}

static size_t most_probed(const struct record *r)
{
	return r->opts->alloc.every ? MAX_ALLOCATING : MAX_PROBED;
}

static int probe_process(struct record *r, uint32_t pid)
{
	int err = session_probe(r->session, pid);

	opt_ids_add(&r->probed, pid);
	return err == -ESRCH ? 0 : err;
}

/* Those that are known and not probed yet. */
static int probe_new(struct record *r)
{
	struct process *p, *next;
	int err = 0;

	HASH_ITER (hh, r->procs.processes, p, next)
		if (!err && !p->exit_ns && !opt_ids_has(&r->probed, p->pid) &&
		    r->probed.nr < most_probed(r))
			err = probe_process(r, p->pid);
	return err;
}

static int probe_all(struct record *r)
{
	r->probes_all = true;
	session_unprobe(r->session);
	return session_probe(r->session, 0);
}

int record_probe_again(struct record *r)
{
	if (!only_selected(r) ||
	    (HASH_COUNT(r->procs.processes) > MAX_PROBED && !r->opts->alloc.every))
		return probe_all(r);
	return probe_new(r);
}

int record_probe(struct record *r)
{
	int err = 0;

	if (r->opts->calls.points[0].kind == POINT_UPROBE) {
		r->price = price_measure(); /* not when rights are given up */
		record_tell_price(r);
		err = points_check(r->reading, &r->opts->calls);
	}
	err = err ? err : record_probe_again(r);
	if (!err)
		record_begin_cost(r);
	return err;
}

void record_unprobe(struct record *r)
{
	session_unprobe(r->session);
	opt_ids_release(&r->probed);
	r->probes_all = false;
}

/* Once. */
static void tell_of_most(struct record *r)
{
	if (!r->told_of_most)
		log_warn("%d processes are probed: the allocations of further ones are not seen",
			 MAX_ALLOCATING);
	r->told_of_most = true;
}

void record_probe_more(struct record *r)
{
	if (!r->opts->calls.nr_points || r->probes_all || (r->duty.share > 0 && !r->duty.on))
		return;
	if (!only_selected(r)) {
		log_warn("the probed processes start others: from now on all processes are probed "
			 "that have %s mapped, and some 50 ms of calls are not seen meanwhile "
			 "(--no-children leaves them out)",
			 r->opts->calls.points[0].where);
		probe_all(r);
	} else if (r->probed.nr < most_probed(r))
		probe_new(r);
	else if (!r->opts->alloc.every)
		probe_all(r);
	else
		tell_of_most(r);
}

void record_price(struct record *r, double alone_ns)
{
	double more = syscalls_price_ns() - alone_ns;

	r->profile->meta.others_ns = more > 0 ? more + 0.5 : 0;
}

/* "EAGAIN"; the kernel has some more for itself, to call again. */
static const char *error_name(int64_t value)
{
	static const char *const again[] = { "ERESTARTSYS", "ERESTARTNOINTR", "ERESTARTNOHAND", "",
					     "ERESTART_RESTARTBLOCK" };
	const char *name = value ? strerrorname_np(-value) : "";

	if (value <= -512 && value >= -516)
		name = again[-value - 512];
	return name ? name : "unknown error";
}

/* Rows by what they are of. */
struct row_key {
	const struct profile *profile;
	uint32_t event, values, pid;
};

static bool is_row(const void *arg, uint32_t id)
{
	const struct row_key *k = arg;
	const struct call_row *row = &k->profile->call_rows[id];

	return row->event == k->event && row->values == k->values && row->pid == k->pid;
}

static struct call_row *row_of(struct record *r, uint32_t event, uint32_t values, uint32_t pid)
{
	struct row_key key = { r->profile, event, values, r->opts->calls.by_process ? pid : 0 };
	const uint32_t ids[] = { event, values, key.pid };
	uint32_t hash = index_hash(0, ids, sizeof(ids)), id;

	if (!index_find(&r->call_rows, hash, is_row, &key, &id)) {
		id = r->profile->nr_call_rows;
		profile_add_call_row(
			r->profile,
			&(struct call_row){ .event = event, .values = values, .pid = key.pid });
		index_add(&r->call_rows, hash, id);
	}
	return &r->profile->call_rows[id];
}

/* "12", with tokio_unstable "12 (src/main.rs:30)". */
static char *task_text(const struct call_values *v)
{
	const char *file = v->text[0];
	size_t len = strnlen(file, CALL_STRING);

	if (!v->value[0])
		return xstrdup("");
	if (!v->value[1] || len < 3 || len == CALL_STRING || strcmp(file + len - 3, ".rs"))
		return xasprintf("%" PRIu64, (uint64_t)v->value[0]);
	return xasprintf("%" PRIu64 " (%s%s:%" PRIu64 ")", (uint64_t)v->value[0],
			 len == CALL_STRING - 1 ? "…" : "", file, (uint64_t)v->value[1]);
}

static uint32_t task_string(struct record *r, const struct call_values *v)
{
	char *text = task_text(v);
	uint32_t string = profile_string(r->profile, text);

	free(text);
	return string;
}

/* "64, /etc/passwd"; how numbers are meant the argument says. */
static uint32_t values_text(struct record *r, uint32_t slot1)
{
	const struct session_maps *m = session_maps(r->session);
	const struct call_values *v;
	const struct call_args *a;
	char text[CALL_MAX_ARGS * (CALL_STRING + 4)] = "";
	size_t len = 0, nr_texts = 0;

	if (r->klock_names)
		return profile_string(r->profile, klock_name(r->klock_names, slot1));
	if (!slot1 || slot1 > m->nr_call_values || !m->call_values[slot1 - 1].ready)
		return 0;
	v = &m->call_values[slot1 - 1];
	if (v->args >= r->opts->calls.nr_args)
		return 0;
	a = &r->opts->calls.args[v->args];
	if (a->nr_args && a->v[0].kind == CALL_ARG_TASK)
		return task_string(r, v);
	for (size_t i = 0; i < a->nr_args; i++) {
		const char *between = i ? ", " : "";

		if (a->v[i].is_error)
			len += snprintf(text + len, sizeof(text) - len, "%s%s", between,
					error_name(v->value[i]));
		else if (a->v[i].is_string && nr_texts < CALL_MAX_STRINGS)
			len += snprintf(text + len, sizeof(text) - len, "%s%.*s", between,
					CALL_STRING, v->text[nr_texts++]);
		else if (a->v[i].is_signed)
			len += snprintf(text + len, sizeof(text) - len, "%s%" PRId64, between,
					(int64_t)v->value[i]);
		else
			len += snprintf(text + len, sizeof(text) - len, "%s%" PRIu64, between,
					(uint64_t)v->value[i]);
	}
	return profile_string(r->profile, text);
}

/* The stack with one frame more, innermost. A full one loses its outermost frame. */
static uint32_t with_frame(struct profile *p, uint32_t stack, uint32_t frame)
{
	const struct stack *s = &p->stacks[stack];
	enum unwind_end end = stack_end(s);
	uint32_t frames[PROF_MAX_FRAMES] = { frame }, guessed = s->guessed, nr;
	const uint32_t *old = profile_stack_frames(p, stack, &nr);

	if (nr >= PROF_MAX_FRAMES) {
		nr = PROF_MAX_FRAMES - 1;
		end = UNWIND_END_DEPTH;
	}
	memcpy(&frames[1], old, nr * sizeof(*frames));
	return profile_stack(p, frames, nr + 1, end, guessed);
}

/* "[64, /etc/passwd]", above the function that was called with them. */
static void add_arguments(struct profile *p, uint32_t values, struct sample *s)
{
	char *text = xasprintf("[%s]", profile_str(p, values));
	uint32_t name = profile_string(p, text);
	uint32_t frame = profile_frame(p, FRAME_NONE, 0, name);

	profile_name_frame(p, frame, name, 0);
	if (s->kstack)
		s->kstack = with_frame(p, s->kstack, frame);
	else
		s->ustack = with_frame(p, s->ustack, frame);
	free(text);
}

void record_take_call(void *arg, const struct prof_count *n, struct sample *s)
{
	struct record *r = arg;
	uint32_t every = r->opts->calls.every > 1 ? r->opts->calls.every : 1;
	uint32_t values = values_text(r, n->chain);
	struct call_row *row = row_of(r, PROF_WAIT_EVENT(n->wait), values, n->pid);
	const char *name = row->pid ? proc_name(&r->procs, row->pid) : NULL;

	row->calls += n->samples * every;
	if (r->opts->calls.timed)
		row->sum_ns += n->weight;
	if (row->pid && !row->process)
		row->process = name ? profile_string(r->profile, name)
				    : profile_string_n(r->profile, n->comm, sizeof(n->comm));
	if (r->opts->calls.arg_frame && values)
		add_arguments(r->profile, values, s);
}

static void take_hist(struct record *r, const struct call_hist *h)
{
	uint32_t every = r->opts->calls.every > 1 ? r->opts->calls.every : 1;
	struct call_row *row = row_of(r, h->event, values_text(r, h->values), h->pid);
	struct call_bucket b = { .row = row - r->profile->call_rows };
	bool counted = !r->opts->calls.slow_ns; /* each call is in the counts as well */

	if (h->hist.max_ns > row->max_ns)
		row->max_ns = h->hist.max_ns;
	row->sum_ns += counted ? 0 : h->hist.sum_ns;
	for (b.index = 0; b.index < PROF_HIST_BUCKETS; b.index++) {
		b.count = h->hist.count[b.index] * every;
		row->calls += counted ? 0 : b.count;
		if (b.count)
			profile_add_call_bucket(r->profile, &b);
	}
}

/* Of probes that stand in all who map the file: what others had of it. */
static void tell_others(const struct record *r)
{
	uint64_t c[PROF_NR_COUNTERS], hits;

	session_counters(r->session, c);
	hits = c[PROF_FILTER_PID];
	if (hits && r->probes_all && r->opts->calls.points[0].kind == POINT_UPROBE)
		log_warn("processes that were not selected ran into the probes %s times, and each "
			 "time cost them %s%s",
			 text_count(hits), text_ns(r->probe_cost.probe_ns ?: r->price.emulated_ns),
			 r->opts->no_children ? "" : " (with --no-children they have none)");
}

void record_describe_calls(struct record *r)
{
	const struct session_maps *m = session_maps(r->session);
	const struct calls_opts *o = &r->opts->calls;
	struct profile *p = r->profile;

	for (size_t i = 0; i < o->nr_events; i++)
		profile_add_event(p, &(struct sampled_event){
					     .name = profile_string(p, o->events[i].name),
					     .note = profile_string(p, o->events[i].where),
					     .period = o->every > 1 ? o->every : 1,
				     });
	for (size_t i = 0; i < m->nr_call_hists; i++)
		if (m->call_hists[i].hash)
			take_hist(r, &m->call_hists[i]);
	if (o->nr_points)
		tell_others(r);
	p->meta.timed = o->timed;
	p->meta.slow_poll_ns = o->slow_ns;
	p->meta.by_weight = !o->slow_ns;
	p->meta.event = o->nr_events == 1 ? p->events[0].name : p->meta.command;
}

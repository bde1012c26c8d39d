/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The summary and the tables of broken stacks and of threads for programs, by json-c. All text is
 * made valid UTF-8 first.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "output/contexts.h"
#include "output/call_stacks.h"
#include "output/calls.h"
#include "output/slow_polls.h"
#include "output/json_functions.h"
#include "output/json_put.h"
#include "output/output.h"
#include "output/locks.h"
#include "output/missing_rows.h"
#include "output/wakers.h"
#include "profile/audit.h"
#include "profile/branches.h"
#include "profile/breaks.h"
#include "profile/budget.h"
#include "profile/lengths.h"
#include "profile/nameless.h"
#include "profile/titles.h"
#include "profile/waits.h"

static struct json_object *facts(const struct profile *p)
{
	const struct profile_meta *m = &p->meta;
	struct json_object *o = json_object_new_object();

	json_put_string(o, "command", p, m->command);
	json_put_string(o, "target", p, m->target);
	json_put_string(o, "event", p, m->event);
	json_put_string(o, "event_note", p, m->event_note);
	json_put_count(o, "rate_hz", m->rate_hz);
	json_put_count(o, "cpus", m->nr_cpus);
	json_put_number(o, "start_s", m->start_ns / 1e9);
	json_put_number(o, "duration_s", m->duration_ns / 1e9);
	json_put_end(o, m->ended_by);
	json_put_number(o, "suspended_s", m->suspended_ns / 1e9);
	json_put_string(o, "host", p, m->host);
	json_put_string(o, "kernel", p, m->kernel);
	json_put_string(o, "arch", p, m->arch);
	json_put_string(o, "bpfprof", p, m->version);
	return o;
}

static struct json_object *ledger(const struct profile *p)
{
	struct json_object *o = json_object_new_object();
	struct expected x;

	json_put_ledger(o, p->counters);
	if (!profile_is_mixed(p)) /* else they are in different units */
		json_put_count(o, "period_sum", profile_weight(p)); /* cycles, or ns of cpu-clock */
	if (p->meta.is_time) {
		json_put_count(o, "filtered_us", waits_us(p->counters[PROF_FILTER_NS]));
		json_put_count(o, "lost_us", waits_us(p->counters[PROF_LOST_NS]));
	}
	json_put_expected(o, expected_init(&x, p) ? &x : NULL);
	json_object_object_add(o, "incomplete", json_object_new_boolean(p->meta.incomplete != 0));
	json_put_count(o, "runs_skipped_by_kernel", p->meta.missed);
	json_put_count(o, "sideband_records_lost", p->meta.sideband_lost);
	json_put_count(o, "throttles", p->meta.throttles);
	json_put_count(o, "throttled_ns", p->meta.throttled_ns);
	return o;
}

/* How each event was sampled, and what was found of it. */
static struct json_object *event(const struct profile *p, size_t i)
{
	const struct sampled_event *e = &p->events[i];
	struct profile one = profile_of_event(p, i);
	struct json_object *o = json_object_new_object();
	uint64_t nr = 0;

	for (size_t k = 0; k < one.nr_samples; k++)
		nr += one.samples[k].count;
	json_put_string(o, "name", p, e->name);
	json_put_string(o, "note", p, e->note);
	json_put_count(o, "period", e->period);
	json_put_count(o, "rate_hz", e->rate_hz);
	json_put_number(o, "duty_pct", 100 * sampled_event_duty(e));
	json_put_count(o, "samples", nr);
	json_put_count(o, "period_sum", profile_weight(&one));
	json_put_number(o, "rooted_pct", 100 * profile_rooted_share(&one));
	profile_of_event_release(&one);
	return o;
}

static struct json_object *events(const struct profile *p)
{
	struct json_object *list = json_object_new_array();

	for (size_t i = 0; i < p->nr_events; i++)
		json_object_array_add(list, event(p, i));
	return list;
}

static struct json_object *broken(const struct profile_broken by_end[UNWIND_NR_ENDS])
{
	struct json_object *o = json_object_new_object();

	for (size_t i = 0; i < UNWIND_NR_ENDS; i++)
		json_put_count(o, unwind_end_keys[i], by_end[i].samples);
	return o;
}

static double pct(uint64_t part, uint64_t all)
{
	return all ? 100.0 * part / all : 0;
}

static void put_shares(struct json_object *o, const struct profile *p)
{
	json_put_number(o, "rooted_pct", 100 * profile_rooted_share(p));
	json_put_number(o, "guessed_pct", 100 * profile_guessed_share(p));
}

/* Of weight; all ends and rooted_pct add up to 100. */
static struct json_object *stacks(const struct profile *p,
				  const struct profile_broken by_end[UNWIND_NR_ENDS])
{
	struct json_object *o = json_object_new_object(), *ends = json_object_new_object();

	put_shares(o, p);
	for (size_t i = 0; i < UNWIND_NR_ENDS; i++)
		json_put_number(ends, unwind_end_keys[i],
				pct(by_end[i].weight, profile_stack_weight(p)));
	json_object_object_add(o, "ends", ends);
	return o;
}

/* Of weight with user frames: what has no name, and what would give it one; null of none. */
static struct json_object *names(const struct profile *p)
{
	struct json_object *o = json_object_new_object(), *list = json_object_new_array(), *row;
	bool lacks_inlined = false;
	struct nameless n;

	nameless_init(&n, p);
	json_put_or_null(o, "named_pct", n.all ? pct(n.all - n.weight, n.all) : NAN);
	json_put_or_null(o, "inlined_pct", n.all ? pct(n.inlined, n.all) : NAN);
	for (size_t i = 0; i < n.nr; i++) {
		const struct nameless_row *of = &n.rows[i];

		lacks_inlined |= of->is_inlined;
		row = json_object_new_object();
		json_put_string(row, "module", p, p->modules[of->module].path);
		json_put_string(row, "process", p, of->process);
		json_put_number(row, "pct", pct(of->weight, n.all));
		json_object_object_add(row, "remedy", json_text(of->remedy));
		json_object_array_add(list, row);
	}
	json_object_object_add(o, "without", list);
	json_object_object_add(o, "missing", missing_rows_json(p, lacks_inlined));
	nameless_release(&n);
	return o;
}

static struct json_object *put_sum(struct json_object *o, const char *key,
				   const struct waits_sum *sum)
{
	struct json_object *pair = json_object_new_object();

	json_put_count(pair, "us", waits_us(sum->ns));
	json_put_count(pair, "waits", sum->nr);
	json_object_object_add(o, key, pair);
	return pair;
}

/* How long waits were, beside the sums of classes. */
static void put_lengths(struct json_object *classes, struct json_object *idle,
			const struct waits *w, const struct profile *p)
{
	struct class_lengths *of;

	if (!lengths_known(p))
		return;
	of = xmalloc(sizeof(*of));
	class_lengths_init(of, w, p);
	for (uint32_t i = 0; i < WAIT_NR_CLASSES; i++)
		json_object_object_add(json_object_object_get(classes, waits_name(i)), "lengths",
				       runqlat_hist_json(&of->by_class[i]));
	json_object_object_add(idle, "lengths", runqlat_hist_json(&of->idle));
	free(of);
}

/* Classes and idle add up to all; the others are parts of it. */
static struct json_object *waits(const struct profile *p, const struct view *v)
{
	static const char *const modes[] = {
		[IDLE_FOLD] = "fold", [IDLE_HIDE] = "hide", [IDLE_SHOW] = "show"
	};
	struct json_object *o = json_object_new_object(), *classes = json_object_new_object();
	struct json_object *idle;
	struct waits_sum runnable;
	struct waits w;

	waits_init(&w, p, v);
	put_sum(o, "all", &w.all);
	for (uint32_t i = 0; i < WAITS_NR; i++)
		put_sum(classes, waits_name(i), &w.by_class[i]);
	json_object_object_add(o, "classes", classes);
	runnable = waits_runnable(&w);
	put_sum(o, "runnable", &runnable);
	idle = put_sum(o, "idle", &w.idle);
	put_lengths(classes, idle, &w, p);
	json_object_object_add(o, "idle_mode", json_text(modes[v->idle]));
	put_sum(o, "left_out", &w.left_out);
	put_sum(o, "not_ended", &w.open);
	put_sum(o, "begun_before", &w.before);
	put_sum(o, "not_sampled", &w.not_sampled);
	json_put_count(o, "threads", w.nr_threads);
	json_put_count(o, "stacks_walked", p->counters[PROF_WALKED]);
	json_put_count(o, "stacks_verified", p->counters[PROF_VERIFIED]);
	json_put_count(o, "stacks_not_taken", p->counters[PROF_NOT_SAMPLED]);
	json_put_count(o, "audit_wrong", p->counters[PROF_AUDIT_WRONG]);
	waits_release(&w);
	return o;
}

static struct json_object *branches(const struct profile *p, const struct view *v)
{
	struct json_object *list = json_object_new_array(), *o;
	struct branches b;

	branches_init(&b, p, v);
	for (size_t i = 0; i < b.nr; i++) {
		const struct branches_row *row = &b.rows[i];

		o = json_object_new_object();
		json_object_object_add(o, "from", json_text(row->from));
		json_object_object_add(o, "to", json_text(row->to));
		json_put_count(o, "count", row->count);
		json_put_count(o, "mispredicted", row->mispredicted);
		json_put_count(o, "untold", row->untold);
		json_put_or_null(o, "mispredicted_pct", branches_mispredicted_pct(row));
		json_put_or_null(o, "cycles", branches_cycles(row));
		json_object_array_add(list, o);
	}
	branches_release(&b);
	return list;
}

static struct json_object *frames(const struct profile *p, uint32_t stack)
{
	struct json_object *list = json_object_new_array();
	uint32_t nr;
	const uint32_t *ids = profile_stack_frames(p, stack, &nr);

	for (uint32_t i = 0; i < nr; i++)
		json_object_array_add(list, json_text(profile_frame_name(p, ids[i])));
	return list;
}

/* An example of each kind, leaf first. */
static struct json_object *audit(const struct profile *p)
{
	struct json_object *list = json_object_new_array(), *o;
	struct audit_row rows[AUDIT_MAX_ROWS];
	size_t nr = audit_rows(p, rows);

	for (size_t i = 0; i < nr; i++) {
		const struct disagreement *d = rows[i].first;

		o = json_object_new_object();
		json_object_object_add(o, "half",
				       json_text(d->half == PROF_STACK_KERNEL ? "kernel" : "user"));
		json_object_object_add(o, "kind", json_text(audit_kind_keys[rows[i].kind]));
		json_put_count(o, "times", rows[i].times);
		json_put_string(o, "process", p, d->process);
		json_put_count(o, "pid", d->pid);
		json_put_string(o, "thread", p, d->thread);
		json_put_count(o, "tid", d->tid);
		json_object_object_add(o, "remembered", frames(p, d->remembered));
		json_object_object_add(o, "walked", frames(p, d->walked));
		json_object_array_add(list, o);
	}
	return list;
}

int json_write(const struct profile *p, const struct view *view, FILE *out)
{
	struct view whole = *view, *v = &whole;
	struct json_object *o = json_document("bpfprof-profile");
	struct profile_broken by_end[UNWIND_NR_ENDS];
	struct json_object *wakers, *runtime, *rows;
	struct profile one;

	whole.gaps = false; /* which have a place of their own */
	json_object_object_add(o, "profile", facts(p));
	json_object_object_add(o, "samples", ledger(p));
	one = profile_is_mixed(p) ? profile_of_event(p, view_event(v, p)) : *p;
	profile_broken_ends(&one, by_end);
	json_put_number(o, "rooted_share", profile_rooted_share(&one));
	json_object_object_add(o, "broken_by", broken(by_end));
	json_object_object_add(o, "stacks", stacks(&one, by_end));
	json_object_object_add(o, "names", names(&one));
	if (profile_is_mixed(p))
		profile_of_event_release(&one);
	json_object_object_add(o, "cost", json_cost(p));
	if (p->meta.is_time)
		json_object_object_add(o, "waits", waits(p, v));
	runtime = contexts_json(p, v);
	if (runtime)
		json_object_object_add(o, "runtime", runtime);
	wakers = wakers_json(p, v);
	if (wakers)
		json_object_object_add(o, "wakers", wakers);
	if (p->nr_disagreements)
		json_object_object_add(o, "audit", audit(p));
	rows = locks_json(p, v);
	if (rows)
		json_object_object_add(o, "locks", rows);
	rows = slow_polls_json(p);
	if (rows)
		json_object_object_add(o, "slow_polls", rows);
	rows = calls_json(p);
	if (rows)
		json_object_object_add(o, "calls", rows);
	else if (p->nr_events)
		json_object_object_add(o, "events", events(p));
	rows = call_stacks_json(p, v);
	if (rows)
		json_object_object_add(o, "call_stacks", rows);
	if (p->nr_branches)
		json_object_object_add(o, "branches", branches(p, v));
	json_put_functions(o, p, v);
	json_print(o, true, out);
	return 0;
}

static struct json_object *broken_row(const struct profile *p, const struct view *v,
				      const struct break_row *row, uint64_t all)
{
	const char *function = view_frame_name(v, p, row->frame);
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "module", json_text(break_module(p, row)));
	json_put_string(o, "process", p, row->process);
	json_object_object_add(o, "function", *function ? json_text(function) : NULL);
	json_object_object_add(o, "end", json_text(unwind_end_keys[row->end]));
	json_put_number(o, "pct", pct(row->weight, all));
	json_put_count(o, "samples", row->samples);
	json_put_count(o, "weight", row->weight);
	json_object_object_add(o, "why", json_text(unwind_end_texts[row->end]));
	json_object_object_add(o, "remedy", json_text(row->remedy));
	return o;
}

int broken_json_write(const struct profile *p, const struct view *v, FILE *out)
{
	struct json_object *o = json_document("bpfprof-broken"), *rows = json_object_new_array();
	struct breaks b;

	breaks_init(&b, p);
	put_shares(o, p);
	json_put_number(o, "broken_pct", pct(b.weight, b.all));
	for (size_t i = 0; i < b.nr; i++)
		json_object_array_add(rows, broken_row(p, v, &b.rows[i], b.all));
	json_object_object_add(o, "broken", rows);
	breaks_release(&b);
	json_print(o, true, out);
	return 0;
}

/*
 * Exact: on_cpu, runnable (woken and preempted), throttled, blocked and the residual add up to
 * wall_ns.
 */
static struct json_object *budget(const struct profile *p, const struct budget_row *row)
{
	struct json_object *o = json_object_new_object(), *blocked = json_object_new_object();

	json_put_count(o, "wall_ns", row->wall_ns);
	json_put_count(o, "on_cpu_ns", row->ns[WAITS_ON_CPU]);
	json_put_count(o, "runnable_ns", budget_runnable(row));
	json_put_count(o, "woken_ns", row->ns[WAIT_WOKEN]);
	json_put_count(o, "preempted_ns", row->ns[WAIT_PREEMPTED]);
	json_put_count(o, "throttled_ns", row->ns[WAIT_THROTTLED]);
	for (uint32_t i = 0; i < WAIT_NR_CLASSES; i++)
		if (budget_is_blocked(i) && row->ns[i])
			json_put_count(blocked, wait_class_names[i], row->ns[i]);
	json_object_object_add(o, "blocked_ns", blocked);
	json_object_object_add(o, "residual_ns", json_object_new_int64(budget_residual(row)));
	json_put_count(o, "threads", row->nr_threads);
	return o;
}

static struct json_object *budget_of_process(const struct profile *p, const struct budget *b,
					     const struct budget_process *process)
{
	struct json_object *o = budget(p, &process->sum), *list = json_object_new_array(), *t;

	json_put_string(o, "process", p, process->sum.process);
	json_put_string(o, "title", p, titles_find(p, process->sum.pid));
	json_put_count(o, "pid", process->sum.pid);
	for (size_t i = 0; i < process->nr; i++) {
		t = budget(p, &b->threads[process->first + i]);
		json_put_string(t, "thread", p, b->threads[process->first + i].thread);
		json_put_count(t, "tid", b->threads[process->first + i].tid);
		json_object_array_add(list, t);
	}
	json_object_object_add(o, "by_thread", list);
	return o;
}

int budget_json_write(const struct profile *p, const struct view *v, FILE *out)
{
	struct json_object *o = json_document("bpfprof-table"), *list = json_object_new_array();
	struct budget b;

	budget_init(&b, p);
	for (size_t i = 0; i < b.nr_processes; i++)
		json_object_array_add(list, budget_of_process(p, &b, &b.processes[i]));
	json_object_object_add(o, "processes", list);
	json_object_object_add(o, "all", budget(p, &b.all));
	budget_release(&b);
	json_print(o, true, out);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The Trace Event Format of Chrome, which ui.perfetto.dev and speedscope read: a track for each
 * thread with all that it did, one for each CPU with the threads that ran there, and an arrow from
 * who woke a thread to where it ran. Times are us since the begin of the recording, to the ns. A
 * slice has a begin and an end, whose times are digit by digit those of its neighbours: a viewer
 * that adds up begin and length as doubles would find that some overlap.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "output/json_put.h"
#include "output/output.h"

#define CPUS_PID PROF_PID_LIMIT /* no process has that number */

/* In the order in which those of a span stand at one time: an arrow points into what has begun. */
enum mark { MARK_BEGIN, MARK_CPU_BEGIN, MARK_WOKEN, MARK_WAKES, MARK_CPU_END, MARK_END };

struct trace_event {
	uint64_t ns;
	uint32_t at;   /* span whose place it has among those of one time */
	uint32_t span; /* that it is of */
	enum mark mark;
};

struct trace {
	const struct timeline *t;
	FILE *out;
	bool *cpus;	     /* that anything ran on */
	uint32_t *following; /* of each thread, its span after the one that is looked at */
	struct trace_event *v;
	size_t nr, cap;
	const char *between;
};

static void put(struct trace *x, struct json_object *o)
{
	fputs(x->between, x->out);
	fputs(json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN |
							JSON_C_TO_STRING_NOSLASHESCAPE),
	      x->out);
	json_object_put(o);
	x->between = ",\n";
}

static struct json_object *event(const char *phase, const char *name, uint32_t pid, uint32_t tid)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "ph", json_text(phase));
	json_object_object_add(o, "name", json_text(name));
	json_put_count(o, "pid", pid);
	json_put_count(o, "tid", tid);
	return o;
}

static void put_us(struct json_object *o, const char *key, uint64_t ns)
{
	char digits[32];

	snprintf(digits, sizeof(digits), "%" PRIu64 ".%03u", ns / 1000, (unsigned int)(ns % 1000));
	json_object_object_add(o, key, json_object_new_double_s(ns / 1e3, digits));
}

/* "process_name" and the like. */
static void put_name(struct trace *x, const char *what, uint32_t pid, uint32_t tid,
		     const char *name)
{
	struct json_object *o = event("M", what, pid, tid), *args = json_object_new_object();

	json_object_object_add(args, "name", json_text(name));
	json_object_object_add(o, "args", args);
	put(x, o);
}

static void put_order(struct trace *x, uint32_t pid, int order)
{
	struct json_object *o = event("M", "process_sort_index", pid, pid);
	struct json_object *args = json_object_new_object();

	json_object_object_add(args, "sort_index", json_object_new_int(order));
	json_object_object_add(o, "args", args);
	put(x, o);
}

static void put_cpu_names(struct trace *x)
{
	char name[16];

	put_name(x, "process_name", CPUS_PID, CPUS_PID, "CPUs");
	put_order(x, CPUS_PID, -1);
	for (uint32_t cpu = 0; cpu <= UINT16_MAX; cpu++) {
		if (!x->cpus[cpu])
			continue;
		snprintf(name, sizeof(name), "CPU %" PRIu32, cpu);
		put_name(x, "thread_name", CPUS_PID, CPUS_PID + cpu, name);
	}
}

static int by_pid(const void *pa, const void *pb)
{
	const struct timeline_row *a = pa, *b = pb;

	return a->pid < b->pid ? -1 : a->pid > b->pid;
}

static void put_thread_names(struct trace *x)
{
	size_t nr;
	struct timeline_row *rows = timeline_rows(x->t, TIMELINE_BY_MAX, true, &nr);

	qsort(rows, nr, sizeof(*rows), by_pid);
	for (size_t i = 0; i < nr; i++)
		put_name(x, "process_name", rows[i].pid, rows[i].pid, rows[i].name);
	free(rows);
	for (size_t i = 0; i < x->t->nr_threads; i++) {
		const struct timeline_thread *thread = &x->t->threads[i];

		if (thread->selected)
			put_name(x, "thread_name", thread->pid, thread->tid, thread->name);
	}
}

static void mark(struct trace *x, uint64_t ns, uint32_t at, uint32_t span, enum mark mark)
{
	x->v = xgrow(x->v, x->nr, &x->cap, sizeof(*x->v));
	x->v[x->nr++] = (struct trace_event){ ns, at, span, mark };
}

/* The thread that woke, while it ran; NULL: an interrupt did, or a thread without a track. */
static const struct timeline_thread *waker_of(const struct timeline *t,
					      const struct timeline_event *e)
{
	for (size_t i = 0; i < t->nr_threads && e->tid2; i++)
		if (t->threads[i].tid == e->tid2 && t->threads[i].pid == e->pid2 &&
		    t->threads[i].selected)
			return &t->threads[i];
	return NULL;
}

static const struct timeline_event *waking_of(const struct timeline *t,
					      const struct timeline_span *s)
{
	if (s->state != TIMELINE_RUNNABLE || !s->waker1 || s->open)
		return NULL;
	return &t->profile->timeline[s->waker1 - 1];
}

static void mark_span(struct trace *x, uint32_t i)
{
	const struct timeline *t = x->t;
	const struct timeline_span *s = &t->spans[i];
	const struct timeline_event *e = waking_of(t, s);

	if (s->state == TIMELINE_RUNS) {
		x->cpus[s->cpu] = true;
		mark(x, s->start_ns, i, i, MARK_CPU_BEGIN);
		mark(x, s->end_ns, i, i, MARK_CPU_END);
	}
	if (!t->threads[s->thread].selected)
		return;
	mark(x, s->start_ns, i, i, MARK_BEGIN);
	mark(x, s->end_ns, i, i, MARK_END);
	if (e && waker_of(t, e)) {
		mark(x, e->time_ns - t->profile->meta.timeline_begin_ns, i, i, MARK_WAKES);
		mark(x, s->end_ns, x->following[s->thread], i, MARK_WOKEN);
	}
	x->following[s->thread] = i;
}

static int by_time(const void *pa, const void *pb)
{
	const struct trace_event *a = pa, *b = pb;

	if (a->ns != b->ns)
		return a->ns < b->ns ? -1 : 1;
	if (a->at != b->at)
		return a->at < b->at ? -1 : 1;
	return a->mark < b->mark ? -1 : a->mark > b->mark;
}

static struct json_object *args_of(const struct timeline *t, const struct timeline_span *s)
{
	struct json_object *args = json_object_new_object();
	char name[PROF_COMM_LEN + 1];

	if (s->state == TIMELINE_RUNS)
		json_put_count(args, "cpu", s->cpu);
	if (s->wait)
		json_object_object_add(args, timeline_wait_key(s),
				       json_text(timeline_word(t, s->thread, s->wait)));
	if (s->state == TIMELINE_RUNNABLE && s->waker1)
		json_object_object_add(args, "woken by", json_text(timeline_waker(t, s, name)));
	return args;
}

/* An end has the name and the arguments of its begin: speedscope goes by them. */
static void put_slice(struct trace *x, const struct timeline_span *s, bool end)
{
	const struct timeline_thread *thread = &x->t->threads[s->thread];
	const char *state = timeline_state_names[s->state];
	const char *name =
		s->state == TIMELINE_WAITS ? timeline_word(x->t, s->thread, s->wait) : state;
	struct json_object *o = event(end ? "E" : "B", name, thread->pid, thread->tid);

	json_object_object_add(o, "cat", json_text(state));
	put_us(o, "ts", end ? s->end_ns : s->start_ns);
	json_object_object_add(o, "args", args_of(x->t, s));
	put(x, o);
}

static void put_on_cpu(struct trace *x, const struct timeline_span *s, bool end)
{
	const struct timeline_thread *thread = &x->t->threads[s->thread];
	struct json_object *args = json_object_new_object(), *o;

	o = event(end ? "E" : "B", thread->name, CPUS_PID, CPUS_PID + s->cpu);
	json_object_object_add(o, "cat", json_text("cpu"));
	put_us(o, "ts", end ? s->end_ns : s->start_ns);
	json_put_count(args, "pid", thread->pid);
	json_put_count(args, "tid", thread->tid);
	json_object_object_add(o, "args", args);
	put(x, o);
}

static void put_arrow(struct trace *x, const struct trace_event *e)
{
	const struct timeline_span *s = &x->t->spans[e->span];
	const struct timeline_thread *thread = &x->t->threads[s->thread];
	bool start = e->mark == MARK_WAKES;
	struct json_object *o;

	if (start)
		thread = waker_of(x->t, waking_of(x->t, s));
	o = event(start ? "s" : "f", "wakes", thread->pid, thread->tid);
	json_object_object_add(o, "cat", json_text("wakeup"));
	json_put_count(o, "id", s->waker1);
	put_us(o, "ts", e->ns);
	if (!start)
		json_object_object_add(o, "bp", json_text("e"));
	put(x, o);
}

static void put_event(struct trace *x, const struct trace_event *e)
{
	const struct timeline_span *s = &x->t->spans[e->span];

	switch (e->mark) {
	case MARK_BEGIN:
	case MARK_END:
		put_slice(x, s, e->mark == MARK_END);
		break;
	case MARK_CPU_BEGIN:
	case MARK_CPU_END:
		put_on_cpu(x, s, e->mark == MARK_CPU_END);
		break;
	default:
		put_arrow(x, e);
	}
}

int timeline_write_trace(const struct profile *p, const struct view *v, FILE *out)
{
	struct timeline t;
	struct trace x = {
		.t = &t, .out = out, .cpus = xcalloc(UINT16_MAX + 1, sizeof(bool)), .between = "\n"
	};
	struct json_object *other = json_object_new_object();

	timeline_init(&t, p);
	x.following = xcalloc(t.nr_threads + 1, sizeof(*x.following));
	for (size_t i = t.nr_spans; i-- > 0;)
		mark_span(&x, i);
	if (x.nr)
		qsort(x.v, x.nr, sizeof(*x.v), by_time);
	json_object_object_add(other, "exporter", json_text("bpfprof " BPFPROF_VERSION));
	json_put_string(other, "target", p, p->meta.target);
	json_put_ledger(other, p->counters);
	fputs("{\"displayTimeUnit\":\"ms\",\"otherData\":", out);
	x.between = "";
	put(&x, other);
	fputs(",\n\"traceEvents\":[", out);
	x.between = "\n";
	put_cpu_names(&x);
	put_thread_names(&x);
	for (size_t i = 0; i < x.nr; i++)
		put_event(&x, &x.v[i]);
	fputs("]}\n", out);
	free(x.v);
	free(x.cpus);
	free(x.following);
	timeline_release(&t);
	return 0;
}

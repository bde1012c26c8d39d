/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Timelines for programs: JSON and CSV. Printed as they go, since spans are many. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "output/json_put.h"
#include "output/output.h"

static void put_object(struct json_object *o, FILE *out)
{
	fputs(json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN |
							JSON_C_TO_STRING_NOSLASHESCAPE),
	      out);
	json_object_put(o);
}

static struct json_object *facts(const struct timeline *t)
{
	const struct profile_meta *m = &t->profile->meta;
	struct json_object *o = json_object_new_object();

	json_put_string(o, "command", t->profile, m->command);
	json_put_string(o, "target", t->profile, m->target);
	json_put_number(o, "start_s", m->start_ns / 1e9);
	json_put_number(o, "duration_s", m->duration_ns / 1e9);
	json_put_end(o, m->ended_by);
	json_put_number(o, "begin_monotonic_s", m->timeline_begin_ns / 1e9);
	json_put_number(o, "wanted_from_s", (m->timeline_wanted_ns - m->timeline_begin_ns) / 1e9);
	json_put_number(o, "from_s", t->from_ns / 1e9);
	json_put_number(o, "to_s", t->end_ns / 1e9);
	if (m->timeline_short_cpu)
		json_put_count(o, "short_cpu", m->timeline_short_cpu - 1);
	if (m->timeline_outlier_ns)
		json_put_number(o, "threshold_us", m->timeline_outlier_ns / 1e3);
	return o;
}

static void put_who(struct json_object *o, uint32_t pid, uint32_t tid, const char *name)
{
	json_put_count(o, "pid", pid);
	if (tid)
		json_put_count(o, "tid", tid);
	json_object_object_add(o, "name", json_text(name));
}

static struct json_object *row(const struct timeline_row *r)
{
	static const char *const keys[TIMELINE_NR_STATES] = { "running_us", "runnable_us",
							      "waiting_us", "throttled_us",
							      "unknown_us" };
	struct json_object *o = json_object_new_object();

	put_who(o, r->pid, r->tid, r->name);
	json_put_count(o, "threads", r->nr_threads);
	for (size_t i = 0; i < TIMELINE_NR_STATES; i++)
		json_put_number(o, keys[i], r->ns[i] / 1e3);
	json_put_count(o, "switches", r->switches);
	json_put_count(o, "preempted", r->preempted);
	json_put_count(o, "delays", r->delays);
	if (!r->longest)
		return o;
	json_put_number(o, "avg_delay_us", timeline_avg_ns(r) / 1e3);
	json_put_number(o, "max_delay_us", timeline_max_ns(r) / 1e3);
	json_put_number(o, "max_delay_from_s", r->longest->start_ns / 1e9);
	json_put_number(o, "max_delay_to_s", r->longest->end_ns / 1e9);
	return o;
}

static void put_rows(const struct timeline *t, const struct view *v, FILE *out)
{
	size_t nr;
	struct timeline_row *rows = timeline_rows(t, v->timeline_sort, v->per_process, &nr);

	fputs(",\n\"rows\":[", out);
	for (size_t i = 0; i < nr; i++) {
		fputs(i ? ",\n" : "\n", out);
		put_object(row(&rows[i]), out);
	}
	fputc(']', out);
	free(rows);
}

static struct json_object *waker(const struct timeline *t, const struct timeline_span *s)
{
	const struct timeline_event *e = &t->profile->timeline[s->waker1 - 1];
	struct json_object *o = json_object_new_object();
	char name[PROF_COMM_LEN + 1];

	put_who(o, e->pid2, e->tid2, timeline_waker(t, s, name));
	return o;
}

static struct json_object *span(const struct timeline *t, const struct timeline_span *s)
{
	const struct timeline_thread *thread = &t->threads[s->thread];
	struct json_object *o = json_object_new_object();

	put_who(o, thread->pid, thread->tid, thread->name);
	json_put_number(o, "from_us", s->start_ns / 1e3);
	json_put_number(o, "us", (s->end_ns - s->start_ns) / 1e3);
	json_object_object_add(o, "state", json_text(timeline_state_names[s->state]));
	if (s->state == TIMELINE_RUNS)
		json_put_count(o, "cpu", s->cpu);
	if (s->wait)
		json_object_object_add(o, timeline_wait_key(s),
				       json_text(timeline_word(t, s->thread, s->wait)));
	if (s->state == TIMELINE_RUNNABLE && s->waker1)
		json_object_object_add(o, "waker", waker(t, s));
	if (s->before)
		json_object_object_add(o, "before", json_object_new_boolean(true));
	if (s->open)
		json_object_object_add(o, "open", json_object_new_boolean(true));
	return o;
}

static void put_spans(const struct timeline *t, FILE *out)
{
	const char *between = "\n";

	fputs(",\n\"spans\":[", out);
	for (size_t i = 0; i < t->nr_spans; i++) {
		fputs(between, out);
		put_object(span(t, &t->spans[i]), out);
		between = ",\n";
	}
	fputc(']', out);
}

static int write_json(const struct profile *p, const struct view *v, bool spans, FILE *out)
{
	struct json_object *ledger = json_object_new_object();
	struct expected x;
	struct timeline t;

	timeline_init(&t, p);
	fputs("{\n\"format\":\"bpfprof-timeline\",\"version\":1,\n\"timeline\":", out);
	put_object(facts(&t), out);
	put_rows(&t, v, out);
	if (spans)
		put_spans(&t, out);
	fputs(",\n\"ledger\":", out);
	json_put_ledger(ledger, p->counters);
	json_put_expected(ledger, expected_init(&x, p) ? &x : NULL);
	put_object(ledger, out);
	fputs(",\n\"cost\":", out);
	put_object(json_cost(p), out);
	fputs("}\n", out);
	timeline_release(&t);
	return 0;
}

int timeline_write_json(const struct profile *p, const struct view *v, FILE *out)
{
	return write_json(p, v, true, out);
}

int sched_write_json(const struct profile *p, const struct view *v, FILE *out)
{
	return write_json(p, v, false, out);
}

static void put_waker(const struct timeline *t, const struct timeline_span *s, FILE *out)
{
	const struct timeline_event *e = s->waker1 ? &t->profile->timeline[s->waker1 - 1] : NULL;
	char name[PROF_COMM_LEN + 1];

	if (!e || s->state != TIMELINE_RUNNABLE) {
		fputs(",,", out);
		return;
	}
	fprintf(out, "%" PRIu32 ",%" PRIu32 ",", e->pid2, e->tid2);
	csv_put(timeline_waker(t, s, name), out);
}

static void put_line(const struct timeline *t, const struct timeline_span *s, FILE *out)
{
	const struct timeline_thread *thread = &t->threads[s->thread];

	fprintf(out, "%" PRIu64 ".%03u,%" PRIu64 ".%03u,%" PRIu32 ",%" PRIu32 ",",
		s->start_ns / 1000, (unsigned int)(s->start_ns % 1000), s->end_ns / 1000,
		(unsigned int)(s->end_ns % 1000), thread->pid, thread->tid);
	csv_put(thread->name, out);
	fprintf(out, ",%s,%s,", timeline_state_names[s->state],
		s->wait ? timeline_word(t, s->thread, s->wait) : "");
	if (s->state == TIMELINE_RUNS)
		fprintf(out, "%" PRIu16, s->cpu);
	fputc(',', out);
	put_waker(t, s, out);
	fprintf(out, ",%d,%d\n", s->before, s->open);
}

int timeline_write_csv(const struct profile *p, const struct view *v, FILE *out)
{
	struct timeline t;

	timeline_init(&t, p);
	fputs("from_us,to_us,pid,tid,name,state,class,cpu,waker_pid,waker_tid,waker,before,open\n",
	      out);
	for (size_t i = 0; i < t.nr_spans; i++)
		put_line(&t, &t.spans[i], out);
	timeline_release(&t);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* From the agent's options to its sinks, in the order in which they get a window. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "cmd/agent_parts.h"
#include "push/push.h"
#include "serve/listener.h"
#include "who/who.h"

#define USUAL_DISK (1ull << 30)
#define CLOSE_NR   6		 /* windows that are looked at more closely, as many as are kept */
#define FLUSH_NS   5000000000ull /* for what is still to be sent at the end */

static void add_sink(struct service *s, struct agent_sink sink)
{
	sink.arg = s;
	s->sinks[s->nr_sinks++] = sink;
}

/* --- who is who --- */

static int by_pid(const void *x, const void *y)
{
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;

	return a < b ? -1 : a > b;
}

static void look(void *arg, const struct profile *p, const struct agent_facts *f)
{
	struct service *s = arg;
	size_t nr = 0;

	s->nr_pids = 0;
	for (size_t i = 0; i < p->nr_samples; i++) {
		s->pids = xgrow(s->pids, s->nr_pids, &s->cap_pids, sizeof(*s->pids));
		s->pids[s->nr_pids++] = p->samples[i].pid;
	}
	if (s->nr_pids)
		qsort(s->pids, s->nr_pids, sizeof(*s->pids), by_pid);
	for (size_t i = 0; i < s->nr_pids; i++)
		if (s->pids[i] && (!nr || s->pids[nr - 1] != s->pids[i]))
			s->pids[nr++] = s->pids[i];
	who_look(s->who, s->pids, nr, NULL, NULL);
}

static void sent(void *arg, const struct profile *p, const struct agent_facts *f)
{
	who_sent(((struct service *)arg)->who);
}

static int reload_rules(void *arg)
{
	return who_reload(((struct service *)arg)->who);
}

static const struct labels *series_of(void *arg, uint32_t pid)
{
	return who_series(((struct service *)arg)->who, pid);
}

static int open_who(struct service *s)
{
	const struct who_options o = { .root = "",
				       .rules = s->args->rules,
				       .max_series = s->args->max_series };

	s->who = who_new(&o);
	if (!s->who)
		return -errno;
	add_sink(s, (struct agent_sink){ "who", .window = look, .reload = reload_rules });
	return 0;
}

/* --- the recorder, and what keeps its windows --- */

static void keep_it(void *arg, const struct profile *p, const struct agent_facts *f)
{
	keep_window(((struct service *)arg)->keep, p);
}

static void end_keeping(void *arg)
{
	struct keep_counts c = keep_counts(((struct service *)arg)->keep);

	log_info("kept %s windows of %s each; %s could not be kept", text_count(c.kept),
		 text_bytes(c.kept ? c.bytes / c.kept : 0), text_count(c.not_kept));
}

static int open_keep(struct service *s)
{
	const struct agent_args *a = s->args;

	s->keep = keep_open(a->keep, a->max_disk ? a->max_disk : USUAL_DISK);
	if (!s->keep)
		return -errno;
	add_sink(s, (struct agent_sink){ "keep", .window = keep_it, .close = end_keeping });
	return 0;
}

/* Why, of the first condition that is met; NULL = none. Any of them makes us look more closely. */
static char *find_met(struct service *s, const struct profile *p, const struct agent_facts *f)
{
	char *first = NULL, *why;

	for (size_t i = 0; i < s->nr_triggers; i++) {
		if (!trigger_is_met(&s->triggers[i], p, f, &why))
			continue;
		if (!trigger_is_own(&s->triggers[i]))
			s->left = CLOSE_NR;
		if (first)
			free(why);
		else
			first = why;
	}
	return first;
}

/* Said when it begins, not in each window while it lasts. */
static void judge(void *arg, const struct profile *p, const struct agent_facts *f)
{
	struct service *s = arg;
	char *why;

	s->left -= s->left > 0;
	why = find_met(s, p, f);
	if (why && s->keep)
		keep_trigger(s->keep, why);
	else if (why && !s->met)
		log_warn("%s", why);
	s->met = why != NULL;
	free(why);
}

bool service_is_close(void *arg)
{
	return ((const struct service *)arg)->left > 0;
}

static int parse_triggers(struct service *s)
{
	const struct opt_strings *on = &s->args->on;

	if (on->nr > AGENT_MAX_TRIGGERS)
		return log_as(-EINVAL, "--on: at most %d conditions", AGENT_MAX_TRIGGERS);
	for (; s->nr_triggers < on->nr; s->nr_triggers++)
		if (trigger_parse(&s->triggers[s->nr_triggers], on->v[s->nr_triggers]))
			return -EINVAL;
	return 0;
}

/* --- metrics and pages --- */

static void set_metric(struct service *s, const char *name, const char *help, double value)
{
	metrics_set(s->metrics, &(struct metrics_row){ name, help, "", value });
}

static void count_windows(struct service *s)
{
	struct keep_counts c = {};

	if (!s->keep)
		return;
	c = keep_counts(s->keep);
	set_metric(s, "bpfprof_windows_kept_total", "Windows that were written.", c.kept);
	set_metric(s, "bpfprof_windows_not_kept_total", "Windows that could not be written.",
		   c.not_kept);
	set_metric(s, "bpfprof_kept_bytes", "Bytes of the windows in the folder.", c.ring_bytes);
}

static void show(void *arg, const struct profile *p, const struct agent_facts *f)
{
	const struct metrics_window w = { p, f->ended, f->nr_ended };
	struct service *s = arg;

	metrics_add(s->metrics, &w, series_of, s);
	count_windows(s);
	listener_window(s->listener, p);
}

static int listen_fd(void *arg)
{
	return listener_fd(((struct service *)arg)->listener);
}

static void turn_listener(void *arg)
{
	listener_turn(((struct service *)arg)->listener);
}

static int open_listener(struct service *s)
{
	const struct listener_options o = { .address = s->args->listen,
					    .token_file = s->args->listen_token,
					    .window_ns = s->args->interval_ns };
	int err;

	s->metrics = metrics_new(0);
	err = listener_open(&s->listener, &o, s->metrics);
	if (err)
		return err;
	add_sink(s, (struct agent_sink){ "listen", .window = show, .fd = listen_fd,
					 .turn = turn_listener });
	log_info("listening at %s", listener_url(s->listener));
	return 0;
}

/* --- engines --- */

/* What /metrics says of each engine. */
static const struct push_metric {
	const char *name, *help;
	size_t at; /* in struct push_counts */
	double unit;
} push_metrics[] = {
#define ROW(name, field, unit, help)                                                               \
	{                                                                                          \
		"bpfprof_push_" name, help, offsetof(struct push_counts, field), unit              \
	}
	ROW("windows_total", windows, 1, "Windows that were to be sent."),
	ROW("sent_requests_total", sent, 1, "Requests that the engine took."),
	ROW("sent_bytes_total", sent_bytes, 1, "Bytes of these, as they were sent."),
	ROW("attempts_total", requests, 1, "Requests that were tried."),
	ROW("retries_total", retried, 1, "Attempts that were not the first."),
	ROW("rejected_profiles_total", rejected, 1, "Profiles refused in requests that it took."),
	ROW("folded_series_total", folded, 1, "Series that went into \"other\"."),
	ROW("waiting_requests", waiting, 1, "Requests in the spool, in memory, or on their way."),
	ROW("waiting_bytes", waiting_bytes, 1, "Bytes of these."),
	ROW("delivery_seconds", last_ns, 1e-9, "From a window to its answer, of the last one."),
#undef ROW
};

static void show_drops(struct service *s, const struct push_counts *c, const char *engine)
{
	for (size_t i = 0; i < PUSH_NR_DROPS; i++) {
		char *labels = xasprintf("%s,cause=\"%s\"", engine, push_drops[i].key);

		metrics_set(s->metrics,
			    &(struct metrics_row){ "bpfprof_push_dropped_requests_total",
						   "Requests that were given up.", labels,
						   c->dropped[i] });
		free(labels);
	}
}

static void show_engine(struct service *s, const struct push_counts *c)
{
	char *url = metrics_escape(c->url);
	char *engine = xasprintf("engine=\"%s\",url=\"%s\"", c->engine, url);

	for (size_t i = 0; i < sizeof(push_metrics) / sizeof(*push_metrics); i++) {
		const struct push_metric *m = &push_metrics[i];
		const uint64_t *value = (const void *)((const char *)c + m->at);

		metrics_set(s->metrics,
			    &(struct metrics_row){ m->name, m->help, engine, *value * m->unit });
	}
	show_drops(s, c, engine);
	free(engine);
	free(url);
}

static void show_pushes(struct service *s)
{
	const struct push_counts *c;

	for (size_t i = 0; s->metrics && (c = push_counts(s->push, i)); i++)
		show_engine(s, c);
}

static void send_it(void *arg, const struct profile *p, const struct agent_facts *f)
{
	struct service *s = arg;

	push_window(s->push, p, series_of, s);
	show_pushes(s);
}

static int push_descriptor(void *arg)
{
	return push_fd(((struct service *)arg)->push);
}

static void turn_push(void *arg)
{
	push_turn(((struct service *)arg)->push);
	show_pushes(arg);
}

/* Of one engine: what is gone, by why, and what waits in the spool. */
static void tell_undelivered(const struct service *s, const struct push_counts *c)
{
	uint64_t nr = c->in_memory;
	char *why = nr ? xasprintf(", %s waited at the end", text_count(nr)) : xstrdup(""), *more;

	for (size_t i = 0; i < PUSH_NR_DROPS; i++) {
		if (!c->dropped[i])
			continue;
		nr += c->dropped[i];
		more = xasprintf("%s, %s %s", why, text_count(c->dropped[i]), push_drops[i].key);
		free(why);
		why = more;
	}
	if (nr)
		log_warn("%s %s: %s requests were not delivered (%s)", c->engine, c->url,
			 text_count(nr), why + strlen(", "));
	if (c->waiting > c->in_memory)
		log_warn("%s %s: %s requests wait in %s", c->engine, c->url,
			 text_count(c->waiting - c->in_memory), s->args->spool);
	free(why);
}

static void end_push(void *arg)
{
	const struct push_counts *c;
	struct service *s = arg;

	push_flush(s->push, now_ns() + FLUSH_NS);
	for (size_t i = 0; (c = push_counts(s->push, i)); i++)
		tell_undelivered(s, c);
}

static int open_push(struct service *s)
{
	const struct agent_args *a = s->args;
	const struct push_opts o = { .to = &a->push,
				     .labels = &a->push_labels,
				     .token_file = a->push_token,
				     .tenant = a->push_tenant,
				     .ca_file = a->push_ca,
				     .insecure = a->insecure,
				     .min_weight = a->min_share,
				     .max_series = a->max_series,
				     .spool = a->spool,
				     .spool_bytes = a->spool_bytes };

	s->push = push_open(&o);
	if (!s->push)
		return -errno;
	show_pushes(s);
	add_sink(s, (struct agent_sink){ "push", .window = send_it, .fd = push_descriptor,
					 .turn = turn_push, .close = end_push });
	return 0;
}

/* --- all of them --- */

int service_open(struct service *s)
{
	const struct agent_args *a = s->args;
	bool named = a->listen || a->push.nr;
	int err = parse_triggers(s);

	if (!err && named)
		err = open_who(s);
	if (!err && a->keep)
		err = open_keep(s);
	/* The window that meets a condition is in the folder by then. */
	if (!err && s->nr_triggers)
		add_sink(s, (struct agent_sink){ "on", .window = judge });
	if (!err && a->listen)
		err = open_listener(s);
	if (!err && a->push.nr)
		err = open_push(s);
	if (!err && named)
		add_sink(s, (struct agent_sink){ "sent", .window = sent });
	return err;
}

void service_close(struct service *s)
{
	push_close(s->push);
	listener_close(s->listener);
	metrics_free(s->metrics);
	keep_close(s->keep);
	who_free(s->who);
	free(s->pids);
}

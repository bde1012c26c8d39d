/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The cache: processes by their number, and containers, whose files are read once for all of their
 * processes. Of both what was not used for ten windows is forgotten.
 */
#include "who/who.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <uthash.h>

#include "base/mem.h"
#include "who/look.h"
#include "who/naming.h"
#include "who/relabel.h"
#include "who/series.h"
#include "who/visit.h"

#define VISIT_NS 300000000ull /* for all of a question */
#define TIRED_NS 20000000ull  /* when several have hung */
#define TIRED	 3
#define KEPT	 10 /* windows */

/* Facts that are the container's, not the process's. */
static bool is_of_container(enum fact fact)
{
	return fact >= FACT_CONTAINER && fact <= FACT_COMPOSE;
}

struct container {
	char id[CONTAINER_ID_LEN + 1];
	char *facts[FACT_NR];
	uint32_t used; /* window */
	UT_hash_handle hh;
};

struct entry {
	uint32_t pid, line; /* of the rule that drops it, 0 = none */
	uint64_t start, program;
	struct labels found, all, series; /* before and after rules; of the series */
	uint32_t used, ended;		  /* windows; ended 0 = it has not, as far as is known */
	UT_hash_handle hh;
};

struct who {
	struct who_options options;
	struct reader *reader;
	struct relabel *rules;
	struct entry *entries;
	struct container *containers;
	struct series series;
	struct who_counts counts;
	uint32_t now; /* windows that were sent, from 1 on */
	uint32_t nr_hung;
	int root;
	char host[256];
	struct look looks[VISIT_MAX];
	uint32_t nr_looks;
};

static const struct reader_task tasks[] = { { .opens = true, .run = visit_run } };

struct who *who_new(const struct who_options *o)
{
	struct who *w = xcalloc(1, sizeof(*w));

	w->options = (struct who_options){ .root = xstrdup(o->root ? o->root : ""),
					   .rules = o->rules ? xstrdup(o->rules) : NULL };
	w->series.max = o->max_series ? o->max_series : WHO_MAX_SERIES;
	w->now = w->series.now = 1;
	w->root = open(*w->options.root ? w->options.root : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	gethostname(w->host, sizeof(w->host) - 1);
	if (w->root >= 0 && strlen(w->options.root) < VISIT_ROOT_MAX &&
	    (!o->rules || (w->rules = relabel_load(o->rules))))
		w->reader = reader_new(tasks, sizeof(tasks) / sizeof(*tasks));
	if (w->reader)
		return w;
	who_free(w);
	return NULL;
}

static void release_labels(struct entry *e)
{
	labels_release(&e->found);
	labels_release(&e->all);
	labels_release(&e->series);
}

static void forget_entry(struct who *w, struct entry *e)
{
	HASH_DEL(w->entries, e);
	release_labels(e);
	free(e);
}

static void free_facts(char *facts[FACT_NR])
{
	for (size_t i = 0; i < FACT_NR; i++)
		free(facts[i]);
}

static void forget_container(struct who *w, struct container *c)
{
	HASH_DEL(w->containers, c);
	free_facts(c->facts);
	free(c);
}

void who_free(struct who *w)
{
	struct entry *e, *next;
	struct container *c, *next_c;
	int err = errno;

	if (!w)
		return;
	HASH_ITER (hh, w->entries, e, next)
		forget_entry(w, e);
	HASH_ITER (hh, w->containers, c, next_c)
		forget_container(w, c);
	series_release(&w->series);
	relabel_free(w->rules);
	reader_free(w->reader);
	if (w->root >= 0)
		close(w->root);
	free((char *)w->options.root);
	free((char *)w->options.rules);
	free(w);
	errno = err;
}

struct reader_cost who_end(struct who *w)
{
	return reader_end(w->reader);
}

bool who_is_child(const struct who *w, uint32_t pid)
{
	return reader_is_child(w->reader, (pid_t)pid);
}

/* --- what children find --- */

static struct container *find_container(struct who *w, const char *id)
{
	struct container *c;

	HASH_FIND_STR(w->containers, id, c);
	return c;
}

static struct container *add_container(struct who *w, const char *id)
{
	struct container *c = find_container(w, id);

	if (c)
		return c;
	c = xcalloc(1, sizeof(*c));
	snprintf(c->id, sizeof(c->id), "%s", id);
	c->used = w->now;
	HASH_ADD_STR(w->containers, id, c);
	return c;
}

/* Only one of those that are asked about looks at the files of their container. */
static void fill_question(struct who *w, struct visit_question *q, uint32_t first, uint32_t nr)
{
	memset(q, 0, sizeof(*q));
	snprintf(q->root, sizeof(q->root), "%s", w->options.root);
	q->nr = nr;
	for (uint32_t i = 0; i < nr; i++) {
		const struct look *l = &w->looks[first + i];
		struct visit_process *p = &q->v[i];

		p->pid = l->pid;
		p->start = l->start;
		snprintf(p->id, sizeof(p->id), "%s", l->place.id);
		snprintf(p->pod_uid, sizeof(p->pod_uid), "%s", l->place.pod_uid);
		p->asks_runtime = p->id[0] && !find_container(w, p->id);
		for (uint32_t k = 0; k < i; k++)
			if (!strcmp(q->v[k].id, p->id))
				p->asks_runtime = false;
	}
}

struct answer {
	struct who *w;
	const struct visit_question *q;
	uint32_t first;
};

/* The first value counts: rows of tables stand in the order of what they are worth. */
static void take_fact(void *arg, uint32_t process, enum fact fact, const char *value, size_t len)
{
	struct answer *a = arg;
	struct look *l = &a->w->looks[a->first + process];
	char **to = &l->facts[fact];

	if (is_of_container(fact)) {
		if (!l->place.id[0])
			return;
		to = &add_container(a->w, l->place.id)->facts[fact];
	}
	if (!*to)
		*to = xstrndup(value, len);
}

static int visit_some(struct who *w, uint32_t first, uint32_t nr, void (*meanwhile)(void *arg),
		      void *arg)
{
	struct visit_question question;
	struct reader_question q = { .bytes = &question,
				     .sz = sizeof(question),
				     .timeout_ns = w->nr_hung < TIRED ? VISIT_NS : TIRED_NS,
				     .meanwhile = meanwhile,
				     .arg = arg };
	struct answer a = { w, &question, first };
	struct reader_answer answer;
	int err;

	fill_question(w, &question, first, nr);
	err = reader_ask(w->reader, &q, &answer);
	if (!err) {
		for (uint32_t i = 0; i < nr; i++)
			if (question.v[i].asks_runtime)
				add_container(w, question.v[i].id);
		visit_each(answer.bytes, answer.sz, nr, take_fact, &a);
	}
	free(answer.bytes);
	return err;
}

/* One that hangs takes the others with it: then each is asked about alone. */
static void visit_all(struct who *w, void (*meanwhile)(void *arg), void *arg)
{
	if (!w->nr_looks || !visit_some(w, 0, w->nr_looks, meanwhile, arg))
		return;
	for (uint32_t i = 0; i < w->nr_looks; i++)
		if (w->looks[i].start && visit_some(w, i, 1, meanwhile, arg)) {
			w->counts.unread++;
			w->nr_hung++;
		}
}

/* --- from what was found to labels --- */

static const char *const series_labels[] = { "container", "host", "namespace", "pod",
					     "service_name" };

static bool is_of_series(const struct who *w, const char *name)
{
	for (size_t i = 0; i < sizeof(series_labels) / sizeof(*series_labels); i++)
		if (!strcmp(name, series_labels[i]))
			return true;
	return relabel_sets(w->rules, name);
}

static void make_series(struct who *w, struct entry *e)
{
	for (size_t i = 0; i < e->all.nr; i++)
		if (is_of_series(w, e->all.v[i].name))
			labels_set(&e->series, e->all.v[i].name, e->all.v[i].value);
	if (series_take(&w->series, &e->series))
		return;
	w->counts.others++;
	labels_release(&e->series);
	labels_set(&e->series, "service_name", "other");
	labels_set(&e->series, "host", labels_get(&e->all, "host"));
}

static void apply_rules(struct who *w, struct entry *e)
{
	labels_release(&e->all);
	labels_release(&e->series);
	labels_copy(&e->all, &e->found);
	e->line = relabel_apply(w->rules, &e->all);
	if (e->line)
		w->counts.dropped++;
	else
		make_series(w, e);
}

static struct entry *add_entry(struct who *w, uint32_t pid)
{
	struct entry *e;

	HASH_FIND_INT(w->entries, &pid, e);
	if (e)
		return e;
	e = xcalloc(1, sizeof(*e));
	e->pid = pid;
	HASH_ADD_INT(w->entries, pid, e);
	return e;
}

/* Of one that is gone nothing was found: what was known stays. */
static void end_look(struct who *w, struct look *l)
{
	struct entry *e = add_entry(w, l->pid);
	struct naming n = { .place = &l->place,
			    .comm = l->comm,
			    .exe = l->exe,
			    .host = w->host,
			    .is_kernel = l->is_kernel };
	struct container *c = find_container(w, l->place.id);

	if (c)
		c->used = w->now;
	for (size_t i = 0; i < FACT_NR; i++)
		n.facts[i] = c && c->facts[i] ? c->facts[i] : l->facts[i];
	if (l->start || !e->found.nr) {
		labels_release(&e->found);
		naming_labels(&n, &e->found);
		e->start = l->start;
		e->program = l->program;
		e->ended = l->start ? 0 : w->now;
		apply_rules(w, e);
	}
	e->used = w->now;
	look_release(l);
}

static void look_at_batch(struct who *w, void (*meanwhile)(void *arg), void *arg)
{
	visit_all(w, meanwhile, arg);
	for (uint32_t i = 0; i < w->nr_looks; i++)
		end_look(w, &w->looks[i]);
	w->nr_looks = 0;
}

/* It has no memory any more, where its name was: its parent has not been told that it has ended. */
static bool is_zombie(const struct entry *e, const struct look *l)
{
	return l->start == e->start && e->program && !l->program;
}

/* Once in a window: is it still that process and program? One that is gone stays as it was. */
static bool needs_look(struct who *w, uint32_t pid)
{
	struct look l = {};
	struct entry *e;

	HASH_FIND_INT(w->entries, &pid, e);
	if (!e)
		return true;
	if (e->used == w->now)
		return false;
	e->used = w->now;
	if (look_stat(w->root, pid, &l) && !is_zombie(e, &l))
		return l.start != e->start || l.program != e->program;
	if (!e->ended)
		e->ended = w->now;
	return false;
}

static bool is_in_batch(const struct who *w, uint32_t pid)
{
	for (uint32_t i = 0; i < w->nr_looks; i++)
		if (w->looks[i].pid == pid)
			return true;
	return false;
}

void who_look(struct who *w, const uint32_t *pids, size_t nr, void (*meanwhile)(void *arg),
	      void *arg)
{
	for (size_t i = 0; i < nr; i++) {
		if (is_in_batch(w, pids[i]) || !needs_look(w, pids[i]))
			continue;
		look_begin(&w->looks[w->nr_looks++], w->root, pids[i]);
		if (w->nr_looks == VISIT_MAX)
			look_at_batch(w, meanwhile, arg);
	}
	look_at_batch(w, meanwhile, arg);
}

static const struct entry *known(struct who *w, uint32_t pid)
{
	struct entry *e;

	who_look(w, &pid, 1, NULL, NULL);
	HASH_FIND_INT(w->entries, &pid, e);
	return e;
}

const struct labels *who_labels(struct who *w, uint32_t pid)
{
	const struct entry *e = known(w, pid);

	return e->line ? NULL : &e->all;
}

const struct labels *who_series(struct who *w, uint32_t pid)
{
	const struct entry *e = known(w, pid);

	return e->line ? NULL : &e->series;
}

uint32_t who_dropped_by(struct who *w, uint32_t pid, const struct labels **l)
{
	const struct entry *e = known(w, pid);

	*l = e->line ? &e->found : &e->all;
	return e->line;
}

/* --- life --- */

void who_sent(struct who *w)
{
	struct entry *e, *next;
	struct container *c, *next_c;

	w->series.now = ++w->now;
	HASH_ITER (hh, w->entries, e, next)
		if ((e->ended && w->now - e->ended >= 2) || w->now - e->used > KEPT)
			forget_entry(w, e);
	HASH_ITER (hh, w->containers, c, next_c)
		if (w->now - c->used > KEPT)
			forget_container(w, c);
}

int who_reload(struct who *w)
{
	struct relabel *rules = w->options.rules ? relabel_load(w->options.rules) : NULL;
	struct entry *e, *next;

	if (!rules)
		return w->options.rules ? -errno : 0;
	relabel_free(w->rules);
	w->rules = rules;
	HASH_ITER (hh, w->entries, e, next)
		apply_rules(w, e);
	return 0;
}

struct who_counts who_counts(const struct who *w)
{
	struct who_counts c = w->counts;

	c.processes = HASH_COUNT(w->entries);
	c.series = series_count(&w->series);
	return c;
}

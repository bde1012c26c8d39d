/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Numbers over repeats, and what a report owns. */
#include "metric/stat.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

const char *const stat_by_keys[] = {
	[STAT_BY_ALL] = "all",	     [STAT_BY_PROCESS] = "process", [STAT_BY_THREAD] = "thread",
	[STAT_BY_CGROUP] = "cgroup", [STAT_BY_CPU] = "cpu",
};

bool stat_is_by_tasks(enum stat_by by)
{
	return by != STAT_BY_ALL && by != STAT_BY_CPU;
}

size_t stat_number_nr(const struct stat_number *n)
{
	size_t nr = 0;

	for (size_t i = 0; i < n->nr_runs; i++)
		nr += !isnan(n->runs[i]);
	return nr;
}

/* Relative to the first: equal runs give exactly that mean and no error, whatever their number. */
void stat_number_finish(struct stat_number *n)
{
	size_t nr = stat_number_nr(n), first = 0;
	double sum = 0, squares = 0, d;

	n->mean = NAN;
	n->error = 0;
	if (!nr)
		return;
	while (isnan(n->runs[first]))
		first++;
	for (size_t i = first; i < n->nr_runs; i++)
		sum += isnan(n->runs[i]) ? 0 : n->runs[i] - n->runs[first];
	n->mean = n->runs[first] + sum / nr;
	for (size_t i = first; i < n->nr_runs; i++) {
		d = isnan(n->runs[i]) ? 0 : n->runs[i] - n->mean;
		squares += d * d;
	}
	if (nr > 1)
		n->error = sqrt(squares / (nr - 1) / nr);
}

double stat_number_error_pct(const struct stat_number *n)
{
	return n->error > 0 && n->mean ? 100 * n->error / fabs(n->mean) : 0;
}

double stat_event_value(const struct stat_event *e)
{
	if (!count_is_there(&e->count))
		return NAN;
	return e->number.nr_runs ? e->number.mean : e->count.value;
}

static int folded(char c)
{
	return c == '-' ? '_' : tolower((unsigned char)c);
}

bool stat_name_equal(const char *a, const char *b)
{
	while (*a && folded(*a) == folded(*b)) {
		a++;
		b++;
	}
	return !*a && !*b;
}

/* Names of the kernel's generic events, and of those of Arm's PMU that they are there. */
static const char *const synonyms[][2] = {
	{ "cycles", "cpu_cycles" },
	{ "instructions", "inst_retired" },
	{ "stalled_cycles_frontend", "stall_frontend" },
	{ "stalled_cycles_backend", "stall_backend" },
};

/* The generic name of what stands before the modifiers, or itself; *len: of that part. */
static char *generic_name(const char *name, size_t *len)
{
	char *base;

	*len = strcspn(name, ":");
	base = xstrndup(name, *len);
	for (size_t i = 0; i < sizeof(synonyms) / sizeof(*synonyms); i++)
		if (stat_name_equal(base, synonyms[i][1])) {
			free(base);
			return xstrdup(synonyms[i][0]);
		}
	return base;
}

bool stat_event_equal(const char *a, const char *b)
{
	size_t len_a, len_b;
	char *base_a = generic_name(a, &len_a), *base_b = generic_name(b, &len_b);
	bool equal = stat_name_equal(base_a, base_b) && !strcmp(a + len_a, b + len_b);

	free(base_a);
	free(base_b);
	return equal;
}

#define NAME_CHARS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.@"

bool stat_formula_equal(const char *a, const char *b)
{
	bool equal = true;

	while (equal && *a && *b) {
		size_t len_a = strspn(a, NAME_CHARS), len_b = strspn(b, NAME_CHARS);
		char *word_a = xstrndup(a, len_a), *word_b = xstrndup(b, len_b);

		equal = len_a && len_b ? stat_event_equal(word_a, word_b)
				       : len_a == len_b && *a == *b;
		a += len_a ? len_a : 1;
		b += len_b ? len_b : 1;
		free(word_a);
		free(word_b);
	}
	return equal && !*a && !*b;
}

const struct stat_event *stat_row_event(const struct stat_row *row, const char *name)
{
	for (size_t i = 0; i < row->nr_events; i++)
		if (stat_name_equal(row->events[i].name, name))
			return &row->events[i];
	for (size_t i = 0; i < row->nr_events; i++)
		if (stat_event_equal(row->events[i].name, name))
			return &row->events[i];
	return NULL;
}

const struct stat_metric *stat_row_metric(const struct stat_row *row, const char *name)
{
	for (size_t i = 0; i < row->nr_metrics; i++)
		if (stat_name_equal(row->metrics[i].name, name))
			return &row->metrics[i];
	return NULL;
}

static void event_release(struct stat_event *e)
{
	free(e->name);
	free(e->unit);
	free(e->meaning);
	free(e->why);
	free(e->number.runs);
}

static void metric_release(struct stat_metric *m)
{
	free(m->set);
	free(m->name);
	free(m->label);
	free(m->unit);
	free(m->formula);
	free(m->advice);
	free(m->source);
	free(m->why);
	free(m->inputs);
	free(m->number.runs);
}

void stat_row_release(struct stat_row *row)
{
	for (size_t i = 0; i < row->nr_events; i++)
		event_release(&row->events[i]);
	for (size_t i = 0; i < row->nr_metrics; i++)
		metric_release(&row->metrics[i]);
	free(row->events);
	free(row->metrics);
	free(row->name);
	*row = (struct stat_row){};
}

static void environment_release(struct stat_report *r)
{
	char *texts[] = { r->host,	 r->kernel,  r->arch,	 r->cpu,
			  r->core_ident, r->version, r->command, r->target };

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		free(texts[i]);
	for (size_t i = 0; i < r->nr_notes; i++)
		free(r->notes[i]);
	for (size_t i = 0; i < r->nr_selection; i++)
		free(r->selection[i]);
	for (size_t i = 0; i < r->nr_facts; i++) {
		free(r->facts[i].name);
		free(r->facts[i].value);
		free(r->facts[i].advice);
	}
	free(r->notes);
	free(r->selection);
	free(r->facts);
}

void stat_report_release(struct stat_report *r)
{
	environment_release(r);
	free(r->seconds.runs);
	stat_row_release(&r->all);
	for (size_t i = 0; i < r->nr_rows; i++)
		stat_row_release(&r->rows[i]);
	free(r->rows);
	stat_row_release(&r->idle);
	stat_row_release(&r->filtered);
	stat_row_release(&r->lost);
	for (size_t i = 0; i < r->nr_hotspots; i++) {
		free(r->hotspots[i].symbol);
		free(r->hotspots[i].module);
	}
	free(r->hotspots);
	free(r->hotspots_event);
	*r = (struct stat_report){};
}

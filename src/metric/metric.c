/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From counts to values: a row's formula, its duties, its verdict. A number that was not counted
 * makes none; a 0 that no program has makes no verdict.
 */
#include "metric/metric.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "metric/formula.h"
#include "metric/rows.h"

#define DUTY_LOW_PCT   20 /* below, a scaled count says little */
#define DUTY_APART_PCT 10 /* terms that ran this much apart saw different phases */
#define RUNNING_LOW_NS 100000000ull

/* What goes wrong on the way, and who ran how long. */
struct walk {
	const struct metric_inputs *in;
	const struct metric *m; /* the row whose formula is being read */
	unsigned int depth;
	struct metric_value *out;	  /* why is written once */
	const struct count *least, *most; /* by duty */
	const struct count *shortest;
	char least_name[FORMULA_NAME_MAX], most_name[FORMULA_NAME_MAX];
	char shortest_name[FORMULA_NAME_MAX];
};

static double row_eval(struct walk *w);

__attribute__((format(printf, 2, 3))) static void say_why(struct metric_value *v, const char *fmt,
							  ...)
{
	va_list ap;

	if (*v->why)
		return;
	va_start(ap, fmt);
	vsnprintf(v->why, sizeof(v->why), fmt, ap);
	va_end(ap);
}

static const char *const missing_texts[COUNT_NR_STATES] = {
	[COUNT_NOT_COUNTED] = "%s was not counted",
	[COUNT_NOT_SUPPORTED] = "%s is not supported by this PMU",
	[COUNT_NOT_ADVERTISED] = "%s is not advertised by this PMU, and counted 0",
	[COUNT_LOST] = "%s was lost: others hold the counters",
	[COUNT_NO_PERMISSION] = "no permission to count %s",
	[COUNT_NOT_AVAILABLE] = "%s is not available here",
};

static const char *missing_text(const struct count *c)
{
	return c ? missing_texts[c->state] : "%s was not asked for";
}

static void note_running(struct walk *w, const struct count *c, const char *name)
{
	double duty = count_duty_pct(c);

	if (!w->least || duty < count_duty_pct(w->least)) {
		w->least = c;
		snprintf(w->least_name, sizeof(w->least_name), "%s", name);
	}
	if (!w->most || duty > count_duty_pct(w->most)) {
		w->most = c;
		snprintf(w->most_name, sizeof(w->most_name), "%s", name);
	}
	if (!w->shortest || c->running_ns < w->shortest->running_ns) {
		w->shortest = c;
		snprintf(w->shortest_name, sizeof(w->shortest_name), "%s", name);
	}
}

static double number_value(struct walk *w, const char *name)
{
	if (!strcmp(name, "seconds"))
		return w->in->seconds;
	if (metric_is_peak(name) && w->in->peaks)
		return !strcmp(name, "peak_flops") ? w->in->peaks->flops : w->in->peaks->bandwidth;
	if (metric_is_peak(name)) {
		say_why(w->out, "the peaks of this machine are not known");
		return NAN;
	}
	if (w->in->core->slots)
		return w->in->core->slots;
	say_why(w->out, "the slots per cycle of this core are not known");
	return NAN;
}

static double other_row_value(struct walk *w, const char *name)
{
	const struct metric *from = w->m;
	double value;

	w->m = metric_row_find(from, name, w->in->core);
	assert(w->m && w->depth < METRIC_REFER_MAX);
	w->depth++;
	value = row_eval(w);
	w->depth--;
	w->m = from;
	return value;
}

static double name_value(void *arg, const char *name)
{
	struct walk *w = arg;
	const struct count *c;

	if (*name == '@')
		return other_row_value(w, name + 1);
	if (metric_is_number(name))
		return number_value(w, name);
	c = w->in->find(w->in->arg, name);
	if (!c || !count_is_there(c)) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		say_why(w->out, missing_text(c), name);
#pragma GCC diagnostic pop
		return NAN;
	}
	/* That of a thread counts nothing but the time that it runs, so that is never too short. */
	if (strcmp(name, "task_clock"))
		note_running(w, c, name);
	return c->value;
}

static double row_eval(struct walk *w)
{
	struct formula f;
	const char *zero;
	double value;
	bool ok = formula_parse(&f, w->m->formula, NULL);

	assert(ok);
	value = ok ? formula_eval(&f, name_value, w, &zero) : NAN;
	/* A missing count has said so already, since it was read before it was divided. */
	if (isnan(value))
		say_why(w->out, "%s is 0", zero ? zero + (*zero == '@') : "the divisor");
	return value;
}

static enum metric_verdict judge(double value, double ok, double high)
{
	bool more_is_better = ok > high;

	if (isnan(value) || isnan(ok))
		return METRIC_NONE;
	if (more_is_better ? value >= ok : value <= ok)
		return METRIC_OK;
	return isnan(high) || (more_is_better ? value < high : value > high) ? METRIC_INVESTIGATE
									     : METRIC_WATCH;
}

static void warn_duty(struct walk *w)
{
	struct metric_value *v = w->out;
	double least, most;

	if (!w->least)
		return;
	least = count_duty_pct(w->least);
	most = count_duty_pct(w->most);
	if (least < DUTY_LOW_PCT)
		say_why(v, "%s counted only %.2f%% of the time", w->least_name, least);
	else if (w->shortest->running_ns < RUNNING_LOW_NS)
		say_why(v, "%s counted for only %s", w->shortest_name,
			text_ns(w->shortest->running_ns));
	else if (most - least > DUTY_APART_PCT)
		say_why(v, "%s counted %.2f%% of the time, %s %.2f%%: not the same phases",
			w->least_name, least, w->most_name, most);
	v->warns = *v->why;
}

static void eval_row(const struct metric *m, const struct metric_inputs *in, struct metric_value *v)
{
	struct walk w = { .in = in, .m = m, .out = v };
	const struct count *stuck;

	*v = (struct metric_value){ .metric = m };
	v->raw = row_eval(&w);
	v->value = v->raw < 0 ? 0 : v->raw;
	if (isnan(v->raw))
		return;
	stuck = metric_row_stuck(m, in);
	if (stuck) {
		say_why(v, "counted 0 in %.2f s: the PMU probably does not implement this event",
			stuck->running_ns / 1e9);
		return;
	}
	v->verdict = judge(v->value, m->ok, m->high);
	warn_duty(&w);
}

static bool is_flagged(enum metric_verdict v)
{
	return v == METRIC_WATCH || v == METRIC_INVESTIGATE;
}

static size_t plan_find(const struct metric_plan *plan, const char *name)
{
	size_t i;

	for (i = 0; i < plan->nr_metrics; i++)
		if (!strcmp(plan->metrics[i]->name, name))
			break;
	return i;
}

/* The row of the plan that decides about this one; nr_metrics: none is there. */
static size_t parent_of(const struct metric_plan *plan, const struct metric *m)
{
	char *names = xstrdup(m->parent), *at = names, *name;
	size_t i = plan->nr_metrics;

	while (i == plan->nr_metrics && (name = strsep(&at, ",")))
		i = plan_find(plan, name);
	free(names);
	return i;
}

/* Takes the flag from a row whose parents do not have theirs. */
static void ask_parents(const struct metric_plan *plan, struct metric_value *values, size_t i,
			unsigned int depth)
{
	struct metric_value *v = &values[i];
	const char *parents = v->metric->parent;
	size_t above;

	assert(depth < METRIC_REFER_MAX);
	if (!parents || !is_flagged(v->verdict))
		return;
	above = parent_of(plan, v->metric);
	if (above == plan->nr_metrics) {
		v->verdict = METRIC_NONE;
		say_why(v, "means something only if %.*s is high: add -M topdown",
			(int)strcspn(parents, ","), parents);
		return;
	}
	ask_parents(plan, values, above, depth + 1);
	if (values[above].verdict == METRIC_NONE) {
		v->verdict = METRIC_NONE;
		say_why(v, "means something only if %s is high, which is not known",
			values[above].metric->name);
	} else if (!is_flagged(values[above].verdict)) {
		v->verdict = METRIC_OK;
	}
}

void metric_plan_eval(const struct metric_plan *plan, const struct metric_inputs *in,
		      struct metric_value *values)
{
	size_t i;

	for (i = 0; i < plan->nr_metrics; i++)
		eval_row(plan->metrics[i], in, &values[i]);
	for (i = 0; i < plan->nr_metrics; i++)
		ask_parents(plan, values, i, 0);
}

/* A name with what it stands for; again, it is just a name. */
static void print_input(FILE *to, struct walk *w, const char *name, bool again)
{
	const struct count *c;
	double value;

	fputs(*name == '@' ? name + 1 : name, to);
	if (again)
		return;
	if (*name == '@' || metric_is_number(name)) {
		value = name_value(w, name);
		if (isnan(value))
			fprintf(to, " n/a");
		else
			fprintf(to,
				*name == '@'	     ? " %.2f"
				: fabs(value) >= 1e6 ? " %.0f"
						     : " %.6g",
				value);
		return;
	}
	c = w->in->find(w->in->arg, name);
	if (!c || !count_is_there(c)) {
		fprintf(to, " %s", c ? count_state_text(c->state) : "<not asked for>");
		return;
	}
	fprintf(to, " %s", text_count((unsigned long long)(c->value + 0.5)));
	if (c->state == COUNT_SCALED)
		fprintf(to, " (%.2f%%)", count_duty_pct(c));
}

static bool named_before(const struct formula *f, const struct formula_step *s)
{
	for (const struct formula_step *t = f->steps; t < s; t++)
		if (t->kind == FORMULA_NAME && !strcmp(t->name, s->name))
			return true;
	return false;
}

/* The factor that only makes percent or "per 1,000" of it. */
static size_t factor_len(const char *formula)
{
	static const char *const factors[] = { "100 * ", "1000 * " };

	for (size_t i = 0; i < 2; i++)
		if (!strncmp(formula, factors[i], strlen(factors[i])))
			return strlen(factors[i]);
	return 0;
}

void metric_formula_text(const struct metric *m, const struct metric_inputs *in, char *to,
			 size_t sz)
{
	struct metric_value ignored = { 0 };
	struct walk w = { .in = in, .m = m, .out = &ignored };
	size_t at = factor_len(m->formula), len;
	char *text = NULL;
	struct formula f;
	FILE *out;
	bool ok = formula_parse(&f, m->formula, NULL);

	assert(ok);
	out = open_memstream(&text, &len);
	for (size_t i = 0; ok && i < f.nr; i++) {
		const struct formula_step *s = &f.steps[i];

		if (s->kind != FORMULA_NAME)
			continue;
		fprintf(out, "%.*s", (int)(s->at - at), m->formula + at);
		print_input(out, &w, s->name, named_before(&f, s));
		at = s->at + s->len;
	}
	fprintf(out, "%s", m->formula + at);
	fclose(out);
	if (snprintf(to, sz, "%s", text) >= (int)sz && sz > 4)
		memcpy(to + sz - 4, "...", 4);
	free(text);
}

static const char *const verdict_keys[] = { "", "ok", "watch", "investigate" };

const char *metric_verdict_key(enum metric_verdict v)
{
	return verdict_keys[v];
}

int metric_verdict_read(const char *key, double value, double ok, double high)
{
	if (!strcmp(key, "high"))
		return METRIC_INVESTIGATE;
	for (enum metric_verdict v = METRIC_NONE; v < METRIC_INVESTIGATE; v++)
		if (!strcmp(key, verdict_keys[v]))
			return v;
	if (strcmp(key, verdict_keys[METRIC_INVESTIGATE]))
		return -1;
	return judge(value, ok, high) == METRIC_WATCH ? METRIC_WATCH : METRIC_INVESTIGATE;
}

static const struct {
	const char *name;
	double from;
	const char *word;
	bool praise;
} grades[] = {
	{ "ipc", 3, "excellent", true },   { "ipc", 1.5, "good", true },
	{ "ipc", 0.8, "moderate", false }, { "ipc", 0.3, "poor", false },
	{ "ipc", 0, "very low", false },
};

const char *metric_grade(const char *name, double value, enum metric_verdict verdict)
{
	for (size_t i = 0; i < sizeof(grades) / sizeof(*grades); i++)
		if (!strcmp(grades[i].name, name) && value >= grades[i].from)
			return grades[i].praise && is_flagged(verdict) ? "" : grades[i].word;
	return "";
}

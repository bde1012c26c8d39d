/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The table of quantities that conditions may be about. */
#include "agent/trigger.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/opt.h"
#include "base/text.h"
#include "profile/runqlat.h"

struct window {
	const struct profile *p;
	const struct agent_facts *f;
};

enum unit { TIME, PERCENT, NUMBER };

static double runq_p50(const struct window *w)
{
	return runqlat_percentile_ns(&w->f->live.queue, 50);
}

static double runq_p99(const struct window *w)
{
	return runqlat_percentile_ns(&w->f->live.queue, 99);
}

static double runq_max(const struct window *w)
{
	return runqlat_max_ns(&w->f->live.queue);
}

static double percent(const struct window *w, double ns)
{
	double all = (double)w->f->live.window_ns * w->f->live.nr_cpus;

	return all > 0 ? 100 * ns / all : 0;
}

static double cpu(const struct window *w)
{
	return percent(w, w->f->live.running_ns);
}

static double cost(const struct window *w)
{
	return percent(w, (double)w->f->live.cpu_ns + w->f->live.bpf_ns);
}

static double lost(const struct window *w)
{
	return profile_sum(w->p, COUNTER_LOST);
}

/* Of threads that wait for a device, so many are at a time. */
static double blocked(const struct window *w)
{
	double ns = 0;

	for (size_t i = 0; i < w->p->nr_samples; i++)
		if (w->p->samples[i].wait & PROF_WAIT_IO &&
		    PROF_WAIT_KIND(w->p->samples[i].wait) == PROF_BLOCKED)
			ns += w->p->samples[i].weight;
	return w->f->live.window_ns ? ns / w->f->live.window_ns : 0;
}

static const struct trigger_quantity {
	const char *name;
	enum unit unit;
	double (*of)(const struct window *w);
} quantities[] = {
	{ "runq_p50", TIME, runq_p50 }, { "runq_p99", TIME, runq_p99 },
	{ "runq_max", TIME, runq_max }, { "cpu", PERCENT, cpu },
	{ "cost", PERCENT, cost },	{ "lost", NUMBER, lost },
	{ "blocked", NUMBER, blocked },
};
#define NR	      (sizeof(quantities) / sizeof(*quantities))
#define TRIGGER_NAMES "runq_p50, runq_p99, runq_max, cpu, cost, lost or blocked"

static const struct trigger_quantity *find(const char *name, size_t len)
{
	for (size_t i = 0; i < NR; i++)
		if (strlen(quantities[i].name) == len && !strncmp(quantities[i].name, name, len))
			return &quantities[i];
	return NULL;
}

static int unknown(const char *text, size_t len)
{
	const char *names[NR];
	char *name = xstrndup(text, len), *hint;

	for (size_t i = 0; i < NR; i++)
		names[i] = quantities[i].name;
	hint = text_meant("", text_nearest(name, names, NR));
	log_err(0, "--on '%s': unknown quantity '%s' (" TRIGGER_NAMES ")%s", text, name, hint);
	free(hint);
	free(name);
	return -EINVAL;
}

static bool parse_value(struct trigger *t, const char *value)
{
	uint64_t ns;
	char *end;

	if (t->of->unit == TIME) {
		if (opt_seconds(value, &ns))
			return false;
		t->value = ns;
		return true;
	}
	t->value = strtod(value, &end);
	if (end == value || !isfinite(t->value) || t->value < 0)
		return false;
	if (t->of->unit == PERCENT && t->value > 100)
		return false;
	return !*end || (t->of->unit == PERCENT && !strcmp(end, "%"));
}

int trigger_parse(struct trigger *t, const char *text)
{
	static const char *const wanted[] = { "a time: 20ms, 500us, 1s",
					      "a percentage up to 100: 90%", "a number" };
	size_t len = strcspn(text, "<>=");
	const char *value = text + len;

	*t = (struct trigger){ .text = text, .of = find(text, len) };
	if (!t->of)
		return unknown(text, len);
	if (*value != '<' && *value != '>')
		return log_as(-EINVAL, "--on '%s': compare by < or >, as in '%s>...'", text,
			      t->of->name);
	t->below = *value++ == '<';
	if (*value == '=') {
		t->or_equal = true;
		value++;
	}
	if (!parse_value(t, value))
		return log_as(-EINVAL, "--on '%s': '%s' is compared with %s", text, t->of->name,
			      wanted[t->of->unit]);
	return 0;
}

static char *value_text(const struct trigger *t, double value)
{
	if (t->of->unit == TIME)
		return xstrdup(text_ns(value));
	return xasprintf(value < 1000 && value > -1000 ? "%.4g%s" : "%.0f%s", value,
			 t->of->unit == PERCENT ? "%" : "");
}

bool trigger_is_own(const struct trigger *t)
{
	return t->of->of == cost || t->of->of == lost;
}

bool trigger_is_met(const struct trigger *t, const struct profile *p, const struct agent_facts *f,
		    char **why)
{
	const struct window w = { p, f };
	double value = t->of->of(&w);
	bool met = t->below ? value < t->value : value > t->value;
	char *text;

	met |= t->or_equal && value == t->value;
	if (!met)
		return false;
	text = value_text(t, value);
	*why = xasprintf("%s: %s", t->text, text);
	free(text);
	return true;
}

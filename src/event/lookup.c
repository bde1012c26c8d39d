/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Looking names up, one source after the other. */
#include "event/lookup.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "event/tracepoints.h"

/* <linux/perf_event.h> has it since 5.12: generic events of one of several kinds of cores. */
#ifndef PERF_PMU_TYPE_SHIFT
#define PERF_PMU_TYPE_SHIFT 32
#endif

#define MAX_RAW_DIGITS 16

/* Events ------------------------------------------------------------------------------------- */

static struct event event_of(struct pmu *p, enum event_source source, uint32_t type)
{
	return (struct event){
		.type = type,
		.source = source,
		.pmu = p,
		.per_task = !p || !p->shared,
		.cpus = p && p->has_cpus ? &p->cpus : NULL,
		.scale = 1,
		.unit = "",
		.meaning = "",
	};
}

static void take_config(struct event *e, const uint64_t config[PMU_WORDS])
{
	e->config = config[0];
	e->config1 = config[1];
	e->config2 = config[2];
}

static bool lists_config(struct pmu *p, const struct event *e)
{
	return pmu_event_by_config(p, (uint64_t[PMU_WORDS]){ e->config, e->config1, e->config2 });
}

/* The kernel's lists have names only. */
static const char *meaning_of(const struct catalog *c, const struct pmu *p, const char *name)
{
	const struct known *k = known_of(c->core.vendor, name);
	const struct generic *g = generic_find(name);

	if (k && !k->pmu == (p->kind == PMU_CORE))
		return k->meaning;
	return g && p->kind == PMU_CORE ? generic_meaning(g, c->core.vendor) : "";
}

struct event lookup_listed(const struct catalog *c, struct pmu *p, const struct pmu_event *e)
{
	struct event event = event_of(p, EVENT_SYSFS, p->type);

	take_config(&event, e->config);
	event.advertised = true;
	event.scale = e->scale;
	event.unit = e->unit ? e->unit : "";
	event.meaning = meaning_of(c, p, e->name);
	return event;
}

/*
 * Intel's and AMD's drivers list next to nothing, and their cores do have what our tables say.
 * Arm's driver lists what the PMU says it has, and opens everything.
 */
struct event lookup_known(const struct catalog *c, struct pmu *p, const struct known *k)
{
	struct event event = event_of(p, EVENT_TABLE, p->type);

	event.config = k->config;
	event.config1 = k->config1;
	event.meaning = k->meaning;
	event.advertised = c->core.vendor != CORE_ARM || lists_config(p, &event);
	return event;
}

/* p: NULL, or the one of several kinds of cores that is to count. */
struct event lookup_generic(const struct catalog *c, const struct generic *g, struct pmu *p)
{
	bool software = g->type == PERF_TYPE_SOFTWARE;
	struct event event = event_of(p, software ? EVENT_SOFTWARE : EVENT_GENERIC, g->type);

	event.config = g->config;
	if (p)
		event.config |= (uint64_t)p->type << PERF_PMU_TYPE_SHIFT;
	event.meaning = generic_meaning(g, c->core.vendor);
	event.advertised = true;
	if (software &&
	    (g->config == PERF_COUNT_SW_CPU_CLOCK || g->config == PERF_COUNT_SW_TASK_CLOCK))
		event.unit = "ns";
	return event;
}

/* Without a name yet, unless it is a tracepoint; the modifiers are known. */
static void add(struct lookup *f, struct event event)
{
	const struct spelling *s = &f->s;

	if (s->user || s->kernel || s->hv) {
		event.exclude_user = !s->user;
		event.exclude_kernel = !s->kernel;
		event.exclude_hv = !s->hv;
	}
	event.precise = s->precise;
	f->v = xreallocarray(f->v, f->nr + 1, sizeof(*f->v));
	f->v[f->nr++] = event;
}

/* A PMU whose files make no sense, or that no CPU has now, is as good as none. */
static bool is_usable(struct pmu *p)
{
	return !pmu_load(p) && (!p->has_cpus || p->cpus.nr);
}

/* Bare names --------------------------------------------------------------------------------- */

static bool find_listed(struct lookup *f, struct pmu *p, const char *name)
{
	const struct pmu_event *e = is_usable(p) ? pmu_event(p, name) : NULL;

	if (e)
		add(f, lookup_listed(f->c, p, e));
	return e;
}

static bool find_in_cores(struct lookup *f)
{
	for (size_t i = 0; i < f->c->nr_cores; i++)
		find_listed(f, f->c->cores[i], f->s.name);
	return f->nr;
}

static int find_generic(struct lookup *f, const struct generic *g)
{
	if (g->uncountable)
		return spelling_refuse(f->why, -EINVAL, "'%s' cannot be counted: it carries %s",
				       f->s.name, g->meaning);
	if (g->type == PERF_TYPE_SOFTWARE || f->c->nr_cores < 2) {
		add(f, lookup_generic(f->c, g, NULL));
		return 0;
	}
	for (size_t i = 0; i < f->c->nr_cores; i++)
		add(f, lookup_generic(f->c, g, f->c->cores[i]));
	return 0;
}

/* Of a row for another PMU: all of its family. */
static bool find_known(struct lookup *f, const struct known *k)
{
	for (size_t i = 0; k && !k->pmu && i < f->c->nr_cores; i++)
		add(f, lookup_known(f->c, f->c->cores[i], k));
	for (size_t i = 0; k && k->pmu && i < f->c->pmus.nr; i++)
		if (pmu_is_meant(f->c->pmus.v[i], k->pmu) && is_usable(f->c->pmus.v[i]))
			add(f, lookup_known(f->c, f->c->pmus.v[i], k));
	return f->nr;
}

static bool same_family(const struct pmu *a, const struct pmu *b)
{
	size_t len = pmu_family_len(a->name);

	return len == pmu_family_len(b->name) && !strncmp(a->name, b->name, len);
}

/* What other PMUs list: all of the first family that has the name. */
static bool find_elsewhere(struct lookup *f)
{
	struct pmu *p;

	for (size_t i = 0; i < f->c->pmus.nr; i++) {
		p = f->c->pmus.v[i];
		if (p->kind == PMU_OTHER && (!f->nr || same_family(p, f->v[0].pmu)))
			find_listed(f, p, f->s.name);
	}
	return f->nr;
}

/* rNNN, hexadecimal. */
static bool is_raw(const char *name, uint64_t *config)
{
	size_t digits = strspn(name + 1, "0123456789abcdefABCDEF");

	if ((*name != 'r' && *name != 'R') || !digits || digits > MAX_RAW_DIGITS ||
	    name[1 + digits])
		return false;
	*config = strtoull(name + 1, NULL, 16);
	return true;
}

/* Of what was asked for by number: does anybody vouch for it, and what is it? */
static void describe(const struct catalog *c, struct pmu *p, struct event *e)
{
	const struct known *k =
		p->kind == PMU_CORE ? known_by_config(&c->core, e->config, e->config1) : NULL;

	e->advertised = lists_config(p, e) || (k && c->core.vendor != CORE_ARM);
	if (k && !e->config2)
		e->meaning = k->meaning;
}

static bool find_raw(struct lookup *f)
{
	struct event e;
	uint64_t config;

	if (!is_raw(f->s.name, &config))
		return false;
	for (size_t i = 0; i < f->c->nr_cores; i++) {
		e = event_of(f->c->cores[i], EVENT_RAW, f->c->cores[i]->type);
		e.config = config;
		describe(f->c, f->c->cores[i], &e);
		add(f, e);
	}
	return f->nr;
}

static int find_bare(struct lookup *f)
{
	const struct generic *g;

	if (find_in_cores(f))
		return 0;
	g = generic_find(f->s.name);
	if (g)
		return find_generic(f, g);
	if (find_known(f, known_find(&f->c->core, f->s.name)) || find_elsewhere(f) || find_raw(f))
		return 0;
	return unknown_name(f);
}

/* PMU/…/ ------------------------------------------------------------------------------------- */

/* One name between the slashes: what a bare name finds, for this PMU. */
static bool find_named(struct lookup *f, struct pmu *p)
{
	const struct known *k = known_find(&f->c->core, f->s.name);
	const struct generic *g = generic_find(f->s.name);

	if (find_listed(f, p, f->s.name))
		return true;
	if (p->kind == PMU_CORE && g && g->type != PERF_TYPE_SOFTWARE)
		add(f, lookup_generic(f->c, g, f->c->nr_cores > 1 ? p : NULL));
	else if (k && (k->pmu ? pmu_is_meant(p, k->pmu) : p->kind == PMU_CORE))
		add(f, lookup_known(f->c, p, k));
	else
		return false;
	return true;
}

static int set_field(const struct lookup *f, struct pmu *p, const char *name, uint64_t value,
		     uint64_t config[PMU_WORDS])
{
	static const char *const words[PMU_WORDS] = { "config", "config1", "config2" };
	const struct pmu_field *field;

	for (size_t i = 0; i < PMU_WORDS; i++)
		if (known_same(name, words[i])) {
			config[i] = value;
			return 0;
		}
	field = pmu_field(p, name);
	if (!field)
		return unknown_term(f, p, name);
	if (pmu_field_set(field, value, config))
		return spelling_refuse(f->why, -EINVAL,
				       "'%s=0x%llx' is too large: of %s it takes 0x%llx at most",
				       name, (unsigned long long)value, p->name,
				       (unsigned long long)pmu_field_max(field));
	return 0;
}

/* "field=value", "name=label", "field" alone, which is 1, or an event that the PMU lists. */
static int take_term(struct lookup *f, struct pmu *p, char *term, uint64_t config[PMU_WORDS])
{
	char *value = strchr(term, '='), *end;
	const struct pmu_event *e = value ? NULL : pmu_event(p, term);
	uint64_t n = 1;

	if (e) {
		for (size_t i = 0; i < PMU_WORDS; i++)
			config[i] |= e->config[i];
		return 0;
	}
	if (value)
		*value++ = '\0';
	if (!*term || (value && !*value))
		return spelling_refuse(f->why, -EINVAL, "'%s': a %s is missing ('%s=%s')",
				       f->s.text, *term ? "value" : "field", term,
				       value ? value : "");
	if (value && known_same(term, "name")) {
		free(f->label);
		f->label = xstrdup(value);
		return 0;
	}
	if (value) {
		errno = 0;
		n = strtoull(value, &end, 0);
		if (!isdigit((unsigned char)*value) || *end || errno)
			return spelling_refuse(f->why, -EINVAL, "'%s' of '%s' is no number", value,
					       f->s.text);
	}
	return set_field(f, p, term, n, config);
}

static int find_fields(struct lookup *f, struct pmu *p)
{
	char *terms = xstrdup(f->s.name), *rest = terms, *term;
	struct event e = event_of(p, EVENT_FIELDS, p->type);
	uint64_t config[PMU_WORDS] = {};
	int err = 0;

	while (!err && (term = strsep(&rest, ",")))
		err = take_term(f, p, term, config);
	free(terms);
	if (err)
		return err;
	take_config(&e, config);
	describe(f->c, p, &e);
	add(f, e);
	return 0;
}

static int find_in_pmu(struct lookup *f, struct pmu *p)
{
	if (p->kind == PMU_TRACE)
		return spelling_refuse(f->why, -EINVAL,
				       "%s cannot count: it writes a trace of samples, which "
				       "bpfprof does not read",
				       p->name);
	if (!is_usable(p))
		return spelling_refuse(f->why, -ENODEV,
				       "%s cannot be used: its files in sysfs name no type, or no "
				       "CPU that is online",
				       p->name);
	if (!strpbrk(f->s.name, ",=") && find_named(f, p))
		return 0;
	return find_fields(f, p);
}

/* A PMU of exactly this name, or else all that are meant. */
static int find_of_pmu(struct lookup *f)
{
	const struct pmus *pmus = &f->c->pmus;
	bool meant = false;
	int err = 0;

	for (size_t i = 0; i < pmus->nr; i++)
		if (!strcmp(pmus->v[i]->name, f->s.pmu))
			return find_in_pmu(f, pmus->v[i]);
	for (size_t i = 0; i < pmus->nr && !err; i++)
		if (pmu_is_meant(pmus->v[i], f->s.pmu)) {
			meant = true;
			err = find_in_pmu(f, pmus->v[i]);
		}
	return meant ? err : unknown_pmu(f);
}

/* CATEGORY:NAME ------------------------------------------------------------------------------ */

/* Of a pattern, what cannot be opened is passed over, as the tracer's own. */
static int add_tracepoint(struct lookup *f, const struct tracepoints *t, const char *name)
{
	struct event e = event_of(NULL, EVENT_TRACEPOINT, PERF_TYPE_TRACEPOINT);

	e.config = tracepoints_id(t, name);
	if (!e.config && tracepoints_is_glob(f->s.name))
		return 0;
	if (!e.config)
		return spelling_refuse(f->why, -ENODEV, "the tracepoint %s cannot be counted: %s",
				       name, "the kernel gives it no number");
	e.name = xstrdup(name);
	e.advertised = true;
	add(f, e);
	return 0;
}

static int find_tracepoints(struct lookup *f)
{
	struct tracepoints t;
	int err = tracepoints_open(&t, f->c->tracefs);
	char *why;

	if (err && f->why) {
		why = tracepoints_why(err);
		spelling_refuse(f->why, err, "'%s': %s", f->s.text, why);
		free(why);
	}
	for (size_t i = 0; i < t.nr && !err; i++)
		if (tracepoints_is_meant(t.names[i], f->s.name))
			err = add_tracepoint(f, &t, t.names[i]);
	if (!err && !f->nr)
		err = unknown_tracepoint(f, t.names, t.nr);
	tracepoints_close(&t);
	return err;
}

/* The whole ---------------------------------------------------------------------------------- */

/* Both names in one piece of memory. Of fields, the terms alone say nothing. */
static void name_event(const struct lookup *f, struct event *e)
{
	const struct spelling *s = &f->s;
	bool fields = e->source == EVENT_FIELDS && !f->label;
	const char *event = f->label ? f->label : s->name;
	char *full, *base;
	size_t len;

	if (e->source == EVENT_TRACEPOINT) {
		e->base = e->name;
		return;
	}
	if (f->nr > 1 && e->pmu)
		full = xasprintf("%s/%s/%s", e->pmu->name, event, s->modifiers);
	else if (f->label)
		full = xasprintf("%s%s", f->label, s->modifiers);
	else
		full = xstrdup(s->text);
	base = fields ? xasprintf("%s/%s/", s->pmu, s->name) : xstrdup(event);
	len = strlen(full) + 1;
	e->name = xmalloc(len + strlen(base) + 1);
	memcpy(e->name, full, len);
	e->base = strcpy(e->name + len, base);
	free(full);
	free(base);
}

int lookup_run(struct lookup *f, const char *text)
{
	int err = spelling_parse(&f->s, text, f->why);

	if (!err)
		err = f->s.tracepoint ? find_tracepoints(f)
		      : f->s.pmu      ? find_of_pmu(f)
				      : find_bare(f);
	if (err) {
		events_free(f->v, f->nr);
		f->v = NULL;
		f->nr = 0;
	}
	for (size_t i = 0; i < f->nr; i++)
		name_event(f, &f->v[i]);
	return err;
}

void lookup_release(struct lookup *f)
{
	spelling_release(&f->s);
	free(f->label);
}

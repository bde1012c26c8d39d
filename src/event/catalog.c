/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The catalog of events: what is open of sysfs, and all questions that others ask. Finding a name
 * is in lookup.c, saying that there is none in unknown.c.
 */
#include "event/catalog.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "event/lookup.h"
#include "event/perf.h"

static void take_cores(struct catalog *c)
{
	struct pmu *p;

	for (size_t i = 0; i < c->pmus.nr; i++) {
		p = c->pmus.v[i];
		if (p->kind != PMU_CORE || pmu_load(p) || (p->has_cpus && !p->cpus.nr))
			continue;
		c->cores = xreallocarray(c->cores, c->nr_cores + 1, sizeof(*c->cores));
		c->cores[c->nr_cores++] = p;
	}
}

struct catalog *catalog_open(const char *root)
{
	struct catalog *c;
	int err;

	if (access(root, R_OK | X_OK)) {
		err = log_err(-errno, "cannot read %s", root);
		errno = -err;
		return NULL;
	}
	c = xcalloc(1, sizeof(*c));
	c->live = !strcmp(root, "/");
	c->tracefs = c->live ? NULL : xasprintf("%s/sys/kernel/tracing", root);
	core_read(&c->core, root);
	pmus_open(&c->pmus, root);
	take_cores(c);
	return c;
}

void catalog_close(struct catalog *c)
{
	if (!c)
		return;
	pmus_close(&c->pmus);
	free(c->cores);
	free(c->tracefs);
	free(c);
}

const struct core *catalog_core(const struct catalog *c)
{
	return &c->core;
}

const struct pmu *catalog_core_pmu(const struct catalog *c)
{
	return c->nr_cores ? c->cores[0] : NULL;
}

/* Finding ------------------------------------------------------------------------------------ */

static int find(const struct catalog *c, const char *text, struct event **v, size_t *nr, char **why)
{
	struct lookup f = { .c = c, .why = why };
	int err = lookup_run(&f, text);

	if (!err) {
		*v = xreallocarray(*v, *nr + f.nr, sizeof(**v));
		memcpy(*v + *nr, f.v, f.nr * sizeof(**v));
		*nr += f.nr;
		free(f.v);
	}
	lookup_release(&f);
	return err;
}

/* err, after the sentence. Frees why. */
static int refuse(int err, char *why, const char *text)
{
	char *clean = text_cleaned(why ? why : text);

	log_err(0, "%s", clean);
	free(clean);
	free(why);
	return err;
}

int catalog_find(const struct catalog *c, const char *text, struct event **v, size_t *nr)
{
	char *why = NULL;
	int err = find(c, text, v, nr, &why);

	return err ? refuse(err, why, text) : 0;
}

/* The kernel answers ENOENT where its driver has no translation. */
static bool opens(const struct event *e)
{
	struct perf_event_attr attr = { .disabled = 1, .exclude_kernel = 1, .exclude_hv = 1 };
	int fd;

	event_attr(e, &attr);
	attr.exclude_kernel = attr.exclude_hv = 1;
	fd = perf_open(&attr, 0, -1, -1);
	if (fd >= 0)
		close(fd);
	return fd >= 0 || fd == -EACCES || fd == -EPERM || fd == -EMFILE;
}

/* Numbers that an Arm PMU can say it has. */
static bool could_be_listed(const struct event *e)
{
	return e->config < 0x40 || (e->config >= 0x4000 && e->config < 0x4040);
}

static bool is_there(const struct catalog *c, const struct event *e)
{
	if (e->source == EVENT_GENERIC)
		return c->nr_cores && (!c->live || opens(e));
	return e->source != EVENT_TABLE || e->advertised || !could_be_listed(e);
}

bool catalog_has(const struct catalog *c, const char *name)
{
	struct event *v = NULL;
	size_t nr = 0;
	bool has;

	has = !find(c, name, &v, &nr, NULL) && is_there(c, &v[0]);
	events_free(v, nr);
	return has;
}

/* A list while it is read. */
struct reading {
	const struct catalog *c;
	struct event *v;
	size_t nr;
	bool may_miss;
	struct missing {
		char *name, *why;
		int err;
	} * missing;
	size_t nr_missing, cap;
};

static bool is_missing(int err)
{
	return err == -ENOENT || err == -ENODEV;
}

static int read_name(struct reading *r, const char *name)
{
	char *why = NULL;
	int err = find(r->c, name, &r->v, &r->nr, &why);

	if (!err)
		return 0;
	if (!r->may_miss || !is_missing(err))
		return refuse(err, why, name);
	r->missing = xgrow(r->missing, r->nr_missing, &r->cap, sizeof(*r->missing));
	r->missing[r->nr_missing++] = (struct missing){ xstrdup(name), why, err };
	return 0;
}

static int read_list(struct reading *r, const char *text)
{
	bool first = true;
	size_t len;
	char *name;
	int err;

	do {
		len = spelling_len(text);
		name = xstrndup(text, len);
		err = -EINVAL;
		if (name[strspn(name, " \t\n")])
			err = read_name(r, name);
		else
			log_err(0, *text || !first ? "an event is missing beside a ',' of the list"
						   : "an event is missing: the list is empty");
		free(name);
		first = false;
		text += len;
	} while (!err && *text++);
	return err;
}

/* Hands out what was read, events and what there is not. */
static int take(struct reading *r, struct event **v, size_t *nr,
		void (*missing)(void *arg, const char *name, const char *why), void *arg)
{
	if (!r->nr && r->nr_missing) {
		char *why = r->missing[0].why;

		r->missing[0].why = NULL;
		return refuse(r->missing[0].err, why, r->missing[0].name);
	}
	*v = xreallocarray(*v, *nr + r->nr, sizeof(**v));
	memcpy(*v + *nr, r->v, r->nr * sizeof(**v));
	*nr += r->nr;
	r->nr = 0;
	for (size_t i = 0; i < r->nr_missing; i++)
		missing(arg, r->missing[i].name, r->missing[i].why);
	return 0;
}

static int read_some(struct reading *r, const char *text, struct event **v, size_t *nr,
		     void (*missing)(void *arg, const char *name, const char *why), void *arg)
{
	int err = read_list(r, text);

	if (!err)
		err = take(r, v, nr, missing, arg);
	events_free(r->v, r->nr);
	for (size_t i = 0; i < r->nr_missing; i++) {
		free(r->missing[i].name);
		free(r->missing[i].why);
	}
	free(r->missing);
	return err;
}

int catalog_find_list(const struct catalog *c, const char *text, struct event **v, size_t *nr)
{
	struct reading r = { .c = c };

	return read_some(&r, text, v, nr, NULL, NULL);
}

int catalog_find_some(const struct catalog *c, const char *text, struct event **v, size_t *nr,
		      void (*missing)(void *arg, const char *name, const char *why), void *arg)
{
	struct reading r = { .c = c, .may_miss = true };

	return read_some(&r, text, v, nr, missing, arg);
}

void event_attr(const struct event *e, struct perf_event_attr *attr)
{
	attr->size = sizeof(*attr);
	attr->type = e->type;
	attr->config = e->config;
	attr->config1 = e->config1;
	attr->config2 = e->config2;
	attr->exclude_user = e->exclude_user;
	attr->exclude_kernel = e->exclude_kernel;
	attr->exclude_hv = e->exclude_hv;
	attr->precise_ip = e->precise;
}

void events_free(struct event *v, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		free(v[i].name);
	free(v);
}

/* Listing ------------------------------------------------------------------------------------ */

struct listing {
	const struct catalog *c;
	struct event *v;
	size_t nr, cap;
};

static void put(struct listing *l, struct event e, char *name)
{
	e.name = name;
	e.base = name;
	l->v = xgrow(l->v, l->nr, &l->cap, sizeof(*l->v));
	l->v[l->nr++] = e;
}

/* Of a core's PMU by the bare name; where there are several, and of others, pmu/name/. */
static char *name_of(const struct catalog *c, const struct pmu *p, const char *name)
{
	if (p->kind == PMU_CORE)
		return c->nr_cores > 1 ? xasprintf("%s/%s/", p->name, name) : xstrdup(name);
	return xasprintf("%.*s/%s/", (int)pmu_family_len(p->name), p->name, name);
}

static void put_listed(struct listing *l, struct pmu *p)
{
	const struct pmu_event *e;

	for (size_t i = 0; (e = pmu_event_get(p, i)); i++)
		if (pmu_event(p, e->name) == e)
			put(l, lookup_listed(l->c, p, e), name_of(l->c, p, e->name));
}

/* Rows whose name the kernel has are there already: a name means what goes first. */
static void put_known(struct listing *l, struct pmu *p)
{
	const struct known *k = known_table(l->c->core.vendor);

	for (; k->name; k++)
		if (k->cores & CORE_BIT(l->c->core.id) && !k->sysfs_only &&
		    (k->pmu ? pmu_is_meant(p, k->pmu) : p->kind == PMU_CORE) &&
		    !generic_find(k->name) && !pmu_event(p, k->name))
			put(l, lookup_known(l->c, p, k), name_of(l->c, p, k->name));
}

static void put_generic(struct listing *l)
{
	const struct generic *g;

	for (size_t i = 0; (g = generic_get(i)); i++) {
		if (g->uncountable)
			continue;
		if (g->type == PERF_TYPE_SOFTWARE)
			put(l, lookup_generic(l->c, g, NULL), xstrdup(g->name));
		else if (l->c->nr_cores == 1 && !pmu_event(l->c->cores[0], g->name))
			put(l, lookup_generic(l->c, g, NULL), xstrdup(g->name));
		for (size_t j = 0;
		     g->type != PERF_TYPE_SOFTWARE && l->c->nr_cores > 1 && j < l->c->nr_cores; j++)
			if (!pmu_event(l->c->cores[j], g->name))
				put(l, lookup_generic(l->c, g, l->c->cores[j]),
				    name_of(l->c, l->c->cores[j], g->name));
	}
}

/* Is it the first of its family? The others have the same. */
static bool is_first(const struct pmus *pmus, size_t i)
{
	size_t len = pmu_family_len(pmus->v[i]->name);

	return !i || pmu_family_len(pmus->v[i - 1]->name) != len ||
	       strncmp(pmus->v[i]->name, pmus->v[i - 1]->name, len) != 0 ||
	       pmus->v[i]->kind == PMU_CORE;
}

static int by_pmu_and_name(const void *a, const void *b)
{
	const struct event *x = a, *y = b;
	int d = strcmp(x->pmu ? x->pmu->name : "", y->pmu ? y->pmu->name : "");

	return d ? d : known_compare(x->name, y->name);
}

void catalog_for_each(const struct catalog *c, void (*f)(void *arg, const struct event *e),
		      void *arg)
{
	struct listing l = { .c = c };
	struct pmu *p;

	put_generic(&l);
	for (size_t i = 0; i < c->pmus.nr; i++) {
		p = c->pmus.v[i];
		if ((p->kind != PMU_CORE && p->kind != PMU_OTHER) || !is_first(&c->pmus, i) ||
		    pmu_load(p) || (p->has_cpus && !p->cpus.nr))
			continue;
		put_listed(&l, p);
		put_known(&l, p);
	}
	if (l.nr)
		qsort(l.v, l.nr, sizeof(*l.v), by_pmu_and_name);
	for (size_t i = 0; i < l.nr; i++)
		f(arg, &l.v[i]);
	events_free(l.v, l.nr);
}

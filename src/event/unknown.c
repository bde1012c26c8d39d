/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sentences for events that are not there: of another core, hidden by a hypervisor, of a PMU that
 * this machine lacks, or mistyped. Each says what to use instead, where that is known.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "event/lookup.h"

#define MAX_PARTS    3	/* names that have the word as a part of them */
#define MIN_PART_LEN 4	/* a shorter word is a part of too many */
#define MAX_PMUS     12 /* named in a sentence */

/* Candidates for a mistyped word, in one spelling; as they are shown beside. */
struct names {
	char **plain, **shown;
	size_t nr, cap_plain, cap_shown;
};

static char *plain(const char *name)
{
	char *text = xstrdup(name);

	for (char *p = text; *p; p++)
		*p = *p == '-' ? '_' : (char)tolower((unsigned char)*p);
	return text;
}

static void add_name(struct names *n, const char *name)
{
	n->plain = xgrow(n->plain, n->nr, &n->cap_plain, sizeof(*n->plain));
	n->shown = xgrow(n->shown, n->nr, &n->cap_shown, sizeof(*n->shown));
	n->plain[n->nr] = plain(name);
	n->shown[n->nr++] = xstrdup(name);
}

static void add_event(void *arg, const struct event *e)
{
	add_name(arg, e->name);
}

static void names_release(struct names *n)
{
	for (size_t i = 0; i < n->nr; i++) {
		free(n->plain[i]);
		free(n->shown[i]);
	}
	free(n->plain);
	free(n->shown);
}

/* "; did you mean 'x'?", or "; names with it: a, b", or "". To be freed. */
static char *suggestion(const struct names *n, const char *word)
{
	char *asked = plain(word), *text = NULL, *meant;
	const char *near = text_nearest(asked, (const char *const *)n->plain, n->nr);
	size_t sz, nr_parts = 0;
	FILE *f = open_memstream(&text, &sz);

	for (size_t i = 0; near && i < n->nr; i++)
		if (n->plain[i] == near) {
			meant = text_meant("", n->shown[i]);
			fputs(meant, f);
			free(meant);
			break;
		}
	for (size_t i = 0; !near && strlen(asked) >= MIN_PART_LEN && i < n->nr; i++)
		if (nr_parts < MAX_PARTS && strstr(n->plain[i], asked))
			fprintf(f, "%s%s", nr_parts++ ? ", " : "; names with it: ", n->shown[i]);
	fclose(f);
	free(asked);
	return text;
}

/* What else answers the question that the name asks: "; 'll_cache_miss_rd' is near it", or "". */
static char *instead(const struct catalog *c, const char *name)
{
	const char *other;

	for (size_t i = 0; (other = known_instead(c->core.vendor, name, i)); i++)
		if (!known_same(other, name) && catalog_has(c, other))
			return xasprintf("; '%s' is near it", other);
	return xstrdup("");
}

static const char *article(const char *noun)
{
	return strchr("AEIOUaeiou", *noun) ? "an" : "a";
}

static int mistyped(const struct lookup *f)
{
	struct names names = {};
	char *near;

	catalog_for_each(f->c, add_event, &names);
	near = suggestion(&names, f->s.name);
	spelling_refuse(f->why, -ENOENT, "unknown event '%s'%s (bpfprof list shows those here)",
			f->s.name, near);
	free(near);
	names_release(&names);
	return -ENOENT;
}

static int no_counters(const struct lookup *f)
{
	return spelling_refuse(f->why, -ENODEV,
			       "'%s' needs a hardware counter, and this machine shows none "
			       "(software events, such as task-clock and page-faults, work)",
			       f->s.name);
}

static int hidden(const struct lookup *f)
{
	return spelling_refuse(f->why, -ENODEV,
			       "the PMU %s shows no '%s' (%s); bpfprof stat -M topdown takes what "
			       "there is",
			       f->c->cores[0]->name, f->s.name,
			       "a hypervisor may hide it, and not every core has it");
}

/* Arm's numbers mean the same on all cores, so what is not known can be asked for. */
static int of_other_cores(const struct lookup *f, const struct known *k)
{
	char *cores = known_cores_text(known_cores(k)), *near = instead(f->c, f->s.name);
	bool number = known_vendor(k) == CORE_ARM && !f->c->core.id;

	if (number)
		spelling_refuse(f->why, -ENOENT,
				"'%s' is an event of %s; this is an %s%s (%s/event=0x%llx/ counts "
				"it if it is there)",
				f->s.name, cores, f->c->core.name, near, f->c->cores[0]->name,
				(unsigned long long)k->config);
	else
		spelling_refuse(f->why, -ENOENT, "'%s' is an event of %s; this is %s %s%s",
				f->s.name, cores, article(f->c->core.name), f->c->core.name, near);
	free(cores);
	free(near);
	return -ENOENT;
}

static int of_other_vendor(const struct lookup *f, const struct known *k)
{
	static const char *const vendors[] = {
		[CORE_OTHER] = "other",
		[CORE_ARM] = "Arm",
		[CORE_INTEL] = "Intel",
		[CORE_AMD] = "AMD",
	};
	char *near = instead(f->c, f->s.name);

	spelling_refuse(f->why, -ENOENT, "'%s' is an event of %s cores; this is %s %s%s", f->s.name,
			vendors[known_vendor(k)], article(f->c->core.name), f->c->core.name, near);
	free(near);
	return -ENOENT;
}

static int pmu_lacking(const struct lookup *f, const char *pmu)
{
	return spelling_refuse(f->why, -ENODEV,
			       "'%s' is counted by %s, and this machine shows no such PMU",
			       f->s.name, pmu);
}

/* Names that are raw were refused for lack of counters. */
static bool looks_raw(const char *name)
{
	return tolower((unsigned char)*name) == 'r' && name[1] &&
	       !name[1 + strspn(name + 1, "0123456789abcdefABCDEF")];
}

/* What is far from all of them may have been meant as an event with modifiers. */
int unknown_tracepoint(const struct lookup *f, char *const *names, size_t nr)
{
	const char *near = text_nearest(f->s.name, (const char *const *)names, nr);
	char *meant = text_meant("", near);

	spelling_refuse(f->why, -ENOENT, "the kernel has no tracepoint '%s'%s", f->s.name,
			near ? meant
			     : " (behind the name of another event, only the modifiers u, k, h and "
			       "p may follow ':')");
	free(meant);
	return -ENOENT;
}

int unknown_name(const struct lookup *f)
{
	const struct known *ours = known_of(f->c->core.vendor, f->s.name);
	const struct known *here = known_find(&f->c->core, f->s.name);
	const struct known *k = ours ? ours : known_anywhere(f->s.name);

	if (!f->why)
		return -ENOENT;
	if (here && here->pmu)
		return pmu_lacking(f, here->pmu);
	if (ours && ours->pmu && ours->sysfs_only)
		return pmu_lacking(f, ours->pmu);
	if (!f->c->nr_cores && (k || looks_raw(f->s.name)))
		return no_counters(f);
	if (ours && ours->sysfs_only)
		return hidden(f);
	if (ours)
		return of_other_cores(f, ours);
	return k ? of_other_vendor(f, k) : mistyped(f);
}

/* "cpu, msr, uncore_imc": families once. */
static char *pmus_here(const struct pmus *pmus)
{
	const char *last = "", *name;
	size_t sz, len, nr = 0;
	char *text = NULL;
	FILE *f = open_memstream(&text, &sz);

	for (size_t i = 0; i < pmus->nr && nr <= MAX_PMUS; i++) {
		name = pmus->v[i]->name;
		len = pmus->v[i]->kind == PMU_OTHER ? pmu_family_len(name) : strlen(name);
		if (pmus->v[i]->kind == PMU_KERNEL ||
		    (len == pmu_family_len(last) && !strncmp(last, name, len)))
			continue;
		if (nr++ == MAX_PMUS)
			fputs(" and others", f);
		else
			fprintf(f, "%s%.*s", nr > 1 ? ", " : "", (int)len, name);
		last = name;
	}
	fclose(f);
	return text;
}

int unknown_pmu(const struct lookup *f)
{
	char *here;

	if (!f->why)
		return -ENODEV;
	here = pmus_here(&f->c->pmus);
	spelling_refuse(f->why, -ENODEV, "this machine shows no PMU '%s'; it shows %s", f->s.pmu,
			*here ? here : "none at all");
	free(here);
	return -ENODEV;
}

int unknown_term(const struct lookup *f, struct pmu *p, const char *term)
{
	const struct pmu_event *e;
	struct names names = {};
	char *near;

	if (!f->why)
		return -ENOENT;
	for (size_t i = 0; (e = pmu_event_get(p, i)); i++)
		add_name(&names, e->name);
	for (size_t i = 0; i < p->nr_fields; i++)
		add_name(&names, p->fields[i].name);
	near = suggestion(&names, term);
	spelling_refuse(f->why, -ENOENT, "%s has no event and no field '%s'%s", p->name, term,
			near);
	free(near);
	names_release(&names);
	return -ENOENT;
}

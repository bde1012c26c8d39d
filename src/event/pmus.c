/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reading event sources. The files are the kernel's, or a test's: what is not in its notation is
 * passed over, as if it were not there.
 */
#include "event/pmus.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "event/known.h"

#define FILE_MAX 4096 /* sysfs has no longer ones */

static const struct {
	const char *pattern;
	enum pmu_kind kind;
} kinds[] = {
	{ "cpu", PMU_CORE },	      { "cpu_core", PMU_CORE },	    { "cpu_atom", PMU_CORE },
	{ "cpu_lowpower", PMU_CORE }, { "armv8_*", PMU_CORE },	    { "armv9_*", PMU_CORE },
	{ "software", PMU_KERNEL },   { "tracepoint", PMU_KERNEL }, { "breakpoint", PMU_KERNEL },
	{ "uprobe", PMU_KERNEL },     { "kprobe", PMU_KERNEL },	    { "arm_spe_*", PMU_TRACE },
	{ "intel_pt", PMU_TRACE },    { "intel_bts", PMU_TRACE },   { "cs_etm*", PMU_TRACE },
	{ "hisi_ptt*", PMU_TRACE },
};

static enum pmu_kind kind_of(const char *name)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!fnmatch(kinds[i].pattern, name, 0))
			return kinds[i].kind;
	return PMU_OTHER;
}

/* What is in dir/name, without the end of line. false: no such file, or too long for one. */
static bool read_text(const char *dir, const char *name, char text[FILE_MAX])
{
	char *path = xasprintf("%s/%s", dir, name);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t sz = fd < 0 ? -1 : read(fd, text, FILE_MAX);

	free(path);
	if (fd >= 0)
		close(fd);
	if (sz < 0 || sz == FILE_MAX)
		return false;
	text[sz] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return true;
}

static bool number(const char *text, uint64_t max, uint64_t *n)
{
	char *end;

	errno = 0;
	*n = strtoull(text, &end, 0);
	return isdigit((unsigned char)*text) && !errno && !*end && *n <= max;
}

/* Calls f for every name in dir; a directory that is not there is empty. */
static void each_file(const char *dir, void (*f)(void *arg, const char *name), void *arg)
{
	DIR *d = opendir(dir);
	struct dirent *e;

	while (d && (e = readdir(d)))
		if (*e->d_name != '.')
			f(arg, e->d_name);
	if (d)
		closedir(d);
}

static void each_file_of(struct pmu *p, const char *sub, void (*f)(void *arg, const char *name))
{
	char *dir = xasprintf("%s/%s", p->dir, sub);

	each_file(dir, f, p);
	free(dir);
}

/* The list ---------------------------------------------------------------------------------- */

size_t pmu_family_len(const char *name)
{
	size_t len = strlen(name), end = len;

	while (end && isdigit((unsigned char)name[end - 1]))
		end--;
	return end < len && end > 1 && name[end - 1] == '_' ? end - 1 : len;
}

static int by_name(const void *a, const void *b)
{
	const char *x = (*(struct pmu *const *)a)->name, *y = (*(struct pmu *const *)b)->name;
	size_t family = pmu_family_len(x);

	if (family == pmu_family_len(y) && !strncmp(x, y, family) && x[family] && y[family])
		return strverscmp(x, y);
	return strcmp(x, y);
}

struct listing {
	struct pmus *pmus;
	const char *dir;
};

static void add_pmu(void *arg, const char *name)
{
	struct listing *l = arg;
	struct pmu *p = xcalloc(1, sizeof(*p));

	p->name = xstrdup(name);
	p->dir = xasprintf("%s/%s", l->dir, name);
	p->kind = kind_of(name);
	l->pmus->v = xgrow(l->pmus->v, l->pmus->nr, &l->pmus->cap, sizeof(*l->pmus->v));
	l->pmus->v[l->pmus->nr++] = p;
}

void pmus_open(struct pmus *pmus, const char *root)
{
	char *dir = xasprintf("%s/sys/bus/event_source/devices", root);

	*pmus = (struct pmus){};
	each_file(dir, add_pmu, &(struct listing){ pmus, dir });
	if (pmus->nr)
		qsort(pmus->v, pmus->nr, sizeof(*pmus->v), by_name);
	free(dir);
}

static void pmu_free(struct pmu *p)
{
	for (size_t i = 0; i < p->nr_fields; i++)
		free(p->fields[i].name);
	for (size_t i = 0; i < p->nr_events; i++) {
		free(p->events[i].name);
		free(p->events[i].unit);
	}
	free(p->fields);
	free(p->events);
	cpus_release(&p->cpus);
	free(p->name);
	free(p->dir);
	free(p);
}

void pmus_close(struct pmus *pmus)
{
	for (size_t i = 0; i < pmus->nr; i++)
		pmu_free(pmus->v[i]);
	free(pmus->v);
	*pmus = (struct pmus){};
}

bool pmu_is_meant(const struct pmu *p, const char *word)
{
	static const char prefix[] = "uncore_";
	const char *bare = p->name;
	char *family;
	bool is;

	if (strpbrk(word, "*?["))
		return !fnmatch(word, p->name, FNM_CASEFOLD);
	if (!strncmp(bare, prefix, strlen(prefix)))
		bare += strlen(prefix);
	if (known_same(p->name, word) || known_same(bare, word))
		return true;
	family = xstrndup(p->name, pmu_family_len(p->name));
	is = known_same(family, word) || known_same(family + (bare - p->name), word);
	free(family);
	return is;
}

/* One of them ------------------------------------------------------------------------------- */

static int load(struct pmu *p)
{
	char text[FILE_MAX];
	uint64_t type;

	if (!read_text(p->dir, "type", text) || !number(text, UINT32_MAX, &type))
		return -ENODEV;
	p->type = type;
	p->has_cpus = read_text(p->dir, "cpus", text);
	if (!p->has_cpus)
		p->has_cpus = p->shared = read_text(p->dir, "cpumask", text);
	if (p->kind == PMU_CORE)
		p->shared = false;
	return p->has_cpus ? cpus_parse(&p->cpus, text) : 0;
}

int pmu_load(struct pmu *p)
{
	if (!p->loaded)
		p->err = load(p);
	p->loaded = true;
	return p->err;
}

uint64_t pmu_cap(const struct pmu *p, const char *name, uint64_t fallback)
{
	char *dir = xasprintf("%s/caps", p->dir), text[FILE_MAX];
	uint64_t n;

	if (!read_text(dir, name, text) || !number(text, UINT64_MAX, &n))
		n = fallback;
	free(dir);
	return n;
}

/* Fields ------------------------------------------------------------------------------------ */

/* "0-7,32-35". */
static bool parse_ranges(struct pmu_field *f, const char *text)
{
	unsigned long from, to, bits = 0;
	char *end;

	do {
		if (!isdigit((unsigned char)*text))
			return false;
		from = to = strtoul(text, &end, 10);
		if (*end == '-') {
			text = end + 1;
			if (!isdigit((unsigned char)*text))
				return false;
			to = strtoul(text, &end, 10);
		}
		if (to > 63 || from > to || f->nr == PMU_MAX_RANGES)
			return false;
		bits += to - from + 1;
		f->range[f->nr].from = from;
		f->range[f->nr++].to = to;
		text = end + 1;
	} while (*end == ',');
	return !*end && bits <= 64;
}

/* "config1:0-7"; others (config3, and what is to come) are not ours to set. */
static bool parse_field(struct pmu_field *f, const char *text)
{
	static const char *const words[PMU_WORDS] = { "config:", "config1:", "config2:" };

	for (f->word = 0; f->word < PMU_WORDS; f->word++)
		if (!strncmp(text, words[f->word], strlen(words[f->word])))
			return parse_ranges(f, text + strlen(words[f->word]));
	return false;
}

static void add_field(void *arg, const char *name)
{
	struct pmu *p = arg;
	char *dir = xasprintf("%s/format", p->dir), text[FILE_MAX];
	struct pmu_field f = {};

	if (read_text(dir, name, text) && parse_field(&f, text)) {
		f.name = xstrdup(name);
		p->fields = xgrow(p->fields, p->nr_fields, &p->cap_fields, sizeof(*p->fields));
		p->fields[p->nr_fields++] = f;
	}
	free(dir);
}

const struct pmu_field *pmu_field(struct pmu *p, const char *name)
{
	if (!p->formats_read)
		each_file_of(p, "format", add_field);
	p->formats_read = true;
	for (size_t i = 0; i < p->nr_fields; i++)
		if (known_same(p->fields[i].name, name))
			return &p->fields[i];
	return NULL;
}

uint64_t pmu_field_max(const struct pmu_field *f)
{
	unsigned int bits = 0;

	for (size_t i = 0; i < f->nr; i++)
		bits += f->range[i].to - f->range[i].from + 1;
	return bits >= 64 ? UINT64_MAX : (1ull << bits) - 1;
}

int pmu_field_set(const struct pmu_field *f, uint64_t value, uint64_t config[PMU_WORDS])
{
	if (value > pmu_field_max(f))
		return -ERANGE;
	for (size_t i = 0; i < f->nr; i++)
		for (unsigned int bit = f->range[i].from; bit <= f->range[i].to; bit++) {
			config[f->word] &= ~(1ull << bit);
			config[f->word] |= (value & 1) << bit;
			value >>= 1;
		}
	return 0;
}

/* Events ------------------------------------------------------------------------------------ */

/* "cas_count_read.scale" tells something of an event and is none. */
static bool is_attribute(const char *name)
{
	static const char *const ends[] = { ".scale", ".unit", ".per-pkg", ".snapshot" };
	size_t len = strlen(name), sz;

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		sz = strlen(ends[i]);
		if (len > sz && !strcmp(name + len - sz, ends[i]))
			return true;
	}
	return false;
}

static void add_event(void *arg, const char *name)
{
	struct pmu *p = arg;

	if (is_attribute(name))
		return;
	p->events = xgrow(p->events, p->nr_events, &p->cap_events, sizeof(*p->events));
	p->events[p->nr_events++] = (struct pmu_event){ .name = xstrdup(name), .scale = 1 };
}

static int by_event_name(const void *a, const void *b)
{
	return strcmp(((const struct pmu_event *)a)->name, ((const struct pmu_event *)b)->name);
}

static void list_events(struct pmu *p)
{
	if (p->events_listed)
		return;
	p->events_listed = true;
	each_file_of(p, "events", add_event);
	if (p->nr_events)
		qsort(p->events, p->nr_events, sizeof(*p->events), by_event_name);
}

/* "event=0x3c,umask=0x1,edge", as the kernel writes it; "core=?" would need a number. */
static bool parse_terms(struct pmu *p, char *text, uint64_t config[PMU_WORDS])
{
	const struct pmu_field *f;
	char *term, *value;
	uint64_t n;

	while ((term = strsep(&text, ","))) {
		value = strchr(term, '=');
		n = 1;
		if (value)
			*value++ = '\0';
		f = pmu_field(p, term);
		if (!f || (value && !number(value, UINT64_MAX, &n)) || pmu_field_set(f, n, config))
			return false;
	}
	return true;
}

static void read_scale(const char *dir, struct pmu_event *e, char text[FILE_MAX])
{
	char *name = xasprintf("%s.scale", e->name), *end;
	double scale;

	/* Always with a point: the program never changes its locale. */
	if (read_text(dir, name, text)) {
		scale = strtod(text, &end);
		if (end > text && !*end && scale > 0 && scale < 1e300)
			e->scale = scale;
	}
	free(name);
	name = xasprintf("%s.unit", e->name);
	if (read_text(dir, name, text))
		e->unit = xstrdup(text);
	free(name);
}

static void read_event(struct pmu *p, struct pmu_event *e)
{
	char *dir, text[FILE_MAX];

	if (e->read)
		return;
	e->read = true;
	dir = xasprintf("%s/events", p->dir);
	e->good = read_text(dir, e->name, text) && parse_terms(p, text, e->config);
	/* Counters of cores count ones. */
	if (e->good && p->kind == PMU_OTHER)
		read_scale(dir, e, text);
	free(dir);
}

const struct pmu_event *pmu_event(struct pmu *p, const char *name)
{
	list_events(p);
	for (size_t i = 0; i < p->nr_events; i++) {
		if (!known_same(p->events[i].name, name))
			continue;
		read_event(p, &p->events[i]);
		if (p->events[i].good)
			return &p->events[i];
	}
	return NULL;
}

const struct pmu_event *pmu_event_get(struct pmu *p, size_t i)
{
	list_events(p);
	return i < p->nr_events ? &p->events[i] : NULL;
}

const struct pmu_event *pmu_event_by_config(struct pmu *p, const uint64_t config[PMU_WORDS])
{
	list_events(p);
	for (size_t i = 0; i < p->nr_events; i++) {
		read_event(p, &p->events[i]);
		if (p->events[i].good &&
		    !memcmp(p->events[i].config, config, sizeof(p->events[i].config)))
			return &p->events[i];
	}
	return NULL;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Loading profiles. What is loaded comes from outside: nothing in it is believed. */
#include "profile/save.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/packed.h"
#include "base/trust.h"
#include "profile/check.h"
#include "profile/gather.h"
#include "profile/load_parts.h"
#include "profile/packing.h"
#include "profile/runqlat_report.h"
#include "profile/save_parts.h"
#include "profile/timeline.h"

#define MAX_BYTES (1ull << 31)

const char *loader_read(struct loader *l, FILE *f)
{
	size_t cap = 0, n;

	if (!f)
		return strerror(errno);
	do {
		if (l->len == cap) {
			cap = cap ? cap * 2 : 1 << 16;
			l->bytes = xreallocarray(l->bytes, cap, 1);
		}
		n = fread(l->bytes + l->len, 1, cap - l->len, f);
		l->len += n;
	} while (n && l->len < MAX_BYTES);
	n = ferror(f);
	fclose(f);
	if (n || l->len >= MAX_BYTES)
		return n ? "read error" : "larger than 2 GiB";
	return NULL;
}

static const char *read_file(struct loader *l, const char *path)
{
	const char *err = loader_read(l, trust_fopen(path));

	if (err)
		return err;
	if (!packed_is(l->bytes, l->len))
		return NULL;
	err = packed_open(&l->bytes, &l->len, MAX_BYTES);
	return err == packed_truncated && l->may_end && l->len ? NULL : err;
}

/* The next section, or as much of it as there is: then *cut. */
static const char *next_section(struct loader *l, size_t *at, bool *cut)
{
	struct section *s = &l->sections[l->nr];
	struct section_head h;
	size_t padded;

	*cut = l->len - *at < sizeof(h);
	if (*cut)
		return NULL;
	memcpy(&h, l->bytes + *at, sizeof(h));
	*at += sizeof(h);
	memcpy(s->tag, h.tag, 4);
	s->bytes = l->bytes + *at;
	s->len = s->of = h.len;
	l->nr++;
	*cut = h.len > l->len - *at;
	if (*cut) {
		s->len = l->len - *at;
		return NULL;
	}
	if (crc32_z(0, (const void *)s->bytes, s->len) != h.crc)
		return "damaged (a checksum does not match)";
	padded = (h.len + 7) & ~7ull;
	*cut = padded > l->len - *at;
	*at += padded;
	return NULL;
}

const char *loader_split(struct loader *l)
{
	const struct file_head *head = (const void *)l->bytes;
	size_t at = sizeof(*head);
	const char *err = NULL;

	if (l->len < at)
		return "not a bpfprof profile";
	l->is_packed = !memcmp(head->magic, PROFILE_PACKED_MAGIC, sizeof(head->magic));
	if (!l->is_packed && memcmp(head->magic, PROFILE_MAGIC, sizeof(head->magic)))
		return "not a bpfprof profile";
	if (head->version < ONE_EVENT)
		return "written by an older bpfprof";
	if (head->version > FILE_VERSION)
		return "written by a newer bpfprof";
	while (l->nr < head->nr_sections && l->nr < MOST_SECTIONS && !err && !l->left.incomplete)
		err = next_section(l, &at, &l->left.incomplete);
	return l->left.incomplete && !l->may_end ? "truncated" : err;
}

const struct section *loader_find(const struct loader *l, const char *tag)
{
	for (size_t i = 0; i < l->nr; i++)
		if (!strcmp(l->sections[i].tag, tag))
			return &l->sections[i];
	return NULL;
}

/* Copies a table out; the file may hold anything, so its length must be whole elements. */
static const char *take_plain(const struct section *s, size_t sz, void *to, size_t *nr)
{
	if (s->len % sz)
		return "damaged (a table is not whole)";
	*nr = s->len / sz;
	*(void **)to = xmalloc(s->len);
	memcpy(*(void **)to, s->bytes, s->len);
	return NULL;
}

const char *loader_take(const struct loader *l, const char *tag, size_t sz, uint32_t strings,
			void *to, size_t *nr)
{
	const struct section *s = loader_find(l, tag);

	if (!s)
		return "damaged (a table is missing)";
	if (!l->is_packed)
		return take_plain(s, sz, to, nr);
	*(void **)to = packing_open(&l->packing, s->bytes, s->len, sz, strings, nr);
	return *(void **)to ? NULL : "damaged (a table is not whole)";
}

/* Never packed. */
static const char *take_strings(const struct loader *l, char **to, size_t *len)
{
	const struct section *s = loader_find(l, "STRS");
	const struct strings *shared = l->names ? &shared_names_profile(l->names)->strings : NULL;

	if (!shared)
		return s ? take_plain(s, 1, to, len) : "damaged (a table is missing)";
	*len = shared->len;
	*to = xmalloc(*len + 1);
	memcpy(*to, shared->bytes, *len);
	return NULL;
}

/*
 * Of a truncated file the rows that are whole, where a table is not packed. Tables are in the order
 * of the file, so none that follows a cut one is there.
 */
static bool is_there(struct profile *p, struct loader *l, size_t table)
{
	const struct table *t = &save_tables[table];
	const struct section *s = loader_find(l, t->tag);
	bool first = l->left.table == save_nr_tables;

	if (!l->left.incomplete || (s && s->of == s->len))
		return true;
	if (first)
		l->left.table = table;
	if (s && !l->is_packed && first) {
		l->left.of = s->of / t->size;
		*save_nr(t, p) = s->len / t->size;
		*save_rows(t, p) = xmalloc(s->len);
		memcpy(*save_rows(t, p), s->bytes, s->len);
	}
	return false;
}

/* A copy of rows that are there. */
static const char *take_shared(struct profile *p, const struct loader *l, const struct table *t)
{
	const struct profile *from = shared_names_profile(l->names);
	size_t nr = *save_nr(t, from);

	*save_rows(t, p) = xreallocarray(NULL, nr + 1, t->size);
	if (nr)
		memcpy(*save_rows(t, p), *save_rows(t, from), nr * t->size);
	*save_nr(t, p) = nr;
	return NULL;
}

static const char *take_table(struct profile *p, const struct loader *l, const struct table *t)
{
	if (l->names && t->shared)
		return take_shared(p, l, t);
	if (t->late && !loader_find(l, t->tag))
		return NULL;
	return loader_take(l, t->tag, t->size, t->strings, save_rows(t, p), save_nr(t, p));
}

static const char *take_tables(struct profile *p, struct loader *l)
{
	const char *err = NULL;

	for (size_t i = 0; i < save_nr_tables && !err; i++)
		if (is_there(p, l, i))
			err = take_table(p, l, &save_tables[i]);
	return err;
}

/* Facts and counters that this version does not know are passed over. */
static bool apply_pairs(struct profile *p, const struct pair *pairs, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		const char *name =
			profile_has_string(p, pairs[i].name) ? profile_str(p, pairs[i].name) : NULL;

		if (!name)
			return false;
		for (size_t k = 0; k < PROF_NR_COUNTERS; k++)
			if (!strcmp(name, profile_counters[k].key))
				p->counters[k] = pairs[i].value;
		for (size_t k = 0; k < save_nr_facts; k++) {
			if (strcmp(name, save_facts[k].name))
				continue;
			if (save_facts[k].is_string && !profile_has_string(p, pairs[i].value))
				return false;
			save_set_fact(p, &save_facts[k], pairs[i].value);
		}
	}
	return true;
}

static const char *take_pairs(struct profile *p, const struct loader *l, const char *tag)
{
	struct pair *pairs = NULL;
	size_t nr;
	const char *err = loader_take(l, tag, sizeof(*pairs), WORD(pair, name), &pairs, &nr);

	if (!err && !apply_pairs(p, pairs, nr))
		err = "damaged (a name is out of range)";
	free(pairs);
	return err;
}

/* Are there all names, facts and counters? */
static bool is_named(const struct loader *l)
{
	const struct section *s = loader_find(l, "CNTR");

	return s && s->of == s->len;
}

static const char *fill(struct profile *p, struct loader *l)
{
	char *strings = NULL;
	size_t len = 0;
	const char *err = NULL;

	if (l->left.incomplete && !is_named(l))
		return "truncated, before its first sample";
	l->left.table = save_nr_tables;
	err = take_strings(l, &strings, &len);

	if (!err && (!len || strings[0] || strings[len - 1])) {
		free(strings);
		return "damaged (strings)";
	}
	if (err)
		return err;
	strings_adopt(&p->strings, strings, len);
	packing_init(&l->packing, strings, len);
	if ((err = take_tables(p, l)) || (err = take_pairs(p, l, "META")) ||
	    (err = take_pairs(p, l, "CNTR")))
		return err;
	if (l->left.incomplete && !left_repair(p, &l->left))
		return "truncated, before its first sample";
	if (!profile_is_sound(p) || !runqlat_report_can(p) || !timeline_can(p))
		return "damaged (a reference is out of range)";
	return NULL;
}

/* A sentence on what is left of a truncated file. */
static void tell_left(const struct profile *p, const struct left *left, const char *path)
{
	char *text = left_text(p, left);

	log_warn("%s is truncated: %s", path, text);
	free(text);
}

static struct profile *load(const char *path, bool may_end, struct shared_names *names,
			    const char **why)
{
	struct profile *p = xcalloc(1, sizeof(*p));
	struct loader l = { .may_end = may_end, .names = names };
	const char *err = read_file(&l, path);

	if (!err)
		err = loader_split(&l);
	if (!err)
		err = loader_find_names(&l, path);
	if (!err)
		err = fill(p, &l);
	free(l.bytes);
	packing_release(&l.packing);
	if (!err && l.left.incomplete)
		tell_left(p, &l.left, path);
	if (!err)
		return p;
	profile_free(p);
	*why = err;
	return NULL;
}

/* What other windows had is left out of one that was read alone. */
static struct profile *load_alone(const char *path, bool may_end)
{
	struct shared_names *names = shared_names_new();
	const char *why;
	struct profile *p = load(path, may_end, names, &why), *all = p;
	struct gather *g;

	if (!p)
		log_err(0, "cannot load %s: %s", path, why);
	if (p && shared_names_profile(names)) {
		g = gather_new(0);
		gather_add(g, all, NULL);
		p = gather_take(g);
		profile_free(all);
	}
	shared_names_free(names);
	return p;
}

struct profile *profile_load(const char *path)
{
	return load_alone(path, false);
}

struct profile *profile_load_left(const char *path)
{
	return load_alone(path, true);
}

struct profile *profile_load_window(const char *path, struct shared_names *names, const char **why)
{
	return load(path, false, names, why);
}

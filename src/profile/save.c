/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Saving profiles. */
#include "profile/save.h"

#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "base/mem.h"
#include "base/packed.h"
#include "profile/packing.h"
#include "profile/save_parts.h"

/* A file that is written: plain, or with its tables packed. */
struct writer {
	FILE *out;
	const struct packing *packing; /* NULL = as they are in memory */
};

static void put_section(FILE *out, const char *tag, const void *bytes, size_t len)
{
	static const char zeros[8];
	struct section_head h = { .len = len };

	memcpy(h.tag, tag, sizeof(h.tag));
	h.crc = crc32_z(0, bytes, len);
	fwrite(&h, sizeof(h), 1, out);
	if (len)
		fwrite(bytes, len, 1, out);
	fwrite(zeros, -len & 7, 1, out);
}

static void put_table(const struct writer *w, const char *tag, const void *rows, size_t nr,
		      size_t size, uint32_t strings)
{
	size_t len;
	void *packed;

	if (!w->packing) {
		put_section(w->out, tag, rows, nr * size);
		return;
	}
	packed = packing_make(w->packing, rows, nr, size, strings, &len);
	put_section(w->out, tag, packed, len);
	free(packed);
}

/*
 * Names of facts and counters that the profile's strings do not hold yet go into a copy of its
 * string table.
 */
struct names {
	char *bytes;
	size_t len;
};

/* Of a profile that was loaded they are there already: a copy of a copy is no larger. */
static uint32_t names_add(struct names *n, const char *s)
{
	size_t len = strlen(s) + 1, at = n->len;
	const char *there = memmem(n->bytes, n->len, s, len);

	while (there && there > n->bytes && there[-1])
		there = memmem(there + 1, n->bytes + n->len - there - 1, s, len);
	if (there)
		return there - n->bytes;
	n->bytes = xreallocarray(n->bytes, n->len + len, 1);
	memcpy(n->bytes + at, s, len);
	n->len += len;
	return at;
}

static uint32_t version_of(const struct profile *p)
{
	if (p->nr_timeline)
		return TIMELINES;
	if (p->nr_call_rows)
		return CALLS;
	return p->nr_hist_rows ? HISTOGRAMS : p->nr_events > 1 ? MANY_EVENTS : ONE_EVENT;
}

static void save(const struct profile *p, FILE *out, bool pack)
{
	struct names names = { xmalloc(p->strings.len), p->strings.len };
	struct pair *meta = xcalloc(save_nr_facts, sizeof(*meta));
	struct pair counters[PROF_NR_COUNTERS] = {};
	struct file_head head = { PROFILE_MAGIC, version_of(p), 3 + save_nr_tables };
	struct packing packing;
	struct writer w = { out, pack ? &packing : NULL };

	memcpy(names.bytes, p->strings.bytes, p->strings.len);
	for (size_t i = 0; i < save_nr_facts; i++)
		meta[i] = (struct pair){ .name = names_add(&names, save_facts[i].name),
					 .value = save_fact(p, &save_facts[i]) };
	for (size_t i = 0; i < PROF_NR_COUNTERS; i++)
		counters[i] = (struct pair){ .name = names_add(&names, profile_counters[i].key),
					     .value = p->counters[i] };
	packing_init(&packing, names.bytes, names.len);
	if (pack)
		memcpy(head.magic, PROFILE_PACKED_MAGIC, sizeof(head.magic));
	fwrite(&head, sizeof(head), 1, out);
	put_section(out, "STRS", names.bytes, names.len);
	put_table(&w, "META", meta, save_nr_facts, sizeof(*meta), WORD(pair, name));
	put_table(&w, "CNTR", counters, PROF_NR_COUNTERS, sizeof(*counters), WORD(pair, name));
	for (size_t i = 0; i < save_nr_tables; i++)
		put_table(&w, save_tables[i].tag, *save_rows(&save_tables[i], p),
			  *save_nr(&save_tables[i], p), save_tables[i].size,
			  save_tables[i].strings);
	packing_release(&packing);
	free(names.bytes);
	free(meta);
}

void profile_save(const struct profile *p, FILE *out)
{
	save(p, out, false);
}

/* --- windows that share names --- */

void profile_name_facts(struct profile *p)
{
	for (size_t i = 0; i < save_nr_facts; i++)
		profile_string(p, save_facts[i].name);
	for (size_t i = 0; i < PROF_NR_COUNTERS; i++)
		profile_string(p, profile_counters[i].key);
}

/* Most tables of a window have no rows; those that files from before may lack are left out. */
static bool is_put(const struct profile *p, const struct table *t, bool shared)
{
	return t->shared == shared && (shared || !t->late || *save_nr(t, p));
}

static size_t nr_tables(const struct profile *p, bool shared)
{
	size_t nr = 0;

	for (size_t i = 0; i < save_nr_tables; i++)
		nr += is_put(p, &save_tables[i], shared);
	return nr;
}

static void put_head(FILE *out, size_t nr_sections)
{
	struct file_head head = { PROFILE_PACKED_MAGIC, SHARED_STREAM, nr_sections };

	fwrite(&head, sizeof(head), 1, out);
}

static void save_names(const struct profile *p, struct save_mark *since, const struct writer *w)
{
	put_head(w->out, 1 + nr_tables(p, true));
	put_section(w->out, "STRS", p->strings.bytes + since->strings,
		    p->strings.len - since->strings);
	since->strings = p->strings.len;
	for (size_t i = 0; i < save_nr_tables; i++) {
		const struct table *t = &save_tables[i];
		size_t had = since->rows[i], nr = *save_nr(t, p);
		char *rows = *save_rows(t, p);

		if (!t->shared)
			continue;
		put_table(w, t->tag, rows ? rows + had * t->size : rows, nr - had, t->size,
			  t->strings);
		since->rows[i] = nr;
	}
}

/* The strings are there: see profile_name_facts(). */
static void put_pairs(const struct profile *p, const struct writer *w)
{
	struct profile *names = (struct profile *)p; /* to which nothing is added */
	struct pair *meta = xcalloc(save_nr_facts, sizeof(*meta));
	struct pair counters[PROF_NR_COUNTERS] = {};

	for (size_t i = 0; i < save_nr_facts; i++)
		meta[i] = (struct pair){ .name = profile_string(names, save_facts[i].name),
					 .value = save_fact(p, &save_facts[i]) };
	for (size_t i = 0; i < PROF_NR_COUNTERS; i++)
		counters[i] = (struct pair){ .name = profile_string(names, profile_counters[i].key),
					     .value = p->counters[i] };
	put_table(w, "META", meta, save_nr_facts, sizeof(*meta), WORD(pair, name));
	put_table(w, "CNTR", counters, PROF_NR_COUNTERS, sizeof(*counters), WORD(pair, name));
	free(meta);
}

static void save_rest(const struct profile *p, const struct shared_head *names,
		      const struct writer *w)
{
	put_head(w->out, 3 + nr_tables(p, false));
	put_section(w->out, SHARED_TAG, names, sizeof(*names));
	put_pairs(p, w);
	for (size_t i = 0; i < save_nr_tables; i++)
		if (is_put(p, &save_tables[i], false))
			put_table(w, save_tables[i].tag, *save_rows(&save_tables[i], p),
				  *save_nr(&save_tables[i], p), save_tables[i].size,
				  save_tables[i].strings);
}

/* All of it is in memory, and packed from there. */
struct memory {
	FILE *f;
	char *bytes;
	size_t nr;
};

static FILE *memory_open(struct memory *m)
{
	*m = (struct memory){};
	m->f = open_memstream(&m->bytes, &m->nr);
	return m->f;
}

static void *memory_pack(struct memory *m, struct packed_stream *stream, size_t *len)
{
	void *packed;

	fclose(m->f);
	packed = stream ? packed_stream_make(stream, m->bytes, m->nr, len)
			: packed_make(m->bytes, m->nr, len);
	free(m->bytes);
	return packed;
}

void *profile_pack(const struct profile *p, size_t *len)
{
	struct memory m;

	save(p, memory_open(&m), true);
	return memory_pack(&m, NULL, len);
}

void save_mark_release(struct save_mark *m)
{
	packed_stream_free(m->stream);
	*m = (struct save_mark){};
}

void *profile_pack_names(const struct profile *p, struct save_mark *since, size_t *len)
{
	struct shared_part *part;
	struct packing packing;
	struct memory m;
	size_t nr;
	void *packed;

	if (!since->stream)
		since->stream = packed_stream_new();
	packing_init(&packing, p->strings.bytes, p->strings.len);
	save_names(p, since, &(struct writer){ memory_open(&m), &packing });
	packing_release(&packing);
	packed = memory_pack(&m, since->stream, &nr);
	*len = sizeof(*part) + nr;
	part = xmalloc(*len);
	*part = (struct shared_part){ nr, SHARED_GOES_ON };
	memcpy(part + 1, packed, nr);
	free(packed);
	return part;
}

void *profile_pack_window(const struct profile *p, const char *file, uint64_t bytes, size_t *len)
{
	struct shared_head names = { .bytes = bytes };
	struct packing packing;
	struct memory m;

	memccpy(names.file, file, 0, sizeof(names.file) - 1);
	packing_init(&packing, p->strings.bytes, p->strings.len);
	save_rest(p, &names, &(struct writer){ memory_open(&m), &packing });
	packing_release(&packing);
	return memory_pack(&m, NULL, len);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Saving and loading profiles. What is loaded comes from outside: nothing in it is believed. */
#include "profile/save.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/packed.h"
#include "profile/check.h"
#include "profile/runqlat_report.h"
#include "profile/timeline.h"

#define FILE_VERSION 6 /* of timelines: who knows of none would show nothing */
#define CALLS	     5 /* of calls: who knows of none would show samples */
#define HISTOGRAMS   4 /* who knows of none would show nothing */
#define MANY_EVENTS  3 /* of several events: who knows of none would add them up */
#define ONE_EVENT    2 /* the version of all others */
#define MAX_BYTES    (1ull << 31)

struct file_head {
	char magic[8];
	uint32_t version, nr_sections;
};

struct section_head {
	char tag[4];
	uint32_t crc;
	uint64_t len; /* bytes that follow, padded to 8 */
};

/* A named number; the name and string values are ids in the file's own string table. */
struct pair {
	uint32_t name, pad;
	uint64_t value;
};

_Static_assert(sizeof(struct module) == 28 && sizeof(struct frame) == 24 &&
		       sizeof(struct stack) == 12 && sizeof(struct sample) == 48 &&
		       sizeof(struct waker) == 32 && sizeof(struct lock) == 40 &&
		       sizeof(struct thread_time) == 24 && sizeof(struct merged_time) == 24 &&
		       sizeof(struct pair) == 16 && sizeof(struct sampled_event) == 40 &&
		       sizeof(struct value_column) == 16 && sizeof(struct prof_event_count) == 24 &&
		       sizeof(struct branch) == 48 && sizeof(struct disagreement) == 40 &&
		       sizeof(struct frame_detail) == 16 && sizeof(struct frame_function) == 16 &&
		       sizeof(struct hist_row) == 64 && sizeof(struct hist_bucket) == 16 &&
		       sizeof(struct prof_outlier) == 192 && sizeof(struct call_row) == 40 &&
		       sizeof(struct call_bucket) == 16 && sizeof(struct title) == 8 &&
		       sizeof(struct sliced) == 16 && sizeof(struct moment) == 24 &&
		       sizeof(struct linked) == 32 && sizeof(struct wait_bucket) == 16 &&
		       sizeof(struct timeline_event) == 64 && sizeof(struct begin) == 12 &&
		       sizeof(struct long_wait) == 24,
	       "these reach the file");

static const struct fact {
	const char *name;
	size_t offset;
	bool is_string;
} facts[] = {
#define STRING(x)                                                                                  \
	{                                                                                          \
#x, offsetof(struct profile_meta, x), true                                         \
	}
#define NUMBER(x)                                                                                  \
	{                                                                                          \
#x, offsetof(struct profile_meta, x), false                                        \
	}
	STRING(command),
	STRING(event),
	STRING(event_note),
	STRING(target),
	STRING(host),
	STRING(kernel),
	STRING(arch),
	STRING(version),
	STRING(call_graph),
	STRING(runtimes),
	/* Ids of strings above, plain numbers below. */
	NUMBER(is_time),
	NUMBER(by_weight),
	NUMBER(start_ns),
	NUMBER(duration_ns),
	NUMBER(rate_hz),
	NUMBER(max_depth),
	NUMBER(nr_cpus),
	NUMBER(cpu_ns),
	NUMBER(bpf_ns),
	NUMBER(rss_bytes),
	NUMBER(missed),
	NUMBER(map_bytes),
	NUMBER(sideband_lost),
	NUMBER(first_sample_ns),
	NUMBER(first_root_ns),
	NUMBER(suspended_ns),
	NUMBER(throttles),
	NUMBER(throttled_ns),
	NUMBER(timed),
	NUMBER(others_ns),
	NUMBER(frames_late),
	NUMBER(readers_ns),
	NUMBER(readers_bytes),
	NUMBER(hist_by),
	NUMBER(hist_split),
	NUMBER(threshold_ns),
	NUMBER(outliers_from_ns),
	NUMBER(outliers_lost),
	NUMBER(moment_ns),
	NUMBER(long_wait_ns),
	NUMBER(timeline_begin_ns),
	NUMBER(timeline_wanted_ns),
	NUMBER(timeline_from_ns),
	NUMBER(timeline_end_ns),
	NUMBER(timeline_short_cpu),
	NUMBER(timeline_outlier_ns),
	NUMBER(timeline_around_ns),
	NUMBER(budget_ppm),
	NUMBER(unlimited),
	NUMBER(interrupts_ns),
	NUMBER(thinned_ns),
	NUMBER(thinnest),
	NUMBER(over_ns),
	NUMBER(spread_ns),
	NUMBER(expected_least),
	NUMBER(expected_most),
	NUMBER(expected_seen),
	NUMBER(slow_poll_ns),
#undef STRING
#undef NUMBER
};
#define NR_FACTS (sizeof(facts) / sizeof(facts[0]))

static uint64_t fact_get(const struct profile *p, const struct fact *f)
{
	const char *at = (const char *)&p->meta + f->offset;

	return f->is_string ? *(const uint32_t *)at : *(const uint64_t *)at;
}

static void fact_set(struct profile *p, const struct fact *f, uint64_t value)
{
	char *at = (char *)&p->meta + f->offset;

	if (f->is_string)
		*(uint32_t *)at = value;
	else
		*(uint64_t *)at = value;
}

/* The tables of a profile, in the order of the file. */
static const struct table {
	char tag[5];
	bool late; /* files from before it came do not have it */
	size_t size, rows, nr;
} tables[] = {
#define TABLE(tag, late, x)                                                                        \
	{                                                                                          \
		tag, late, sizeof(*((struct profile *)NULL)->x), offsetof(struct profile, x),      \
			offsetof(struct profile, nr_##x)                                           \
	}
	TABLE("MODS", false, modules),	    TABLE("FRMS", false, frames),
	TABLE("SFRM", false, stack_frames), TABLE("STKS", false, stacks),
	TABLE("EVNT", true, events),	    TABLE("SMPL", false, samples),
	TABLE("COLS", true, columns),	    TABLE("CNTD", true, counted),
	TABLE("BRCH", true, branches),	    TABLE("WAKR", false, wakers),
	TABLE("THRD", false, threads),	    TABLE("AUDT", true, disagreements),
	TABLE("MRGD", true, merged),	    TABLE("DETL", true, details),
	TABLE("INLN", true, inlines),	    TABLE("HROW", true, hist_rows),
	TABLE("HBKT", true, hist_buckets),  TABLE("OUTL", true, outliers),
	TABLE("CALL", true, call_rows),	    TABLE("CBKT", true, call_buckets),
	TABLE("LOCK", true, locks),	    TABLE("TITL", true, titles),
	TABLE("SLCS", true, slices),	    TABLE("SLCD", true, sliced),
	TABLE("MMNT", true, moments),	    TABLE("LNKD", true, linked),
	TABLE("WBKT", true, wait_buckets),  TABLE("WMAX", true, longest),
	TABLE("TMLN", true, timeline),	    TABLE("BGNS", true, begins),
	TABLE("LNGW", true, long_waits),
#undef TABLE
};
#define NR_TABLES     (sizeof(tables) / sizeof(tables[0]))
#define MOST_SECTIONS 64 /* that are read: those of later versions, too */
_Static_assert(NR_TABLES + 3 <= MOST_SECTIONS, "all that are written are read");

static void **table_rows(const struct table *t, const struct profile *p)
{
	return (void **)((char *)p + t->rows);
}

static size_t *table_nr(const struct table *t, const struct profile *p)
{
	return (size_t *)((char *)p + t->nr);
}

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
		return FILE_VERSION;
	if (p->nr_call_rows)
		return CALLS;
	return p->nr_hist_rows ? HISTOGRAMS : p->nr_events > 1 ? MANY_EVENTS : ONE_EVENT;
}

void profile_save(const struct profile *p, FILE *out)
{
	struct names names = { xmalloc(p->strings.len), p->strings.len };
	struct pair meta[NR_FACTS] = {}, counters[PROF_NR_COUNTERS] = {};

	memcpy(names.bytes, p->strings.bytes, p->strings.len);
	for (size_t i = 0; i < NR_FACTS; i++)
		meta[i] = (struct pair){ .name = names_add(&names, facts[i].name),
					 .value = fact_get(p, &facts[i]) };
	for (size_t i = 0; i < PROF_NR_COUNTERS; i++)
		counters[i] = (struct pair){ .name = names_add(&names, profile_counters[i].key),
					     .value = p->counters[i] };
	const struct file_head head = { .magic = PROFILE_MAGIC,
					.version = version_of(p),
					.nr_sections = 3 + NR_TABLES };

	fwrite(&head, sizeof(head), 1, out);
	put_section(out, "STRS", names.bytes, names.len);
	put_section(out, "META", meta, sizeof(meta));
	put_section(out, "CNTR", counters, sizeof(counters));
	for (size_t i = 0; i < NR_TABLES; i++)
		put_section(out, tables[i].tag, *table_rows(&tables[i], p),
			    *table_nr(&tables[i], p) * tables[i].size);
	free(names.bytes);
}

void *profile_pack(const struct profile *p, size_t *len)
{
	char *bytes = NULL;
	size_t nr;
	FILE *f = open_memstream(&bytes, &nr);
	void *packed;

	profile_save(p, f);
	fclose(f);
	packed = packed_make(bytes, nr, len);
	free(bytes);
	return packed;
}

struct section {
	char tag[5];
	const void *bytes;
	size_t len;
};

/* A whole file in memory, and the sections found in it. */
struct loader {
	char *bytes;
	size_t len;
	struct section sections[MOST_SECTIONS];
	size_t nr;
};

static const char *read_file(struct loader *l, const char *path)
{
	FILE *f = fopen(path, "re");
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
	return packed_is(l->bytes, l->len) ? packed_open(&l->bytes, &l->len, MAX_BYTES) : NULL;
}

static const char *split(struct loader *l)
{
	const struct file_head *head = (const void *)l->bytes;
	size_t at = sizeof(*head);

	if (l->len < at || memcmp(head->magic, PROFILE_MAGIC, sizeof(head->magic)))
		return "not a bpfprof profile";
	if (head->version < ONE_EVENT)
		return "written by an older bpfprof";
	if (head->version > FILE_VERSION)
		return "written by a newer bpfprof";
	for (; l->nr < head->nr_sections && l->nr < MOST_SECTIONS; l->nr++) {
		struct section_head h;
		struct section *s = &l->sections[l->nr];

		if (l->len - at < sizeof(h))
			return "truncated";
		memcpy(&h, l->bytes + at, sizeof(h));
		at += sizeof(h);
		if (h.len > l->len - at)
			return "truncated";
		memcpy(s->tag, h.tag, 4);
		s->bytes = l->bytes + at;
		s->len = h.len;
		if (crc32_z(0, (const void *)s->bytes, s->len) != h.crc)
			return "damaged (a checksum does not match)";
		at += (h.len + 7) & ~7ull;
		if (at > l->len)
			return "truncated";
	}
	return NULL;
}

/* Copies a table out; the file may hold anything, so its length must be whole elements. */
static const char *take(const struct loader *l, const char *tag, size_t sz, void *to, size_t *nr)
{
	for (size_t i = 0; i < l->nr; i++) {
		const struct section *s = &l->sections[i];

		if (strcmp(s->tag, tag))
			continue;
		if (s->len % sz)
			return "damaged (a table is not whole)";
		*nr = s->len / sz;
		*(void **)to = xmalloc(s->len);
		memcpy(*(void **)to, s->bytes, s->len);
		return NULL;
	}
	return "damaged (a table is missing)";
}

static bool has_section(const struct loader *l, const char *tag)
{
	for (size_t i = 0; i < l->nr; i++)
		if (!strcmp(l->sections[i].tag, tag))
			return true;
	return false;
}

static const char *take_tables(struct profile *p, const struct loader *l)
{
	const char *err = NULL;

	for (size_t i = 0; i < NR_TABLES && !err; i++)
		if (!tables[i].late || has_section(l, tables[i].tag))
			err = take(l, tables[i].tag, tables[i].size, table_rows(&tables[i], p),
				   table_nr(&tables[i], p));
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
		for (size_t k = 0; k < NR_FACTS; k++) {
			if (strcmp(name, facts[k].name))
				continue;
			if (facts[k].is_string && !profile_has_string(p, pairs[i].value))
				return false;
			fact_set(p, &facts[k], pairs[i].value);
		}
	}
	return true;
}

static const char *take_pairs(struct profile *p, const struct loader *l, const char *tag)
{
	struct pair *pairs = NULL;
	size_t nr;
	const char *err = take(l, tag, sizeof(*pairs), &pairs, &nr);

	if (!err && !apply_pairs(p, pairs, nr))
		err = "damaged (a name is out of range)";
	free(pairs);
	return err;
}

static const char *fill(struct profile *p, const struct loader *l)
{
	char *strings = NULL;
	size_t len = 0;
	const char *err = take(l, "STRS", 1, &strings, &len);

	if (!err && (!len || strings[0] || strings[len - 1])) {
		free(strings);
		return "damaged (strings)";
	}
	if (err)
		return err;
	strings_adopt(&p->strings, strings, len);
	if ((err = take_tables(p, l)) || (err = take_pairs(p, l, "META")) ||
	    (err = take_pairs(p, l, "CNTR")))
		return err;
	if (!profile_is_sound(p) || !runqlat_report_can(p) || !timeline_can(p))
		return "damaged (a reference is out of range)";
	return NULL;
}

struct profile *profile_load(const char *path)
{
	struct profile *p = xcalloc(1, sizeof(*p));
	struct loader l = {};
	const char *err = read_file(&l, path);

	if (!err)
		err = split(&l);
	if (!err)
		err = fill(p, &l);
	free(l.bytes);
	if (!err)
		return p;
	profile_free(p);
	log_err(0, "cannot load %s: %s", path, err);
	return NULL;
}

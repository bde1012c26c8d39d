/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The format of pprof (profile.proto of github.com/google/pprof), gzipped. Samples, places and
 * files go out as they are written; strings come last, when all of them are known.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "output/dictionary.h"
#include "output/gzip.h"
#include "output/message.h"
#include "output/output.h"
#include "output/pprof.h"

#define PAGE	  4096
#define CHUNK	  (1 << 16)	      /* compressed at once */
#define KALLSYMS  "[kernel.kallsyms]" /* what readers know as the kernel */
#define OUR_NAME  "[kernel]"
#define HEX_BYTES (2 * sizeof(((struct module *)NULL)->build_id) + 1)

/* Fields, by message. */
enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_MAPPING = 3,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING = 6,
	PROFILE_TIME_NANOS = 9,
	PROFILE_DURATION_NANOS = 10,
	PROFILE_PERIOD_TYPE = 11,
	PROFILE_PERIOD = 12,
	PROFILE_COMMENT = 13,
	PROFILE_DEFAULT_TYPE = 14,
};
enum { VALUE_TYPE = 1, VALUE_UNIT = 2 };
enum { SAMPLE_LOCATIONS = 1, SAMPLE_VALUES = 2, SAMPLE_LABEL = 3 };
enum { LABEL_KEY = 1, LABEL_STR = 2, LABEL_NUM = 3 };
enum {
	MAPPING_ID = 1,
	MAPPING_START = 2,
	MAPPING_LIMIT = 3,
	MAPPING_OFFSET = 4,
	MAPPING_FILE = 5,
	MAPPING_BUILD_ID = 6,
	MAPPING_HAS_FUNCTIONS = 7,
	MAPPING_HAS_FILES = 8,
	MAPPING_HAS_LINES = 9,
	MAPPING_HAS_INLINED = 10,
};
enum { LOCATION_ID = 1, LOCATION_MAPPING = 2, LOCATION_ADDRESS = 3, LOCATION_LINE = 4 };
enum { LINE_FUNCTION = 1, LINE_LINE = 2 };
enum { FUNCTION_ID = 1, FUNCTION_NAME = 2, FUNCTION_LINKAGE = 3, FUNCTION_FILE = 4 };

struct pprof {
	struct dictionary *d;
	struct gzip gzip;
	struct message out;	    /* of the profile, not yet compressed */
	struct message part, inner; /* one of its messages, and one in that */
	uint64_t *numbers;
	size_t cap_numbers;
	uint32_t pid_key, tid_key, thread_key, process_key, class_key;
	uint32_t context_key, kind_key, role_key;
};

static void flush(struct pprof *w, size_t least)
{
	if (w->out.nr < least)
		return;
	gzip_put(&w->gzip, w->out.bytes, w->out.nr);
	message_clear(&w->out);
}

static void put_part(struct pprof *w, uint32_t field)
{
	message_element(&w->out, field, w->part.bytes, w->part.nr);
	message_clear(&w->part);
	flush(w, CHUNK);
}

static void put_inner(struct pprof *w, uint32_t field)
{
	message_element(&w->part, field, w->inner.bytes, w->inner.nr);
	message_clear(&w->inner);
}

static void put_type(struct pprof *w, uint32_t field, const struct value_type *t)
{
	message_number(&w->part, VALUE_TYPE, numbered_add(&w->d->strings, t->type));
	message_number(&w->part, VALUE_UNIT, numbered_add(&w->d->strings, t->unit));
	put_part(w, field);
}

/* Values have 63 bits. */
static uint64_t as_signed(uint64_t n)
{
	return n < INT64_MAX ? n : INT64_MAX;
}

static void put_facts(struct pprof *w)
{
	const struct value_types *t = &w->d->types;
	const struct profile_meta *m = &w->d->profile->meta;

	for (size_t i = 0; i < t->nr; i++)
		put_type(w, PROFILE_SAMPLE_TYPE, &t->v[i]);
	put_type(w, PROFILE_PERIOD_TYPE, &t->every);
	message_number(&w->out, PROFILE_PERIOD, as_signed(t->period));
	message_number(&w->out, PROFILE_TIME_NANOS, as_signed(m->start_ns));
	message_number(&w->out, PROFILE_DURATION_NANOS, as_signed(m->duration_ns));
	message_number(&w->out, PROFILE_DEFAULT_TYPE,
		       numbered_add(&w->d->strings, t->v[t->shown].type));
}

static void put_comment(struct pprof *w, const char *what, uint32_t string)
{
	char *text = xasprintf("%s%s", what, profile_str(w->d->profile, string));
	uint64_t number = string ? numbered_add_cleaned(&w->d->strings, text) : 0;

	message_numbers(&w->out, PROFILE_COMMENT, &number, string != 0);
	free(text);
}

static void put_comments(struct pprof *w)
{
	const struct profile_meta *m = &w->d->profile->meta;

	put_comment(w, "bpfprof ", m->command);
	put_comment(w, "of ", m->target);
	put_comment(w, "host ", m->host);
	put_comment(w, "Linux ", m->kernel);
	put_comment(w, "event ", m->event);
	put_comment(w, "not cycles: ", m->event_note);
}

static void put_label(struct pprof *w, uint32_t key, uint32_t string, uint64_t n)
{
	if (!string && !n)
		return;
	message_number(&w->inner, LABEL_KEY, key);
	message_number(&w->inner, LABEL_STR, string);
	message_number(&w->inner, LABEL_NUM, n);
	put_inner(w, SAMPLE_LABEL);
}

static void put_sample(struct pprof *w, size_t i)
{
	const struct dictionary_sample *s = &w->d->samples[i];
	size_t nr_types = w->d->types.nr, nr = s->nr > nr_types ? s->nr : nr_types;

	if (nr > w->cap_numbers) {
		w->cap_numbers = 2 * nr;
		w->numbers = xreallocarray(w->numbers, w->cap_numbers, sizeof(*w->numbers));
	}
	for (uint32_t k = 0; k < s->nr; k++)
		w->numbers[k] = w->d->stack[s->first + k];
	message_numbers(&w->part, SAMPLE_LOCATIONS, w->numbers, s->nr);
	for (size_t k = 0; k < nr_types; k++)
		w->numbers[k] = as_signed(w->d->values[i * nr_types + k]);
	message_numbers(&w->part, SAMPLE_VALUES, w->numbers, nr_types);
	put_label(w, w->thread_key, s->thread, 0);
	put_label(w, w->tid_key, 0, s->tid);
	put_label(w, w->process_key, s->process, 0);
	put_label(w, w->pid_key, 0, s->pid);
	put_label(w, w->class_key, s->class, 0);
	put_label(w, w->context_key, s->context, 0);
	put_label(w, w->kind_key, s->kind, 0);
	put_label(w, w->role_key, s->role, 0);
	put_part(w, PROFILE_SAMPLE);
}

static bool has_contexts(const struct dictionary *d)
{
	for (size_t i = 0; i < d->nr_samples; i++)
		if (d->samples[i].context)
			return true;
	return false;
}

static void put_keys(struct pprof *w)
{
	struct numbered *strings = &w->d->strings;

	w->thread_key = numbered_add(strings, "thread");
	w->tid_key = numbered_add(strings, "tid");
	w->process_key = numbered_add(strings, "process");
	w->pid_key = numbered_add(strings, "pid");
	w->class_key = numbered_add(strings, "wait_class");
	if (has_contexts(w->d)) {
		w->context_key = numbered_add(strings, "context");
		w->kind_key = numbered_add(strings, "kind");
		w->role_key = numbered_add(strings, "role");
	}
}

static uint32_t build_id_of(struct pprof *w, const struct module *m)
{
	char hex[HEX_BYTES] = "";

	for (uint32_t i = 0; i < m->build_id_len && i < sizeof(m->build_id); i++)
		snprintf(hex + 2 * i, 3, "%02x", m->build_id[i]);
	return numbered_add(&w->d->strings, hex);
}

/*
 * Where files were mapped is not kept. Here each one is mapped where it begins, so that addresses
 * are offsets into it, in the pages that samples were in.
 */
static void put_extent(struct pprof *w, const struct dictionary_mapping *m)
{
	uint64_t start = m->first & ~(uint64_t)(PAGE - 1), limit = (m->last | (PAGE - 1)) + 1;

	if (!m->last)
		return;
	message_number(&w->part, MAPPING_START, start);
	message_number(&w->part, MAPPING_LIMIT, limit ? limit : UINT64_MAX);
	if (w->d->profile->modules[m->module].kind == MODULE_FILE)
		message_number(&w->part, MAPPING_OFFSET, start);
}

/* All frames have a name, be it that of a place: readers need not look for others. */
static void put_mapping(struct pprof *w, size_t i)
{
	const struct dictionary_mapping *m = &w->d->mappings[i];
	const struct module *module = &w->d->profile->modules[m->module];
	const char *path = profile_str(w->d->profile, module->path);

	message_number(&w->part, MAPPING_ID, i + 1);
	put_extent(w, m);
	message_number(
		&w->part, MAPPING_FILE,
		numbered_add_cleaned(&w->d->strings, strcmp(path, OUR_NAME) ? path : KALLSYMS));
	message_number(&w->part, MAPPING_BUILD_ID, build_id_of(w, module));
	message_number(&w->part, MAPPING_HAS_FUNCTIONS, true);
	message_number(&w->part, MAPPING_HAS_FILES, m->has_files);
	message_number(&w->part, MAPPING_HAS_LINES, m->has_lines);
	message_number(&w->part, MAPPING_HAS_INLINED, m->has_inlined);
	put_part(w, PROFILE_MAPPING);
}

static void put_location(struct pprof *w, size_t i)
{
	const struct dictionary_place *place = &w->d->places[i];

	message_number(&w->part, LOCATION_ID, i + 1);
	message_number(&w->part, LOCATION_MAPPING, w->d->mapping_of[place->module]);
	message_number(&w->part, LOCATION_ADDRESS, place->address);
	for (uint32_t k = place->first; k < place->first + place->nr; k++) {
		message_number(&w->inner, LINE_FUNCTION, w->d->lines[k].function);
		message_number(&w->inner, LINE_LINE, w->d->lines[k].line);
		put_inner(w, LOCATION_LINE);
	}
	put_part(w, PROFILE_LOCATION);
}

static void put_function(struct pprof *w, size_t i)
{
	const struct dictionary_function *f = &w->d->functions[i];

	message_number(&w->part, FUNCTION_ID, i + 1);
	message_number(&w->part, FUNCTION_NAME, f->name);
	message_number(&w->part, FUNCTION_LINKAGE, f->linkage);
	message_number(&w->part, FUNCTION_FILE, f->file);
	put_part(w, PROFILE_FUNCTION);
}

static void put_strings(struct pprof *w)
{
	for (size_t i = 0; i < w->d->strings.nr; i++) {
		const char *s = numbered_at(&w->d->strings, i);

		message_element(&w->out, PROFILE_STRING, s, strlen(s));
		flush(w, CHUNK);
	}
}

size_t pprof_put(struct dictionary *d, bool owners, FILE *out)
{
	struct pprof w = { .d = d };
	size_t bytes;

	gzip_init(&w.gzip, out);
	put_facts(&w);
	if (owners) {
		put_comments(&w);
		put_keys(&w);
	}
	for (size_t i = 0; i < d->nr_samples; i++)
		put_sample(&w, i);
	for (size_t i = 0; i < d->nr_mappings; i++)
		put_mapping(&w, i);
	for (size_t i = 0; i < d->nr_places; i++)
		put_location(&w, i);
	for (size_t i = 0; i < d->nr_functions; i++)
		put_function(&w, i);
	put_strings(&w);
	flush(&w, 0);
	bytes = w.gzip.z.total_in;
	gzip_finish(&w.gzip);
	message_release(&w.out);
	message_release(&w.part);
	message_release(&w.inner);
	free(w.numbers);
	return bytes;
}

int pprof_write(const struct profile *p, const struct view *v, FILE *out)
{
	struct dictionary d;

	dictionary_init(&d, p, v);
	pprof_put(&d, true, out);
	dictionary_release(&d);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Pyroscope and Parca get a pprof for each series. Of a series that is too large for one, the
 * samples are halved until each half fits.
 */
#include "push/engines.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "output/dictionary_part.h"
#include "output/message.h"
#include "output/pprof.h"
#include "push/base64.h"

#define MIB	   (1ul << 20)
#define HOUR_NS	   3600000000000ull
#define MAX_LABELS 30	/* of a series, Pyroscope */
#define MAX_VALUE  2048 /* bytes of a label's value, Pyroscope */
#define PARCA_NAME "bpfprof"
#define NAME	   "__name__"
#define WAIT_CLASS "wait_class"

/* A pprof, gzipped. */
struct pprof_bytes {
	char *bytes;
	size_t len, raw;
};

static struct pprof_bytes pprof_of(const struct series_set *set, const struct series *s,
				   size_t first, size_t nr)
{
	struct pprof_bytes b = {};
	struct profile about = *s->from->profile;
	struct dictionary_part part;
	struct dictionary d;
	FILE *out = open_memstream(&b.bytes, &b.len);

	about.meta.start_ns = set->start_ns;
	about.meta.duration_ns = set->duration_ns;
	dictionary_init_part(&d, &about, &s->types);
	dictionary_part_begin(&part, &d, s->from);
	for (size_t i = first; i < first + nr; i++)
		dictionary_part_add(&part, s->samples[i], s->columns, 0);
	dictionary_part_end(&part);
	b.raw = pprof_put(&d, false, out);
	fclose(out);
	dictionary_release(&d);
	return b;
}

typedef void (*put_part)(const struct engine *e, const struct series *s,
			 const struct pprof_bytes *b, struct requests *to);

static void put_samples(const struct engine *e, const struct series_set *set,
			const struct series *s, size_t first, size_t nr, put_part put,
			struct requests *to)
{
	struct pprof_bytes b = {};

	if (nr <= e->max_samples)
		b = pprof_of(set, s, first, nr);
	if (nr > 1 && (nr > e->max_samples || b.raw > e->max_profile)) {
		put_samples(e, set, s, first, nr / 2, put, to);
		put_samples(e, set, s, first + nr / 2, nr - nr / 2, put, to);
	} else {
		put(e, s, &b, to);
	}
	free(b.bytes);
}

static void encode_pprofs(const struct engine *e, const struct series_set *set, put_part put,
			  struct requests *to)
{
	for (size_t i = 0; i < set->nr; i++) {
		if (!requests_leave_out(to, &set->v[i]))
			put_samples(e, set, &set->v[i], 0, set->v[i].nr, put, to);
	}
}

/* --- Pyroscope: push.v1.PusherService/Push of the Connect protocol --- */

enum { PUSH_SERIES = 1 };
enum { SERIES_LABELS = 1, SERIES_SAMPLES = 2 };
enum { PAIR_NAME = 1, PAIR_VALUE = 2 };
enum { RAW_PROFILE = 1 };

static void put_pair(struct message *m, const char *name, const char *value)
{
	struct message pair = {};
	char *word = engine_label(name);

	message_bytes(&pair, PAIR_NAME, word, strlen(word));
	message_bytes(&pair, PAIR_VALUE, value, strlen(value));
	message_element(m, SERIES_LABELS, pair.bytes, pair.nr);
	message_release(&pair);
	free(word);
}

static void put_pyroscope(const struct engine *e, const struct series *s,
			  const struct pprof_bytes *b, struct requests *to)
{
	struct message series = {}, sample = {}, part = {};

	put_pair(&series, NAME, s->name);
	for (size_t i = 0; i < s->labels.nr; i++)
		put_pair(&series, s->labels.v[i].name, s->labels.v[i].value);
	if (s->wait_class)
		put_pair(&series, WAIT_CLASS, s->wait_class);
	message_bytes(&sample, RAW_PROFILE, b->bytes, b->len);
	message_element(&series, SERIES_SAMPLES, sample.bytes, sample.nr);
	message_element(&part, PUSH_SERIES, series.bytes, series.nr);
	requests_add(to, e, part.bytes, part.nr, b->raw);
	message_release(&series);
	message_release(&sample);
	message_release(&part);
}

static void pyroscope_encode(const struct engine *e, const struct series_set *set,
			     struct requests *to)
{
	encode_pprofs(e, set, put_pyroscope, to);
}

/* --- Parca: WriteRaw of its gateway, which reads JSON --- */

static void put_json_string(FILE *out, const char *s)
{
	putc('"', out);
	for (; *s; s++)
		if (*s == '"' || *s == '\\')
			fprintf(out, "\\%c", *s);
		else if ((unsigned char)*s < ' ')
			fprintf(out, "\\u%04x", *s);
		else
			putc(*s, out);
	putc('"', out);
}

static void put_json_label(FILE *out, const char *before, const char *name, const char *value)
{
	char *word = engine_label(name);

	fprintf(out, "%s{\"name\":", before);
	put_json_string(out, word);
	fputs(",\"value\":", out);
	put_json_string(out, value);
	putc('}', out);
	free(word);
}

static void put_parca(const struct engine *e, const struct series *s, const struct pprof_bytes *b,
		      struct requests *to)
{
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	fputs("{\"labels\":{\"labels\":[", out);
	put_json_label(out, "", NAME, PARCA_NAME);
	for (size_t i = 0; i < s->labels.nr; i++)
		put_json_label(out, ",", s->labels.v[i].name, s->labels.v[i].value);
	if (s->wait_class)
		put_json_label(out, ",", WAIT_CLASS, s->wait_class);
	fputs("]},\"samples\":[{\"raw_profile\":\"", out);
	base64_put(out, b->bytes, b->len);
	fputs("\"}]}", out);
	fclose(out);
	requests_add(to, e, text, len, b->raw);
	free(text);
}

static void parca_encode(const struct engine *e, const struct series_set *set, struct requests *to)
{
	encode_pprofs(e, set, put_parca, to);
}

/* --- the table --- */

const struct engine engines[] = {
	{ .name = "pyroscope",
	  .path = "/push.v1.PusherService/Push",
	  .content_type = "application/proto",
	  .prefix = "",
	  .separator = "",
	  .suffix = "",
	  .max_samples = 16000,
	  .max_profile = 4 * MIB - 4096,
	  .max_request = 4 * MIB,
	  .max_age_ns = HOUR_NS,
	  .encode = pyroscope_encode },
	{ .name = "parca",
	  .path = "/api/profiles/writeraw",
	  .content_type = "application/json",
	  .prefix = "{\"series\":[",
	  .separator = ",",
	  .suffix = "],\"normalized\":true}",
	  .max_samples = SIZE_MAX,
	  .max_profile = 16 * MIB,
	  .max_request = 16 * MIB,
	  .all_or_nothing = true,
	  .encode = parca_encode },
	{ .name = "otlp",
	  .path = "/v1development/profiles",
	  .content_type = "application/x-protobuf",
	  .content_encoding = "gzip",
	  .prefix = "",
	  .separator = "",
	  .suffix = "",
	  .max_samples = SIZE_MAX,
	  .max_profile = 16 * MIB,
	  .max_request = 16 * MIB,
	  .all_or_nothing = true,
	  .encode = otlp_encode },
};
const size_t nr_engines = sizeof(engines) / sizeof(*engines);

const struct engine *engine_find(const char *name)
{
	for (size_t i = 0; i < nr_engines; i++)
		if (!strcmp(engines[i].name, name))
			return &engines[i];
	return NULL;
}

/* --- what may be sent --- */

char *engine_label(const char *name)
{
	char *word = xasprintf("%s%s", isdigit((unsigned char)*name) ? "_" : "", name);

	for (char *c = word; *c; c++)
		if (!isascii((unsigned char)*c) || !isalnum((unsigned char)*c))
			*c = '_';
	return word;
}

static bool is_word(const char *s)
{
	if (!*s || isdigit((unsigned char)*s))
		return false;
	for (; *s; s++)
		if (!isascii((unsigned char)*s) || (!isalnum((unsigned char)*s) && *s != '_'))
			return false;
	return true;
}

bool engine_has_label(const char *name)
{
	char *word = engine_label(name);
	bool has = !strcmp(word, NAME) || !strcmp(word, WAIT_CLASS);

	free(word);
	return has;
}

static const char *labels_unfit(const struct labels *l)
{
	if (l->nr + 2 > MAX_LABELS)
		return "more labels than engines take";
	for (size_t i = 0; i < l->nr; i++) {
		if (engine_has_label(l->v[i].name) || !*l->v[i].name)
			return "a label with a name that engines use themselves";
		if (strlen(l->v[i].value) > MAX_VALUE)
			return "a label with a value that is too long";
	}
	return NULL;
}

static bool sample_is_whole(const struct dictionary *d, const struct dictionary_sample *s)
{
	if (!s->nr || s->first + (size_t)s->nr > d->nr_stack)
		return false;
	for (uint32_t k = s->first; k < s->first + s->nr; k++)
		if (!d->stack[k] || d->stack[k] > d->nr_places)
			return false;
	return true;
}

const char *series_unfit(const struct series *s)
{
	if (!s->nr || !s->types.nr)
		return "no samples";
	if (!is_word(s->name) || !is_word(s->types.every.type) || !is_word(s->types.every.unit))
		return "no type of the period";
	for (size_t i = 0; i < s->types.nr; i++)
		if (!is_word(s->types.v[i].type) || !is_word(s->types.v[i].unit))
			return "a value without a type";
	for (size_t i = 0; i < s->nr; i++)
		if (!sample_is_whole(s->from, &s->from->samples[s->samples[i]]))
			return "a sample without a stack";
	return labels_unfit(&s->labels);
}

/* --- requests --- */

bool requests_leave_out(struct requests *r, const struct series *s)
{
	const char *why = series_unfit(s);

	if (why)
		r->why = why;
	r->unfit += why != NULL;
	return why;
}

void requests_add(struct requests *r, const struct engine *e, const void *part, size_t len,
		  size_t raw)
{
	struct request *to = r->nr ? &r->v[r->nr - 1] : NULL;

	if (!to || to->raw + raw > e->max_request) {
		r->v = xgrow(r->v, r->nr, &r->cap, sizeof(*r->v));
		to = &r->v[r->nr++];
		*to = (struct request){};
	}
	if (to->cap - to->len < len) {
		to->cap = 2 * (to->len + len);
		to->bytes = xreallocarray(to->bytes, to->cap, 1);
	}
	memcpy(to->bytes + to->len, part, len);
	to->len += len;
	to->lens = xgrow(to->lens, to->nr, &to->cap_lens, sizeof(*to->lens));
	to->lens[to->nr++] = len;
	to->raw += raw;
}

void requests_make(struct requests *r, const struct engine *e, const struct series_set *set)
{
	*r = (struct requests){};
	e->encode(e, set, r);
}

void request_release(struct request *r)
{
	free(r->bytes);
	free(r->lens);
	*r = (struct request){};
}

void requests_release(struct requests *r)
{
	for (size_t i = 0; i < r->nr; i++)
		request_release(&r->v[i]);
	free(r->v);
}

uint8_t *request_body(const struct engine *e, const uint8_t *bytes, const size_t *lens, size_t nr,
		      size_t *len)
{
	char *text;
	FILE *out = open_memstream(&text, len);

	fputs(e->prefix, out);
	for (size_t i = 0; i < nr; bytes += lens[i++]) {
		fputs(i ? e->separator : "", out);
		fwrite(bytes, 1, lens[i], out);
	}
	fputs(e->suffix, out);
	fclose(out);
	return (uint8_t *)text;
}

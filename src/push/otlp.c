/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Profiles of OpenTelemetry (opentelemetry.proto.profiles.v1development, 1.10 and newer), gzipped.
 * A request has one dictionary for all of its series; a series is a profile for each of its values,
 * in a resource with its labels. Entry 0 of each table is empty, as readers want it.
 *
 * Each sample has an attribute: a reader of the wire before 1.10 then finds a field of the wrong
 * type, and refuses what it would else misread.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "output/dictionary_part.h"
#include "output/gzip.h"
#include "output/message.h"
#include "profile/profile.h"
#include "push/engines.h"

enum { REQUEST_RESOURCES = 1, REQUEST_DICTIONARY = 2 };
enum { RESOURCES_RESOURCE = 1, RESOURCES_SCOPES = 2 };
enum { RESOURCE_ATTRIBUTES = 1 };
enum { KEY_VALUE_KEY = 1, KEY_VALUE_VALUE = 2 };
enum { ANY_STRING = 1 };
enum { SCOPES_SCOPE = 1, SCOPES_PROFILES = 2 };
enum { SCOPE_NAME = 1, SCOPE_VERSION = 2 };
enum {
	PROFILE_TYPE = 1,
	PROFILE_SAMPLES = 2,
	PROFILE_TIME = 3,
	PROFILE_DURATION = 4,
	PROFILE_PERIOD_TYPE = 5,
	PROFILE_PERIOD = 6,
};
enum { TYPE_NAME = 1, TYPE_UNIT = 2 };
enum { SAMPLE_STACK = 1, SAMPLE_ATTRIBUTES = 2, SAMPLE_VALUES = 4 };
enum {
	TABLE_MAPPINGS = 1,
	TABLE_LOCATIONS = 2,
	TABLE_FUNCTIONS = 3,
	TABLE_LINKS = 4,
	TABLE_STRINGS = 5,
	TABLE_ATTRIBUTES = 6,
	TABLE_STACKS = 7,
};
enum { MAPPING_START = 1, MAPPING_LIMIT, MAPPING_OFFSET, MAPPING_FILE, MAPPING_ATTRIBUTES };
enum { LOCATION_MAPPING = 1, LOCATION_ADDRESS = 2, LOCATION_LINES = 3 };
enum { LINE_FUNCTION = 1, LINE_LINE = 2 };
enum { FUNCTION_NAME = 1, FUNCTION_SYSTEM_NAME = 2, FUNCTION_FILE = 3 };
enum { STACK_LOCATIONS = 1 };
enum { ATTRIBUTE_KEY = 1, ATTRIBUTE_VALUE = 2 };

#define BUILD_ID "process.executable.build_id.gnu"
#define PAGE	 4096

/* Labels under the names of the semantic conventions. */
static const char *const conventions[][2] = {
	{ "service_name", "service.name" }, { "host", "host.name" },
	{ "node", "k8s.node.name" },	    { "namespace", "k8s.namespace.name" },
	{ "pod", "k8s.pod.name" },	    { "container", "k8s.container.name" },
	{ "container_id", "container.id" }, { "image", "container.image.name" },
};

/* So much of a series. */
struct part {
	const struct series *s;
	size_t first, nr;
};

/* An attribute: two strings, by number. */
struct attribute {
	uint32_t key, value;
};

struct otlp {
	struct dictionary d; /* of all parts; the series of a sample is its profile's number */
	const struct series_set *set;
	struct message out, resources, scopes, profile, inner, tables;
	struct attribute *attributes; /* numbers begin at 1 */
	size_t nr_attributes, cap_attributes;
	uint32_t *stacks; /* a sample each, which has it first; numbers begin at 1 */
	size_t nr_stacks, cap_stacks;
	struct index stack_index;
	size_t next; /* sample that is not yet in a profile */
};

static void put(struct message *to, uint32_t field, struct message *part)
{
	message_element(to, field, part->bytes, part->nr);
	message_clear(part);
}

static uint32_t attribute_of(struct otlp *w, const char *key, const char *value)
{
	struct attribute a = { numbered_add(&w->d.strings, key),
			       numbered_add(&w->d.strings, value) };

	for (size_t i = 0; i < w->nr_attributes; i++)
		if (!memcmp(&w->attributes[i], &a, sizeof(a)))
			return i + 1;
	w->attributes =
		xgrow(w->attributes, w->nr_attributes, &w->cap_attributes, sizeof(*w->attributes));
	w->attributes[w->nr_attributes++] = a;
	return w->nr_attributes;
}

/* --- samples --- */

struct wanted {
	const struct otlp *w;
	const struct dictionary_sample *s;
};

static bool is_stack(const void *arg, uint32_t id)
{
	const struct wanted *wanted = arg;
	const struct dictionary *d = &wanted->w->d;
	const struct dictionary_sample *a = wanted->s, *b = &d->samples[wanted->w->stacks[id - 1]];

	return a->nr == b->nr &&
	       !memcmp(d->stack + a->first, d->stack + b->first, a->nr * sizeof(*d->stack));
}

static uint32_t stack_of(struct otlp *w, size_t sample)
{
	const struct dictionary_sample *s = &w->d.samples[sample];
	const struct wanted wanted = { w, s };
	uint32_t id, hash = index_hash(0, w->d.stack + s->first, s->nr * sizeof(*w->d.stack));

	if (index_find(&w->stack_index, hash, is_stack, &wanted, &id))
		return id;
	w->stacks = xgrow(w->stacks, w->nr_stacks, &w->cap_stacks, sizeof(*w->stacks));
	w->stacks[w->nr_stacks++] = sample;
	index_add(&w->stack_index, hash, w->nr_stacks);
	return w->nr_stacks;
}

static void put_sample(struct otlp *w, size_t i, uint64_t attribute)
{
	uint64_t value = w->d.values[i] < INT64_MAX ? w->d.values[i] : INT64_MAX;

	message_number(&w->inner, SAMPLE_STACK, stack_of(w, i));
	message_numbers(&w->inner, SAMPLE_ATTRIBUTES, &attribute, 1);
	message_numbers(&w->inner, SAMPLE_VALUES, &value, 1);
	put(&w->profile, PROFILE_SAMPLES, &w->inner);
}

/* --- profiles --- */

static void put_type(struct otlp *w, uint32_t field, const struct value_type *t)
{
	message_number(&w->inner, TYPE_NAME, numbered_add(&w->d.strings, t->type));
	message_number(&w->inner, TYPE_UNIT, numbered_add(&w->d.strings, t->unit));
	put(&w->profile, field, &w->inner);
}

static uint64_t value_at(const struct series *s, size_t sample, size_t column)
{
	return s->from->values[s->samples[sample] * s->from->types.nr + s->columns[column]];
}

/* Is this value the other one times the period, as readers make it of samples of CPU time? */
static bool is_product(const struct series *s, size_t column, size_t of)
{
	for (size_t i = 0; i < s->nr; i++)
		if (value_at(s, i, column) != value_at(s, i, of) * s->types.period)
			return false;
	return true;
}

/* Of the number of samples and the CPU time, the one that says it all. */
static bool is_sent(const struct series *s, size_t column)
{
	const struct value_types *t = &s->types;

	if (t->nr != 2 || t->by_event || strcmp(t->v[1].type, "cpu"))
		return true;
	return column != is_product(s, 1, 0);
}

static void put_profile(struct otlp *w, const struct part *part, size_t column)
{
	const struct series *s = part->s;
	const char *kind = s->wait_class ? "wait_class" : "profile";
	uint32_t attribute = attribute_of(w, kind, s->wait_class ? s->wait_class : s->name);
	struct dictionary_part copy;
	size_t from = w->d.nr_samples;

	dictionary_part_begin(&copy, &w->d, s->from);
	for (size_t i = part->first; i < part->first + part->nr; i++)
		if (value_at(s, i, column))
			dictionary_part_add(&copy, s->samples[i], &s->columns[column], 0);
	dictionary_part_end(&copy);
	if (w->d.nr_samples == from)
		return;
	put_type(w, PROFILE_TYPE, &s->types.v[column]);
	for (size_t i = from; i < w->d.nr_samples; i++)
		put_sample(w, i, attribute);
	message_fixed64(&w->profile, PROFILE_TIME, w->set->start_ns);
	message_number(&w->profile, PROFILE_DURATION, w->set->duration_ns);
	put_type(w, PROFILE_PERIOD_TYPE, &s->types.every);
	message_number(&w->profile, PROFILE_PERIOD, s->types.period);
	put(&w->scopes, SCOPES_PROFILES, &w->profile);
}

static const char *convention(const char *label)
{
	for (size_t i = 0; i < sizeof(conventions) / sizeof(*conventions); i++)
		if (!strcmp(conventions[i][0], label))
			return conventions[i][1];
	return label;
}

static void put_text(struct message *m, uint32_t field, const char *s)
{
	message_bytes(m, field, s, strlen(s));
}

static void put_resource(struct otlp *w, const struct labels *l)
{
	struct message value = {}, resource = {};

	for (size_t i = 0; i < l->nr; i++) {
		put_text(&value, ANY_STRING, l->v[i].value);
		put_text(&w->inner, KEY_VALUE_KEY, convention(l->v[i].name));
		put(&w->inner, KEY_VALUE_VALUE, &value);
		put(&resource, RESOURCE_ATTRIBUTES, &w->inner);
	}
	message_element(&w->resources, RESOURCES_RESOURCE, resource.bytes, resource.nr);
	message_release(&value);
	message_release(&resource);
}

/* Of parts with the same labels, which follow each other: how many. */
static size_t put_resources(struct otlp *w, const struct part *parts, size_t nr)
{
	const struct labels *l = &parts->s->labels;
	size_t i;

	put_resource(w, l);
	put_text(&w->inner, SCOPE_NAME, "bpfprof");
	put_text(&w->inner, SCOPE_VERSION, BPFPROF_VERSION);
	put(&w->scopes, SCOPES_SCOPE, &w->inner);
	for (i = 0; i < nr && !labels_compare(l, &parts[i].s->labels); i++)
		for (size_t k = 0; k < parts[i].s->types.nr; k++)
			if (is_sent(parts[i].s, k))
				put_profile(w, &parts[i], k);
	put(&w->resources, RESOURCES_SCOPES, &w->scopes);
	put(&w->out, REQUEST_RESOURCES, &w->resources);
	return i;
}

/* --- tables --- */

static void put_mapping(struct otlp *w, const struct dictionary_mapping *m)
{
	const struct module *module = &w->d.profile->modules[m->module];
	char hex[2 * sizeof(module->build_id) + 1] = "";
	uint64_t attribute;

	if (m->last) {
		uint64_t start = m->first & ~(uint64_t)(PAGE - 1),
			 limit = (m->last | (PAGE - 1)) + 1;

		message_number(&w->inner, MAPPING_START, start);
		message_number(&w->inner, MAPPING_LIMIT, limit ? limit : UINT64_MAX);
		if (module->kind == MODULE_FILE)
			message_number(&w->inner, MAPPING_OFFSET, start);
	}
	message_number(
		&w->inner, MAPPING_FILE,
		numbered_add_cleaned(&w->d.strings, profile_str(w->d.profile, module->path)));
	for (uint32_t i = 0; i < module->build_id_len && i < sizeof(module->build_id); i++)
		snprintf(hex + 2 * i, 3, "%02x", module->build_id[i]);
	attribute = *hex ? attribute_of(w, BUILD_ID, hex) : 0;
	message_numbers(&w->inner, MAPPING_ATTRIBUTES, &attribute, *hex != '\0');
	put(&w->tables, TABLE_MAPPINGS, &w->inner);
}

static void put_location(struct otlp *w, const struct dictionary_place *place)
{
	struct message line = {};

	message_number(&w->inner, LOCATION_MAPPING, w->d.mapping_of[place->module]);
	message_number(&w->inner, LOCATION_ADDRESS, place->address);
	for (uint32_t k = place->first; k < place->first + place->nr; k++) {
		message_number(&line, LINE_FUNCTION, w->d.lines[k].function);
		message_number(&line, LINE_LINE, w->d.lines[k].line);
		put(&w->inner, LOCATION_LINES, &line);
	}
	put(&w->tables, TABLE_LOCATIONS, &w->inner);
	message_release(&line);
}

static void put_function(struct otlp *w, const struct dictionary_function *f)
{
	message_number(&w->inner, FUNCTION_NAME, f->name);
	message_number(&w->inner, FUNCTION_SYSTEM_NAME, f->linkage);
	message_number(&w->inner, FUNCTION_FILE, f->file);
	put(&w->tables, TABLE_FUNCTIONS, &w->inner);
}

static void put_stack(struct otlp *w, const struct dictionary_sample *s)
{
	uint64_t *places = xcalloc(s->nr + 1, sizeof(*places));

	for (uint32_t k = 0; k < s->nr; k++)
		places[k] = w->d.stack[s->first + k];
	message_numbers(&w->inner, STACK_LOCATIONS, places, s->nr);
	put(&w->tables, TABLE_STACKS, &w->inner);
	free(places);
}

static void put_attribute(struct otlp *w, const struct attribute *a)
{
	struct message value = {};

	put_text(&value, ANY_STRING, numbered_at(&w->d.strings, a->value));
	message_number(&w->inner, ATTRIBUTE_KEY, a->key);
	put(&w->inner, ATTRIBUTE_VALUE, &value);
	put(&w->tables, TABLE_ATTRIBUTES, &w->inner);
	message_release(&value);
}

/* Strings come last: all others add some. */
static void put_tables(struct otlp *w)
{
	static const uint32_t tables[] = { TABLE_MAPPINGS, TABLE_LOCATIONS,  TABLE_FUNCTIONS,
					   TABLE_LINKS,	   TABLE_ATTRIBUTES, TABLE_STACKS };

	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++)
		message_element(&w->tables, tables[i], NULL, 0);
	for (size_t i = 0; i < w->d.nr_mappings; i++)
		put_mapping(w, &w->d.mappings[i]);
	for (size_t i = 0; i < w->d.nr_places; i++)
		put_location(w, &w->d.places[i]);
	for (size_t i = 0; i < w->d.nr_functions; i++)
		put_function(w, &w->d.functions[i]);
	for (size_t i = 0; i < w->nr_attributes; i++)
		put_attribute(w, &w->attributes[i]);
	for (size_t i = 0; i < w->nr_stacks; i++)
		put_stack(w, &w->d.samples[w->stacks[i]]);
	for (size_t i = 0; i < w->d.strings.nr; i++) {
		const char *s = numbered_at(&w->d.strings, i);

		message_element(&w->tables, TABLE_STRINGS, s, strlen(s));
	}
	put(&w->out, REQUEST_DICTIONARY, &w->tables);
}

static void otlp_release(struct otlp *w)
{
	struct message *const all[] = { &w->out,     &w->resources, &w->scopes,
					&w->profile, &w->inner,	    &w->tables };

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		message_release(all[i]);
	index_release(&w->stack_index);
	free(w->attributes);
	free(w->stacks);
	dictionary_release(&w->d);
}

static void add_zipped(struct requests *to, const struct engine *e, const struct message *m)
{
	struct gzip *z = xmalloc(sizeof(*z));
	char *bytes;
	size_t len;
	FILE *out = open_memstream(&bytes, &len);

	gzip_init(z, out);
	gzip_put(z, m->bytes, m->nr);
	gzip_finish(z);
	fclose(out);
	/* Each is a request: dictionaries cannot be put together. */
	requests_add(to, e, bytes, len, e->max_request);
	free(bytes);
	free(z);
}

/* Halves of what is too much for one request. */
static void encode_parts(const struct engine *e, const struct series_set *set, struct part *parts,
			 size_t nr, struct requests *to)
{
	static const struct value_types one = { .nr = 1 };
	struct otlp w = { .set = set };
	bool fits;

	dictionary_init_part(&w.d, set->window_samples.profile, &one);
	for (size_t i = 0; i < nr;)
		i += put_resources(&w, parts + i, nr - i);
	put_tables(&w);
	fits = w.out.nr <= e->max_request || (nr == 1 && parts->nr == 1);
	if (fits)
		add_zipped(to, e, &w.out);
	otlp_release(&w);
	if (fits)
		return;
	if (nr > 1) {
		encode_parts(e, set, parts, nr / 2, to);
		encode_parts(e, set, parts + nr / 2, nr - nr / 2, to);
	} else {
		struct part rest = *parts;

		parts->nr /= 2;
		rest.first += parts->nr;
		rest.nr -= parts->nr;
		encode_parts(e, set, parts, 1, to);
		encode_parts(e, set, &rest, 1, to);
	}
}

void otlp_encode(const struct engine *e, const struct series_set *set, struct requests *to)
{
	struct part *parts = xcalloc(set->nr + 1, sizeof(*parts));
	size_t nr = 0;

	for (size_t i = 0; i < set->nr; i++) {
		const struct series *s = &set->v[i];

		if (!requests_leave_out(to, s))
			parts[nr++] = (struct part){ s, 0, s->nr };
	}
	if (nr)
		encode_parts(e, set, parts, nr, to);
	free(parts);
}

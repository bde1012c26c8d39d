/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What was copied has its new number in an array, by the old one. */
#include "output/dictionary_part.h"

#include <stdlib.h>

#include "base/mem.h"

void dictionary_init_part(struct dictionary *to, const struct profile *p,
			  const struct value_types *types)
{
	*to = (struct dictionary){ .profile = p, .types = *types };
	numbered_init(&to->strings);
	to->mapping_of = xcalloc(p->nr_modules, sizeof(*to->mapping_of));
}

void dictionary_part_begin(struct dictionary_part *part, struct dictionary *to,
			   const struct dictionary *from)
{
	*part = (struct dictionary_part){ .to = to, .from = from };
	part->strings = xcalloc(from->strings.nr, sizeof(*part->strings));
	part->functions = xcalloc(from->nr_functions + 1, sizeof(*part->functions));
	part->places = xcalloc(from->nr_places + 1, sizeof(*part->places));
}

static uint32_t string_of(struct dictionary_part *part, uint32_t number)
{
	if (number && !part->strings[number])
		part->strings[number] =
			numbered_add(&part->to->strings, numbered_at(&part->from->strings, number));
	return part->strings[number];
}

static uint32_t function_of(struct dictionary_part *part, uint32_t number)
{
	struct dictionary *to = part->to;
	struct dictionary_function f = part->from->functions[number - 1];

	if (part->functions[number])
		return part->functions[number];
	f.name = string_of(part, f.name);
	f.linkage = string_of(part, f.linkage);
	f.file = string_of(part, f.file);
	to->functions = xgrow(to->functions, to->nr_functions, &to->cap_functions, sizeof(f));
	to->functions[to->nr_functions++] = f;
	part->functions[number] = to->nr_functions;
	return to->nr_functions;
}

static void add_lines(struct dictionary_part *part, const struct dictionary_place *place)
{
	struct dictionary *to = part->to;

	for (uint32_t i = place->first; i < place->first + place->nr; i++) {
		struct dictionary_line line = part->from->lines[i];

		line.function = function_of(part, line.function);
		to->lines = xgrow(to->lines, to->nr_lines, &to->cap_lines, sizeof(line));
		to->lines[to->nr_lines++] = line;
	}
}

static void add_mapping(struct dictionary *to, const struct dictionary_mapping *m)
{
	if (to->mapping_of[m->module])
		return;
	to->mappings = xgrow(to->mappings, to->nr_mappings, &to->cap_mappings, sizeof(*m));
	to->mappings[to->nr_mappings++] = *m;
	to->mapping_of[m->module] = to->nr_mappings;
}

static uint32_t place_of(struct dictionary_part *part, uint32_t number)
{
	const struct dictionary *from = part->from;
	struct dictionary *to = part->to;
	struct dictionary_place place = from->places[number - 1];

	if (part->places[number])
		return part->places[number];
	if (place.module)
		add_mapping(to, &from->mappings[from->mapping_of[place.module] - 1]);
	add_lines(part, &from->places[number - 1]);
	place.first = to->nr_lines - place.nr;
	to->places = xgrow(to->places, to->nr_places, &to->cap_places, sizeof(place));
	to->places[to->nr_places++] = place;
	part->places[number] = to->nr_places;
	return to->nr_places;
}

void dictionary_part_add(struct dictionary_part *part, uint32_t sample, const uint32_t *columns,
			 uint32_t series)
{
	const struct dictionary *from = part->from;
	struct dictionary *to = part->to;
	const struct dictionary_sample *s = &from->samples[sample];

	to->samples = xgrow(to->samples, to->nr_samples, &to->cap_samples, sizeof(*s));
	to->samples[to->nr_samples] =
		(struct dictionary_sample){ .first = to->nr_stack, .nr = s->nr, .series = series };
	for (uint32_t k = s->first; k < s->first + s->nr; k++) {
		uint32_t place = place_of(part, from->stack[k]);

		to->stack = xgrow(to->stack, to->nr_stack, &to->cap_stack, sizeof(*to->stack));
		to->stack[to->nr_stack++] = place;
	}
	for (size_t i = 0; i < to->types.nr; i++) {
		size_t at = to->nr_samples * to->types.nr + i;

		to->values = xgrow(to->values, at, &to->cap_values, sizeof(*to->values));
		to->values[at] = from->values[sample * from->types.nr + columns[i]];
	}
	to->nr_samples++;
}

void dictionary_part_end(struct dictionary_part *part)
{
	free(part->strings);
	free(part->functions);
	free(part->places);
}

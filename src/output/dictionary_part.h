/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Some samples of a dictionary, with all that they refer to, as another one: numbers are without
 * gaps, and nothing is in it that no sample needs.
 */
#ifndef BPFPROF_OUTPUT_DICTIONARY_PART_H
#define BPFPROF_OUTPUT_DICTIONARY_PART_H

#include "output/dictionary.h"

/* Where things of a dictionary are in another one; 0 = they are not there. */
struct dictionary_part {
	struct dictionary *to;
	const struct dictionary *from;
	uint32_t *strings, *functions, *places;
};

/* to is empty: its samples have these types, and time and period of p. */
void dictionary_init_part(struct dictionary *to, const struct profile *p,
			  const struct value_types *types);

/* Several dictionaries may have a part in one, each after the other. */
void dictionary_part_begin(struct dictionary_part *part, struct dictionary *to,
			   const struct dictionary *from);
/* Adds a sample of from. columns: which of its values, one for each type of to. */
void dictionary_part_add(struct dictionary_part *part, uint32_t sample, const uint32_t *columns,
			 uint32_t series);
void dictionary_part_end(struct dictionary_part *part);

#endif

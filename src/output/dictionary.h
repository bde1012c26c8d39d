/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Samples for formats that say everything once: tables of strings, functions, places of code and
 * files, and samples that refer to them by number. Numbers begin at 1, but of strings.
 *
 * A sample is a stack with whose it was, and a value of each type; equal ones are added up. The
 * name of the thread, the first step of a path, is not in the stack, unless there is no other.
 */
#ifndef BPFPROF_OUTPUT_DICTIONARY_H
#define BPFPROF_OUTPUT_DICTIONARY_H

#include "base/index.h"
#include "output/numbered.h"
#include "output/value_types.h"

struct dictionary_function {
	uint32_t name, linkage, file; /* strings */
};

struct dictionary_line {
	uint32_t function, line;
};

/* A frame of the profile, as it is shown; or a note, which has a name and nothing else. */
struct dictionary_place {
	uint32_t frame, note; /* note: a string */
	uint32_t waker, nr;   /* nr: functions, innermost first */
	uint32_t first;	      /* of its lines */
	uint32_t module;      /* of the profile, 0 = none */
	uint64_t address;     /* in that file, or in the memory of a process; 0 = not known */
};

struct dictionary_sample {
	uint32_t first, nr;		 /* into stack, leaf first */
	uint32_t pid, tid;		 /* 0 = not known */
	uint32_t thread, process, class; /* strings, 0 = none */
	uint32_t context, kind, role;	 /* the same, of a runtime (profile/context.h) */
	uint32_t series;		 /* in a dictionary of series: which one */
};

/* A file, and the part of it that frames are in. */
struct dictionary_mapping {
	uint32_t module; /* of the profile */
	uint64_t first, last;
	bool has_files, has_lines, has_inlined;
};

struct dictionary {
	const struct profile *profile;
	struct value_types types;
	struct numbered strings;
	struct dictionary_function *functions;
	struct dictionary_line *lines;
	struct dictionary_place *places;
	struct dictionary_sample *samples;
	struct dictionary_mapping *mappings; /* the program that matters most is number 1 */
	uint64_t *values;		     /* types.nr of each sample */
	uint32_t *stack;		     /* places */
	uint32_t *mapping_of;		     /* by module */
	size_t nr_functions, nr_lines, nr_places, nr_samples, nr_stack, nr_mappings;

	/* To find what is there. */
	size_t cap_functions, cap_lines, cap_places, cap_samples, cap_stack, cap_mappings;
	size_t cap_values;
	uint32_t *place_of[2]; /* by frame, of threads and of their wakers */
	struct index function_index, place_index, sample_index;
};

/* Of all samples that the view shows. */
void dictionary_init(struct dictionary *d, const struct profile *p, const struct view *v);

/*
 * The same by series: samples say nothing of threads, and are one when stack and series are equal.
 * of: the series of a sample of p, or of one of its events; class: of its wait, as profile/waits.h
 * numbers them, WAITS_NR in profiles of anything else. What was lost is in no series.
 */
struct dictionary_series {
	uint32_t (*of)(void *arg, const struct profile *p, const struct sample *s, uint32_t class);
	void *arg;
};
void dictionary_init_series(struct dictionary *d, const struct profile *p, const struct view *v,
			    const struct dictionary_series *series);
void dictionary_release(struct dictionary *d);

#endif

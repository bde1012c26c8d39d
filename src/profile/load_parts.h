/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A file that is being loaded, for load.c and load_names.c only. */
#ifndef BPFPROF_PROFILE_LOAD_PARTS_H
#define BPFPROF_PROFILE_LOAD_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "profile/packing.h"
#include "profile/save.h"
#include "profile/save_parts.h"

struct section {
	char tag[5];
	const void *bytes;
	size_t len;
	uint64_t of; /* more than len: it is cut */
};

/* A whole file in memory, and the sections found in it. */
struct loader {
	char *bytes;
	size_t len;
	struct section sections[MOST_SECTIONS];
	size_t nr;
	bool is_packed;
	bool may_end; /* what is left of a truncated file is taken */
	struct left left;
	struct packing packing;	    /* then: of its strings */
	struct shared_names *names; /* that hold what of a window is not in its own file */
};

/* Each returns what is wrong, or NULL. Of a file, which is closed; f may be NULL, with errno. */
const char *loader_read(struct loader *l, FILE *f);
/* Its sections. */
const char *loader_split(struct loader *l);
const struct section *loader_find(const struct loader *l, const char *tag);
/* The rows of a table, to be freed. */
const char *loader_take(const struct loader *l, const char *tag, size_t sz, uint32_t strings,
			void *to, size_t *nr);
/* l->names has what the window needs from then on; it becomes NULL where it needs nothing. */
const char *loader_find_names(struct loader *l, const char *path);
/* Strings and shared tables only; NULL: none was read. */
const struct profile *shared_names_profile(const struct shared_names *s);

#endif

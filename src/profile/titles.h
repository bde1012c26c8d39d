/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What tells processes of one name apart: "postgres: checkpointer", "python3 worker.py". Kept of
 * those only that share their name with others.
 */
#ifndef BPFPROF_PROFILE_TITLES_H
#define BPFPROF_PROFILE_TITLES_H

#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"

/* A process of which a command line is wanted, and what there was of it. */
struct title_row {
	uint32_t pid;
	uint32_t process; /* its name, a string */
	const char *line; /* as /proc has it, words end in NUL; may hold anything */
	size_t len;	  /* 0 = nothing is known */
};

/*
 * Those in a profile of whose name there are several, by name, each once; the first of them, if
 * there are very many. To be freed.
 */
struct title_row *titles_wanted(const struct profile *p, size_t *nr);

/* Makes titles of the lines of such rows. */
void titles_add(struct profile *p, const struct title_row *rows, size_t nr);

/* A string: its title, or 0. O(titles). */
uint32_t titles_find(const struct profile *p, uint32_t pid);

#endif

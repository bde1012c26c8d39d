/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Capabilities, and what each is for: the one table. doctor names those that are missing, and a
 * recording that has begun keeps those that it still needs.
 */
#ifndef BPFPROF_DOCTOR_CAPS_H
#define BPFPROF_DOCTOR_CAPS_H

#include <stddef.h>
#include <stdint.h>

enum cap_rank {
	CAP_NEEDED,  /* nothing is recorded without */
	CAP_WANTED,  /* less is named without */
	CAP_OF_ROOT, /* the same, where root runs it: readers of files become another user */
	CAP_SPARE,   /* who lacks it has other ways, or what it is for is refused and named */
};

/* What a recording may have to do besides what its command uses. */
enum cap_need {
	CAP_FOR_FOLDER = 1 << 0,   /* a file in a folder that is not its own */
	CAP_FOR_PROGRAM = 1 << 1,  /* a program that it has started */
	CAP_FOR_PARANOID = 1 << 2, /* kernels that want CAP_SYS_ADMIN for perf events */
};

struct cap_row {
	int cap;
	const char *name, *use;
	enum cap_rank rank;
	unsigned int uses;  /* of enum doctor_use: who needs it all the time */
	unsigned int needs; /* of enum cap_need: or for that */
};

extern const struct cap_row cap_rows[];
extern const size_t cap_nr_rows;

/* A bit for each capability that is needed after the start. */
uint64_t caps_kept(unsigned int uses, unsigned int needs);

/* Names of those in the set, without "CAP_"; of those in the table. To be freed. */
char *caps_text(uint64_t caps);

#endif

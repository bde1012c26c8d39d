/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a recording has children do for it (reader/reader.h), and opening files by them. */
#ifndef BPFPROF_COLLECT_READING_H
#define BPFPROF_COLLECT_READING_H

#include "proc/proc.h"
#include "reader/reader.h"

struct reading {
	struct reader *reader;
	struct proc_opener opener;
	struct proc_mapper mapper;
	uint32_t slow_major, slow_minor; /* the device that did not answer last; 0 = none */
	uint32_t nr_hung, nr_told, nr_unmapped_told;
	const char *cost; /* of a file that cannot be opened, in words; NULL = of its code */
	struct reading_device {
		uint32_t major, minor;
		int folder;
	} system[2]; /* that / and /usr lie on */
};

/* Forks; so early. 0 or negative errno, logged. */
int reading_open(struct reading *r);
void reading_close(struct reading *r);

/* A process of this machine that does not let its memory be read, 0 = none. Looks at all. */
uint32_t reading_find_silent(struct reading *r);

#endif

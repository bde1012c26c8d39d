/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Titles of a profile's processes (profile/titles.h), from the command lines of those that live. */
#ifndef BPFPROF_COLLECT_COMMAND_LINES_H
#define BPFPROF_COLLECT_COMMAND_LINES_H

#include "bpf/prof.h"
#include "profile/profile.h"
#include "reader/reader.h"

void command_lines_read(struct profile *p, struct reader *r);

/* A row of READER_COMMAND_LINES: a process as long as it has that name. */
struct command_line {
	uint32_t pid;
	char name[PROF_COMM_LEN];
};

/* In the child: what there is of a row's. */
ssize_t command_lines_each(const void *row, void *answer, size_t max);

#endif

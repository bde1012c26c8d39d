/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Titles of a profile's processes (profile/titles.h), from the command lines of those that live. */
#ifndef BPFPROF_COLLECT_COMMAND_LINES_H
#define BPFPROF_COLLECT_COMMAND_LINES_H

#include "profile/profile.h"
#include "reader/cost.h"

void command_lines_read(struct profile *p, struct reader_cost *cost);

#endif

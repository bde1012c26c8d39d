/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What doctor prints: rows, each with its state. Pure functions of a report; writers print to out
 * and return 0. Texts may hold anything; they are made safe here.
 */
#ifndef BPFPROF_OUTPUT_CHECKS_H
#define BPFPROF_OUTPUT_CHECKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum checks_state { CHECKS_OK, CHECKS_LIMITED, CHECKS_MISSING, CHECKS_NR_STATES };

struct checks_row {
	const char *name, *group, *how;
	enum checks_state state;
	bool needed;		    /* without it bpfprof, or the command, refuses */
	char *found;		    /* owned, as are the next two */
	char *consequence, *remedy; /* NULL of rows that are ok */
};

struct checks_report {
	const char *command; /* whose rows these are, NULL = all */
	bool verbose;	     /* where values are from, also of rows that are ok */
	struct checks_row *rows;
	size_t nr_rows;
};

const char *checks_state_text(enum checks_state state);

int checks_write_text(const struct checks_report *r, FILE *out);
int checks_write_json(const struct checks_report *r, FILE *out);

#endif

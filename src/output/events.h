/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What list prints: the machine and its events, each with what became of a trial. Pure functions of
 * a report; writers print to out and return 0. Texts may hold anything; they are made safe here.
 */
#ifndef BPFPROF_OUTPUT_EVENTS_H
#define BPFPROF_OUTPUT_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct events_row {
	const char *name, *pmu, *source, *unit, *meaning;
	const char *state, *state_text; /* for programs, and for people */
	bool advertised, per_task;
	uint64_t type, config, config1;
};

struct events_report {
	const char *cpu, *core, *core_ident; /* "Neoverse-N1", "neoverse-n1", … */
	const char *pmu;		     /* of the cores; NULL: none */
	uint64_t nr_cpus;
	uint32_t counters;	     /* free for any event, 0 = not known */
	uint64_t branch_stack_depth; /* 0 = none */
	bool arm, spe;		     /* arm: counters for cycles only, and spe, are a question */
	const struct events_row *rows;
	size_t nr_rows;
};

int events_write_text(const struct events_report *r, FILE *out);
int events_write_json(const struct events_report *r, FILE *out);
/* A header, then a line for each event with the columns that JSON has as keys. */
int events_write_csv(const struct events_report *r, FILE *out);

#endif

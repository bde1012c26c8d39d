/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Outputs are rows: a name, the file extension that selects it, and a writer, which is a pure
 * function of a profile and a view. Writers print to out and return 0 or a negative errno; write
 * errors are found by whoever owns out.
 */
#ifndef BPFPROF_OUTPUT_OUTPUT_H
#define BPFPROF_OUTPUT_OUTPUT_H

#include <stddef.h>
#include <stdio.h>

#include "profile/profile.h"
#include "profile/tree.h"

struct output {
	const char *name;      /* "folded" */
	const char *extension; /* ".folded"; NULL: only for standard output */
	int (*write)(const struct profile *p, const struct view *v, FILE *out);
	const char *help;
	bool all_events; /* of several: the writer gets the whole profile; else one event's */
};

/* Writes what the view asks for. view->value, if any, is an event of the profile. */
int output_write(const struct output *o, const struct profile *p, const struct view *v, FILE *out);

/* The row of a file name by its extension, NULL when none matches. */
const struct output *output_find(const char *path);
const struct output *output_get(const char *name);
/* ".folded .svg …", for messages. */
const char *output_extensions(void);

int folded_write(const struct profile *p, const struct view *v, FILE *out);
int svg_write(const struct profile *p, const struct view *v, FILE *out);
int html_write(const struct profile *p, const struct view *v, FILE *out);
int json_write(const struct profile *p, const struct view *v, FILE *out);
int summary_write(const struct profile *p, const struct view *v, FILE *out);
int save_write(const struct profile *p, const struct view *v, FILE *out);
int broken_write(const struct profile *p, const struct view *v, FILE *out);
int broken_json_write(const struct profile *p, const struct view *v, FILE *out);
int branched_write(const struct profile *p, const struct view *v, FILE *out);
int branched_write_folded(const struct profile *p, const struct view *v, FILE *out);
int budget_write(const struct profile *p, const struct view *v, FILE *out);
int budget_json_write(const struct profile *p, const struct view *v, FILE *out);

/* Nothing where the audit found nothing wrong. */
void audited_put(const struct profile *p, const struct view *v, FILE *out);

/* For writers of tables: columns of the terminal, 80 where there is none; a path's last part. */
size_t output_width(FILE *out);
const char *output_base_name(const char *path);

#endif

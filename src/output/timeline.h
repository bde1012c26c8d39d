/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Writers of timelines (output/output.h), and what they share. */
#ifndef BPFPROF_OUTPUT_TIMELINE_H
#define BPFPROF_OUTPUT_TIMELINE_H

#include <stdio.h>

#include "profile/timeline.h"
#include "profile/view.h"

int timeline_write_text(const struct profile *p, const struct view *v, FILE *out);
int timeline_write_json(const struct profile *p, const struct view *v, FILE *out);
int timeline_write_csv(const struct profile *p, const struct view *v, FILE *out);
int timeline_write_trace(const struct profile *p, const struct view *v, FILE *out);
/* The table of threads alone. */
int sched_write_text(const struct profile *p, const struct view *v, FILE *out);
int sched_write_json(const struct profile *p, const struct view *v, FILE *out);
int sched_write_csv(const struct profile *p, const struct view *v, FILE *out);

/* The first lines: what was recorded, and how far back the rings reach. */
void timeline_put_head(const struct timeline *t, FILE *out);
/* "12", of a thread that is not its process's first "12/13"; of a process tid is 0. To be freed. */
char *timeline_numbers(uint32_t pid, uint32_t tid);
/* Who ended the wait before a span: "name", "interrupt", or "" where that is not known. */
const char *timeline_waker(const struct timeline *t, const struct timeline_span *s,
			   char name[PROF_COMM_LEN + 1]);

#endif

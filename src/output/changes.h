/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Writers of comparisons of recordings. */
#ifndef BPFPROF_OUTPUT_CHANGES_H
#define BPFPROF_OUTPUT_CHANGES_H

#include <stdio.h>

#include "profile/changes.h"

int changes_write_text(const struct changes *c, const struct view *v, FILE *out);
int changes_write_markdown(const struct changes *c, const struct view *v, FILE *out);
int changes_write_json(const struct changes *c, const struct view *v, FILE *out);
int changes_write_junit(const struct changes *c, const struct view *v, FILE *out);
/* Two numbers behind each stack, before and after, as difffolded.pl has them. */
int changes_write_folded(const struct changes *c, const struct view *v, FILE *out);
int changes_write_svg(const struct changes *c, const struct view *v, FILE *out);
int changes_write_html(const struct changes *c, const struct view *v, FILE *out);

/* What all of them say in the same words. */

/* Is there a limit, and too little of a recording to judge by it? */
bool changes_is_unjudged(const struct changes *c);
#define CHANGES_NOT_JUDGED "since a recording is incomplete: what is missing may be any function's"

/* In percent of a side. */
double changes_pct(const struct changes *c, uint64_t value, int side);
/* What was recorded: "12.34%", or with absolute "1,234" and "1.2 s". To a ring of buffers. */
const char *changes_value(const struct changes *c, uint64_t value, int side);
/* What it costs more: "+12.3%", "new", "gone". To a ring of buffers. */
const char *changes_text(const struct change *row);
/* "more", "less", "REGRESSION", "noise", "" of those that are too small to be judged. */
const char *changes_verdict(const struct changes *c, const struct change *row);
/* "main: 12.34% to 15.00%, cost +24.9%, fails --fail-above 5%". For free(), like the next. */
char *changes_sentence(const struct changes *c, const struct change *row);
/* "3 recordings of process 12 (redis), 10 s, 12,345 samples, 6 lost". */
char *changes_side_text(const struct changes *c, int side);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What those share who ask children about files: points_files.c, points_ask.c. */
#ifndef BPFPROF_COLLECT_POINTS_ASKING_H
#define BPFPROF_COLLECT_POINTS_ASKING_H

#include "collect/points_files.h"

/*
 * reader_ask(), which Ctrl-C ends, and which tells progress. 0, or negative errno: logged, but for
 * -ENOENT, -EACCES and -ENOEXEC.
 */
int points_ask(struct reader *r, struct reader_question *q, struct reader_answer *a,
	       const char *path);

/* Who is asked, once a file has been opened. */
struct reader *points_reader(const struct points *p);

#endif

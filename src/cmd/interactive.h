/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Recordings on the screen (terminal/browse.h), with what other commands say of them. */
#ifndef BPFPROF_CMD_INTERACTIVE_H
#define BPFPROF_CMD_INTERACTIVE_H

#include "cmd/results.h"
#include "terminal/browse.h"

/*
 * Shows a result until the user has seen enough, first what the options ask for. Why it cannot be,
 * a sentence without an end; NULL = done.
 */
const char *interactive_show(const struct results_opts *o, const struct result *r);

/* Of struct browse: what annotate prints. */
char *annotate_of_browse(const struct browse *b, const char *function, size_t width);

#endif

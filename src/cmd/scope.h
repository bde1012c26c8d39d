/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which results an option is for. What report is asked for may not be in the file that it reads:
 * an option that would change nothing is a mistake, not a wish that was granted.
 */
#ifndef BPFPROF_CMD_SCOPE_H
#define BPFPROF_CMD_SCOPE_H

#include "cmd/results.h"

/* 0, or -EINVAL and logged: an option was given that is for other results. */
int scope_check_options(const struct results_opts *o, const struct result *r);

/*
 * The same, and what was asked for is in the result. Of a comparison only that: what is compared
 * depends on options, so the first is for each recording before.
 */
int scope_check(const struct results_opts *o, const struct result *r);

/* The same of what words alone say, before there is a result. */
int scope_check_words(const struct view *v);

#endif

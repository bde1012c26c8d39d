/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The options of views that take parsing: regular expressions and a share. */
#ifndef BPFPROF_CMD_FILTERS_H
#define BPFPROF_CMD_FILTERS_H

#include <regex.h>

#include "base/opt.h"
#include "profile/profile.h"
#include "profile/view.h"

#define FILTERS_PERCENT_LIMIT 0.5

struct filters {
	const char *focus, *ignore, *peek, *percent_limit;
	regex_t patterns[3];
	const char *texts[3]; /* of these */
	size_t nr_patterns;
};

/* Rows for an options table; f is the struct filters within struct s. */
#define FOCUS_ROWS(s, f)                                                                           \
	OPT_STRING(0, "focus", s, f.focus, "REGEX",                                                \
		   "only stacks with a function or a thread whose name matches"),                  \
		OPT_STRING(0, "ignore", s, f.ignore, "REGEX",                                      \
			   "no stacks with a function or a thread whose name matches")

/* Fills the view, which then borrows the patterns. 0 or -EINVAL, logged. */
int filters_apply(struct filters *f, struct view *v);
/* Had the profile something before --focus and --ignore, and has it nothing behind them? */
bool filters_leave_nothing(const struct view *v, const struct profile *p);
/* One sentence about that. */
void filters_tell_nothing(const struct filters *f);
/*
 * A text that stands in a name of the profile means itself, also where it is a regular expression
 * for something else: "fib (burn.py)".
 */
void filters_fit(struct filters *f, const struct profile *p);
void filters_release(struct filters *f);

#endif

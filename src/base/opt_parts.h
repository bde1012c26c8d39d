/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the three files of the option parser share: opt.c, opt_value.c, opt_help.c. */
#ifndef BPFPROF_BASE_OPT_PARTS_H
#define BPFPROF_BASE_OPT_PARTS_H

#include "base/opt.h"

struct option;

/* One run of the parser: what getopt was told, and the option at hand as the user spelled it. */
struct opt_run {
	const char *command;
	const struct opt *opts;
	size_t nr_opts;
	struct option *longs;
	char *letters;
	char spelled[128];
};

/* How a type stores what was given, and whether it needs a value. */
struct opt_kind {
	int (*set)(const struct opt_run *p, const struct opt *o, void *field, char *value);
	bool value;
};
extern const struct opt_kind opt_kinds[];

/* The row of a long name, NULL when there is none. */
const struct opt *opt_find(const struct opt *opts, const char *name);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which processes a command line selects: -p takes numbers and names, with commas or blanks, and
 * "-p $(pgrep x)" leaves further numbers as words of their own.
 */
#ifndef BPFPROF_CMD_SELECTION_H
#define BPFPROF_CMD_SELECTION_H

#include <stdbool.h>

#include "base/opt.h"

struct selection {
	const struct opt_strings *lists; /* values of -p */
	struct opt_ids *pids;		 /* who is meant: added to */
	bool others;			 /* there is a target besides -p */
};

/*
 * Takes words off the front of those behind the options where they are processes: where -p was
 * given, numbers above 60 of those that are called like one of -p's, or that would be durations of
 * more than an hour. Without any target a process's number is a mistake when it would be a duration
 * of more than a minute. 0, -EINVAL, or -ESRCH when no process has such a name; logged.
 */
int selection_make(const struct selection *s, char ***words, int *nr);

/*
 * "-p $(pgrep nosuch) 1" selects init, and a script would wait for its end for ever: a mistake,
 * unless that ends otherwise or somebody looks on. 0 or -EINVAL, logged.
 */
int selection_check_end(const struct opt_ids *pids, bool ends);

#endif

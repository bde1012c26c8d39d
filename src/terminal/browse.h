/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A recording on the screen: functions, trees in both directions, modules, processes, threads,
 * lines and files, each with what is behind it. All figures are those of the views that printed
 * reports have (profile/tree.h, shares.h, peek.h).
 */
#ifndef BPFPROF_TERMINAL_BROWSE_H
#define BPFPROF_TERMINAL_BROWSE_H

#include <stdbool.h>
#include <stddef.h>

#include "profile/view.h"

enum browse_view {
	BROWSE_FUNCTIONS,
	BROWSE_TREE,
	BROWSE_BOTTOM_UP,
	BROWSE_MODULES,
	BROWSE_PROCESSES,
	BROWSE_THREADS,
	BROWSE_LINES,
	BROWSE_FILES,
	BROWSE_NR_VIEWS,
};

struct browse {
	const struct profile *profile; /* of all events */
	const struct view *view;       /* view->value: the event that comes first */
	enum browse_view first;
	const char *peek; /* the function whose neighbours are shown at the begin, NULL = none */
	/* Safe text, a line each: what was recorded, how much of it; and how much was lost. */
	const char *head, *ledger;
	unsigned long long lost;
	bool colour;
	/*
	 * Safe text about a function by its name, as wide as that. NULL: there is none, why was
	 * logged. To be freed.
	 */
	char *(*annotate)(const struct browse *b, const char *function, size_t width);
};

/* Shows it until the user has seen enough. NULL, or why it cannot be: a sentence without an end. */
const char *browse_run(const struct browse *b);

/*
 * The same on a screen that is open already, a key at a time; b stays until it is closed. False:
 * the user has seen enough.
 */
struct browser;
struct browser *browse_open(const struct browse *b);
void browse_draw(struct browser *br);
bool browse_key(struct browser *br, int key);
void browse_close(struct browser *br);

#endif

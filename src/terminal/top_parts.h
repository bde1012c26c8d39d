/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a live view keeps: top.c does what keys say, top_draw.c shows it. */
#ifndef BPFPROF_TERMINAL_TOP_PARTS_H
#define BPFPROF_TERMINAL_TOP_PARTS_H

#include "terminal/prompt.h"
#include "terminal/sheet.h"
#include "terminal/top.h"

struct top {
	struct top_opts opts;
	struct top_data data;
	enum overview_page page;
	struct overview overview;
	struct sheet sheet;
	struct sheet_column columns[OVERVIEW_MAX_COLUMNS];
	size_t of_column[OVERVIEW_MAX_COLUMNS]; /* the overview's column of each that is shown */
	int sorts[OVERVIEW_NR];			/* by page: column of the overview; -1 = as usual */
	bool paused, filtering, helping, quit, spoiled;
	bool moved;   /* the selected row stays selected wherever it goes; else the first one */
	uint32_t pid; /* zoomed into, 0 = none */
	char *process;
	struct prompt prompt;
	char *pattern; /* NULL = no filter */
	regex_t filter;
	struct profile running; /* that is browsed, if it is not data.profile */
	struct view view;
	struct browse browse;
	struct browser *browser; /* NULL = nothing is looked into */
	char *peek;
	char *message;
	bool is_bad;
};

/* Rows of what is shown as they are to be now. */
void top_make_rows(struct top *t);

/* The keys and what they do, a line each. */
extern const char *const top_help[];

#endif

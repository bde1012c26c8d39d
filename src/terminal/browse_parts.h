/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What browsing keeps: browse.c does what keys say, browse_draw.c shows it. */
#ifndef BPFPROF_TERMINAL_BROWSE_PARTS_H
#define BPFPROF_TERMINAL_BROWSE_PARTS_H

#include "terminal/page.h"
#include "terminal/prompt.h"

struct browser {
	const struct browse *b;
	struct profile one; /* of several events, the one that is looked at */
	const struct profile *profile;
	uint32_t event;
	struct lens *lens;
	enum browse_view view;
	struct page *page; /* the uppermost */
	struct prompt search;
	bool searching, done;
	char *message; /* safe, until the next key */
	bool is_bad;
};

/* The views, as they are called. Each begins with its key. */
extern const char *const browse_views[BROWSE_NR_VIEWS];

/* The keys and what they do, as text. To be freed. */
char *browse_help(void);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What browsing consists of: pages, of which the ones that were opened from others lie above them;
 * and lenses, which say of which stacks all pages are. Zooming into a function adds a lens.
 */
#ifndef BPFPROF_TERMINAL_PAGE_H
#define BPFPROF_TERMINAL_PAGE_H

#include "profile/peek.h"
#include "profile/shares.h"
#include "terminal/browse.h"
#include "terminal/outline.h"
#include "terminal/sheet.h"

enum lens_tree { LENS_DOWN, LENS_UP, LENS_PROCESSES, LENS_NR_TREES };

/* Made when they are first looked at. */
struct lens {
	struct lens *outer;
	char *name; /* what was zoomed into; NULL = nothing */
	const struct profile *profile;
	struct view view;
	struct tree *trees[LENS_NR_TREES];
	struct page *pages[BROWSE_NR_VIEWS];
};

struct lens *lens_new(const struct profile *p, const struct view *v);
/* Only stacks with that name; NULL = that are too many lenses. */
struct lens *lens_within(struct lens *outer, const char *name);
void lens_free(struct lens *l); /* without those outside of it */
struct tree *lens_tree(struct lens *l, enum lens_tree which);

struct page;

struct page_ops {
	const char *hint; /* what Enter does, and the like: "Enter callers and callees" */
	void (*release)(struct page *page);
	/* By a column; NULL = rows have one order only. */
	void (*sort)(struct page *page, int column);
	unsigned int sortable; /* bits: columns */
	/* The row that matches next; SIZE_MAX = none. NULL: the page is not searched. */
	size_t (*find)(struct page *page, size_t from, bool back, const char *text);
	/* The name of the function of a row, NULL = it is none. */
	const char *(*function)(struct page *page, size_t row);
	/* Opens what is behind a row; a page to lie above this one, or NULL. */
	struct page *(*enter)(struct page *page, size_t row);
	struct page *(*zoom)(struct page *page, size_t row); /* NULL: by the name of the function */
	/* Keys of its own. False: the key is another one. *message: what to tell, if anything. */
	bool (*key)(struct page *page, int key, const char **message);
};

struct page {
	const struct page_ops *ops;
	struct page *below;
	struct lens *lens;
	char *title; /* safe; of pages that lie above others */
	char *note;  /* in place of the hint, and on a page without rows; NULL = nothing to say */
	struct sheet sheet;
	union { /* by ops */
		struct {
			struct shares shares;
			enum view_by by;
		};
		struct outline outline;
		struct peek peek;
		struct {
			char **lines;
			size_t nr_lines;
		};
	};
	/* Before a search: where it was, and what was expanded. */
	size_t kept_selected, kept_first;
	uint8_t *kept_flags;
};

/* The first page of a view. */
struct page *page_of_view(struct lens *l, enum browse_view view);
void page_free(struct page *page); /* without those below */

/* Functions of a module, lines of a file: a string of the profile. */
struct page *page_new_shares(struct lens *l, enum view_by by, const uint32_t *group);
struct page *page_new_tree(struct lens *l, enum lens_tree which, uint32_t root);
struct page *page_new_peek(struct lens *l, const char *function);
/* Takes the text over: lines. */
struct page *page_new_text(struct lens *l, char *text, const char *title);

/* A search that may be given up: page_keep() first, then either of the others. */
void page_keep(struct page *page);
void page_go_back(struct page *page);
void page_forget(struct page *page);

/* A match as in vim: capitals count if there are any in the text. */
bool page_matches(const char *name, const char *text);

/* A cell: the name of a module without its folders. */
char *page_module(const struct profile *p, uint32_t module);

#endif

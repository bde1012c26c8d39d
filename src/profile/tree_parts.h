/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the parts of the call tree share: tree_paths.c makes paths of samples, tree_keys.c what they
 * begin with, tree_filter.c leaves some out, tree_share.c lets equal ones share their steps, tree.c
 * makes nodes of paths.
 */
#ifndef BPFPROF_PROFILE_TREE_PARTS_H
#define BPFPROF_PROFILE_TREE_PARTS_H

#include "base/index.h"
#include "profile/paths.h"
#include "profile/trim.h"
#include "profile/waits.h"

/* What a view has of paths: those with a name in its focus, and none that it ignores. */
struct tree_filter {
	const struct view *view;
	uint8_t *known; /* by name */
	size_t nr;
};

bool tree_filter_keeps(struct tree_filter *f, const struct tree *t, const struct step *steps,
		       uint32_t nr);
void tree_filter_release(struct tree_filter *f);

/* The last path takes those of an equal one before it, if there is one. seen: by path. */
void tree_share_steps(struct index *seen, struct tree_paths *out);

/* How functions of a frame are called. */
enum naming {
	AS_THREADS,
	AS_WAKERS,
	AS_RUNTIMES, /* from here on those of a runtime */
	AS_POLLED,
	AS_RUNNERS, /* from here on wakers among them */
	AS_POLLED_RUNNERS,
	NR_NAMINGS
};

/* The functions of a frame as steps: a range of builder.known. */
struct known {
	uint32_t first, nr; /* nr 0 = not looked at yet */
};

#define NAMED_THREADS 256 /* a power of two */

/* How a thread is shown. */
struct thread_name {
	uint32_t thread, tid; /* of the profile; tid 0 where views do not tell them apart */
	uint32_t name;	      /* 0 = not known yet */
	bool merge;	      /* without the number at its end */
};

struct path_builder {
	const struct profile *p;
	const struct view *v;
	struct tree *t;
	struct waits waits;
	bool wakers;			    /* the profile is of wake-ups */
	bool operations;		    /* of those, or of system calls: which one is shown */
	struct known *by_frame[NR_NAMINGS]; /* per frame id */
	struct trim trim;
	struct step *known;
	size_t nr_known, cap_known;
	struct tree_filter filter;
	struct index seen; /* paths, by their steps */
	struct tree_paths *out;
	struct thread_name threads[NAMED_THREADS]; /* the one seen last in each place */
};

/* Parts of a path: "[lock]" and the like, and the functions of a frame. */
void path_push_note(struct path_builder *b, const char *text);
void path_push_bracketed(struct path_builder *b, const char *text);
void path_push_frame(struct path_builder *b, uint32_t frame, enum naming as);
/* The same, innermost first: a waker meets the thread that it woke. */
void path_push_frame_upwards(struct path_builder *b, uint32_t frame, enum naming as);

/* What of a context is shown: threads of other code are shown as if there were no runtime. */
const struct context_of *path_context(const struct context_of *of);
/* What a table of shares is by, where that is none of the thread's names; false: it is one. */
bool path_push_key(struct path_builder *b, size_t i, const struct context_of *of);
/* Frames of a runtime's thread that woke another, and its context. False: it is none. */
bool path_push_runner(struct path_builder *b, const struct waker *w);
/* A view of the runtime's threads begins with where they are. */
void path_push_context(struct path_builder *b, const struct context_of *of);

/* Adds the names to those of t. paths comes in empty. */
void tree_paths_of(struct tree *t, const struct view *v, struct tree_paths *paths);
void tree_paths_release(struct tree_paths *paths);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What of a profile is shown and under which names: the options of a view, and what it calls
 * functions.
 */
#ifndef BPFPROF_PROFILE_VIEW_H
#define BPFPROF_PROFILE_VIEW_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>

#include "profile/profile.h"
#include "profile/timeline.h"

/* What becomes of waits that are nothing but a worker without work (profile/idle.h). */
enum view_idle {
	IDLE_FOLD, /* one frame "[idle]" in place of the stack */
	IDLE_HIDE,
	IDLE_SHOW,
};

/* What a table of shares is by. */
enum view_by {
	VIEW_BY_FUNCTION,
	VIEW_BY_MODULE,
	VIEW_BY_FILE,
	VIEW_BY_LINE,
	VIEW_BY_THREAD,
	VIEW_BY_PROCESS, /* the first frame is "name/pid" then */
	VIEW_BY_CLASS,	 /* the first frame is that of the class, or "[idle]": of waits */
	/* The first frame is what a runtime says of the thread (profile/context.h). */
	VIEW_BY_CONTEXT,
	VIEW_BY_KIND,
	VIEW_BY_ROLE,
	VIEW_BY_TASK, /* the outermost function of the task */
	VIEW_NR_BY,
};
/* "function" and so on. */
extern const char *const view_by_words[VIEW_NR_BY];

/* Whether its rows are what paths begin with, and no functions. */
bool view_by_owner(enum view_by by);

/* Which rows of such a table come first. */
enum view_sort { VIEW_SORT_SELF, VIEW_SORT_TOTAL, VIEW_SORT_NAME };

/* What colours of flame graphs say. */
enum view_colors {
	VIEW_COLORS_CPU, /* the kind of code */
	VIEW_COLORS_IO,	 /* nothing: blue */
	VIEW_COLORS_CLASS,
	VIEW_COLORS_MODULE,
	VIEW_COLORS_DIFF, /* of comparisons */
	VIEW_NR_COLORS,
};

/* Whose contexts are shown (profile/context.h). */
enum view_runtime {
	RUNTIME_AUTO, /* of each runtime that is shown unasked */
	RUNTIME_OFF,
	RUNTIME_FIRST, /* and the numbers of runtimes from here on */
};

/* Of threads of a runtime: how much of their stacks. */
enum view_frames {
	FRAMES_TASK, /* without the runtime's own, and what stands between it and the program */
	FRAMES_APP,  /* also without those of the libraries that run the program's functions */
	FRAMES_ALL,
};

/* The same: which of them are one. */
enum view_group {
	GROUP_ROLE, /* "worker-1" and "worker-2" are "worker-", and then the context */
	GROUP_THREAD,
	GROUP_NAME, /* digits behind names are left out, of all threads */
	GROUP_NONE,
};

#define VIEW_MAX_WITHIN 5

struct view {
	bool per_thread;    /* one root per thread: "name/tid" */
	bool merge_threads; /* "worker-1", "worker-2" -> "worker-" */
	bool no_demangle;   /* linkage names */
	bool no_inline;	    /* of each frame the linker's function only */
	/* "_[k]" behind kernel frames, "_[i]" inlined calls, "_[j]" JIT code, "_[p]" Python */
	bool annotations;
	bool delimiter;		     /* a "-" frame between user and kernel frames */
	bool user_only, kernel_only; /* of what was recorded */
	/* Of whole stacks, those with a name that matches, and none with one that matches. */
	const regex_t *focus, *ignore; /* NULL = all */
	/* The same by name: those with each of them. */
	const char *within[VIEW_MAX_WITHIN];
	size_t nr_within;
	const regex_t *peek; /* functions that are shown between callers and callees */
	bool bottom_up;	     /* the leaf first, then its callers (tree_new_turned()) */
	enum view_by by;
	enum view_sort sort;  /* of it */
	double percent_limit; /* of all, below which parts of trees are summed up */
	const char *value;    /* of several events, the one that stacks show; NULL = the first */
	/* Of flame graphs. */
	const char *title; /* NULL = what was recorded */
	enum view_colors colors;
	double min_width; /* of frames that are drawn, in pixels; 0 = the usual */
	bool heatmap;	  /* of pages: with a map of when the samples were taken */
	/* Of waits. */
	bool by_class;	  /* the first frame says what was waited for */
	uint32_t classes; /* bits by enum wait_class to keep, 0 = all */
	enum view_idle idle;
	bool split;	/* the first frame says on-CPU, runnable, or the class: wall */
	bool histogram; /* how long waits were, by powers of two, below their sums for people */
	/* Of threads of a runtime. */
	uint32_t runtime; /* enum view_runtime */
	enum view_frames frames;
	enum view_group group;
	bool gaps;	 /* only what kept the driver from being polled (profile/gaps.h) */
	uint64_t gap_ns; /* of at least this length; 0 = the usual */
	bool full_names; /* with generic arguments, and closures that are async functions */
	/* Of runqlat. */
	bool milliseconds; /* of histograms for people */
	uint32_t rows;	   /* of calls: of each table for people, 0 = the usual */
	/* Of timelines: tables of threads. */
	enum timeline_sort timeline_sort;
	bool per_process;
};

/* The event that a view is of. */
uint32_t view_event(const struct view *v, const struct profile *p);

/* The name of a frame's own function as it is, for those who make it safe; "" = it has none. */
const char *view_frame_name(const struct view *v, const struct profile *p, uint32_t frame);

/* A name that is safe to show, of at most so many spaces, with a suffix. To be freed. */
char *view_safe(const char *name, int spaces, const char *suffix);

/* The functions of a frame that are shown, and the number of the innermost of them. */
uint32_t view_functions(const struct view *v, const struct profile *p, uint32_t frame,
			uint32_t *first);

/*
 * What the tree calls function i of a frame (profile_frame_function()), of the thread itself or of
 * who woke it. To be freed.
 */
char *view_function(const struct view *v, const struct profile *p, uint32_t frame, uint32_t i,
		    bool waker);

/*
 * The same of a runtime's thread, without generic arguments. poll: code of an async function, which
 * is shown as that function.
 */
char *view_short_function(const struct view *v, const struct profile *p, uint32_t frame, uint32_t i,
			  bool poll);

/* Whether it is the name of a closure, or of an async function's code. */
bool view_is_closure(const char *name);

/*
 * What the tree calls the innermost function of a sample of running code; NULL when it shows none.
 * To be freed.
 */
char *view_leaf(const struct view *v, const struct profile *p, const struct sample *s);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From what people ask for to the points of a recording: which files, which functions of them, at
 * which instruction, and which registers hold the arguments.
 */
#ifndef BPFPROF_COLLECT_POINTS_H
#define BPFPROF_COLLECT_POINTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/opt.h"
#include "collect/links.h"

#define POINTS_WITHOUT_ALL 1000 /* functions of one word; more are a mistake unless asked for */

/* What is wanted of each function. */
struct points_opts {
	const struct opt_ids *pids;	/* whose files are meant by names; may be none */
	const struct opt_strings *args; /* "1:str", "2", "ret" */
	bool timed;
	bool all;		  /* functions of a word, however many */
	bool runs;		  /* of Tokio: those that run tasks, in the place of their polls */
	bool by_task;		  /* of Tokio: which task it is */
	uint32_t args_of_jumps;	  /* also in the cookies of points at jumps that leave functions */
	bool sessions;		  /* returns are seen by probes where timed is not wanted, too */
	bool at_last;		  /* returns also of functions that others go on as */
	unsigned int place_flags; /* of uprobe/place.h: what the kernel does */
};

struct points {
	const struct points_opts *opts;
	struct call_event *events;
	size_t nr_events, cap_events;
	struct call_args *args;
	size_t nr_args, cap_args;
	struct point *v;
	size_t nr, cap;
	size_t nr_dear; /* of v */
	char **strings; /* its own */
	size_t nr_strings, cap_strings;
	struct points_files
		*files; /* that points may be in, once they are needed (points_files.h) */
};

/* o must stay. */
void points_init(struct points *p, const struct points_opts *o);
/* Functions and USDT probes of files, by src/uprobe/spec.h. 0 or negative errno, logged. */
int points_add_uprobes(struct points *p, const char *text);
/* A function of the kernel. */
int points_add_kprobe(struct points *p, const char *function);
/*
 * "category:name", both may be globs. is_until: it ends what began at those before it.
 */
int points_add_tracepoint(struct points *p, const char *text, bool is_until);
/*
 * Polls of Tokio's tasks (points_tokio.c): in the file of a program, "" = in all files of the
 * processes.
 */
int points_add_polls(struct points *p, const char *program);

/* All have been added: the children that looked for them end. */
void points_end(struct points *p);
void points_release(struct points *p);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Frames of Python in stacks. The kernel follows their chain in processes whose interpreter has
 * been found, and leaves words behind the native frames (bpf/python.h). Here interpreters are
 * found, words get names, and each run of them takes the place of the native frame that ran it.
 */
#ifndef BPFPROF_COLLECT_CAPTURE_PYTHON_H
#define BPFPROF_COLLECT_CAPTURE_PYTHON_H

#include "collect/arena.h"
#include "collect/defer.h"
#include "collect/python_merge.h"
#include "proc/proc.h"
#include "profile/lacks.h"
#include "profile/profile.h"
#include "python/ask.h"
#include "reader/reader.h"
#include "unwind/store.h"

/* What is known of an interpreter; images of processes refer to it by its index + 1. */
struct python_program {
	struct python_found found;
	uint32_t row; /* that the kernel goes by, 0 = there is none left */
	uint32_t uid; /* who ran it first */
	bool is_mute; /* its memory could not be read in time: it is not asked again */
};

/* A frame that has no name yet. */
struct python_pending {
	uint32_t frame, program, pid;
	uint64_t word;
};

struct capture_python {
	struct profile *profile; /* borrowed, as is all up to rows */
	struct store *store;
	struct reader *reader;
	struct lacks *lacks;
	struct python_layout *rows; /* the kernel's, PYTHON_ROWS */
	struct python_program *programs;
	size_t nr, cap;
	struct python_pending *pending;
	size_t nr_pending, cap_pending;
	uint64_t begun_ns;	    /* the recording */
	uint64_t named_ns;	    /* when names were last asked for */
	uint64_t nr_stacks, nr_cut; /* not to the oldest frame: memory not there, or too many */
};

/*
 * What is known of the interpreter of an image, which is looked for when m, a mapping of it, is of
 * a file that holds one. NULL: it has none, or none that was found so far.
 */
const struct python_program *capture_python_find(struct capture_python *c, struct process *p,
						 struct proc_image *image,
						 const struct proc_mapping *m);

/* The frames of a thread that sleeps, read out of its memory into the item. */
void capture_python_read(const struct capture_python *c, const struct python_program *program,
			 struct defer_item *item);

/* A row of READER_PYTHON_CHAIN. */
struct python_chain {
	uint32_t pid, unused;
	uint64_t thread; /* the thread pointer */
	struct python_layout layout;
};

/* In the child: the words of a row's frames. */
ssize_t capture_python_chain(const void *row, void *answer, size_t max);

/* A frame of the profile for a word; its name is asked for later. */
uint32_t capture_python_frame(struct capture_python *c, uint32_t pid, uint32_t module,
			      const struct python_program *program, uint64_t word);

/*
 * Asks for the names of new frames, at once or when the last time is a while ago. False: there are
 * none.
 */
bool capture_python_name(struct capture_python *c, bool at_once);

void capture_python_release(struct capture_python *c);

#endif

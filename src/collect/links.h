/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Points, where the programs at calls stand, and their links to the kernel: many functions of a
 * file by one link where the kernel has it (6.6), by one each elsewhere.
 */
#ifndef BPFPROF_COLLECT_LINKS_H
#define BPFPROF_COLLECT_LINKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/file_id.h"
#include "bpf/calls.h"

struct bpf_program;

enum point_kind {
	POINT_UPROBE, /* an instruction of a file */
	POINT_KPROBE, /* a function of the kernel */
	POINT_TRACEPOINT,
};

/*
 * A file that points are in, which stays open: what was looked into is what is probed, wherever its
 * path leads by now.
 */
struct point_file {
	const char *path;  /* as messages have it; others have another one */
	const char *shown; /* what it was called when it was mapped */
	int fd;
	char at[32]; /* for the kernel to open it once more: "/proc/self/fd/7" */
	struct file_id id;
};

/* A place of an event: several may be of one. The strings belong to whoever made it. */
struct point {
	enum point_kind kind;
	uint32_t event;	   /* index of the struct call_event that is counted here */
	uint32_t args;	   /* index of the struct call_args by which arguments are read */
	const char *where; /* the file, the function, or "category:name" */
	const struct point_file *file; /* NULL: it is in none */
	uint64_t id;		       /* of a tracepoint */
	uint64_t offset;	       /* in the file; behind the function */
	uint64_t semaphore; /* of a USDT probe: where in the file it is counted up; 0 = none */
	bool by_probe;	    /* the return is seen by a return probe at the same place */
	bool is_return;	    /* calls end here: a "ret", the tracepoint of --until */
	bool is_dear;	    /* the kernel single-steps the instruction there */
};

/* What is counted: a row of the result. */
struct call_event {
	const char *name, *where; /* "malloc", "/lib/libc.so.6" */
};

/* All that the recording of calls needs to know. */
struct calls_opts {
	const struct call_event *events;
	size_t nr_events;
	const struct call_args *args;
	size_t nr_args;
	const struct point *points;
	size_t nr_points;
	bool timed;	   /* from entry to return */
	bool stacks;	   /* are taken */
	bool by_process;   /* histograms are */
	bool arg_frame;	   /* values of arguments are the innermost frame of stacks */
	bool values;	   /* rows differ by something else than arguments */
	uint32_t every;	   /* one call in so many is recorded; 0 = all */
	size_t nr_dear;	   /* points that the kernel has to single-step */
	bool force;	   /* record however often they are called */
	bool may_lack;	   /* calls whose values find no room count without */
	double most_share; /* of CPU time that probes may take; 0 = as is usual */
	uint64_t min_ns;   /* of calls that are timed */
	uint64_t slow_ns;  /* of polls, what passes within those of that length is recorded */
	uint32_t max_rows; /* of values and histograms; 0 = by the number of events and CPUs */
};

/*
 * Before the programs are loaded: how they will be attached, and by that which of entry, back and
 * session are loaded.
 */
struct links_programs {
	struct bpf_program *entry, *back;  /* at functions: of files, of the kernel */
	struct bpf_program *session;	   /* both at once, where the kernel has it (6.13) */
	struct bpf_program *leave;	   /* at instructions that leave them */
	struct bpf_program *event, *until; /* at tracepoints */
};
enum links_way {
	LINKS_EACH,    /* each point has a link */
	LINKS_BY_FILE, /* those of a file have one (6.6) */
	/*
	 * The same, and one program sees a call begin and return. It says at the entry whether it
	 * wants to see the return; if not, the call costs one trap instead of two.
	 */
	LINKS_BY_SESSION,
};
enum links_way links_prepare(const struct calls_opts *o, const struct links_programs *programs);

/*
 * Whether the kernel has such links, for its attach type LINKS_MANY; and one of a program to places
 * of a file, pid > 0: in that process. Returns the descriptor or negative errno.
 */
#define LINKS_MANY 48
bool links_have_many(void);
bool links_have_sessions(void); /* LINKS_BY_SESSION */
int links_create_many(int program, const char *path, const uint64_t *offsets, size_t nr,
		      uint32_t pid);

struct links;
struct links *links_new(const struct calls_opts *o, const struct links_programs *programs,
			enum links_way way);
/*
 * Attaches all points; pid > 0: only in that process (files only). 0 or negative errno, logged;
 * -ESRCH, which is not logged: the process is gone.
 */
int links_attach(struct links *l, uint32_t pid);
/* From all. NULL is fine, here and below. */
void links_detach(struct links *l);
void links_free(struct links *l);

#endif

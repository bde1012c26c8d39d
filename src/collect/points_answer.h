/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a child is asked for that looks for points in a file, and what it answers. It has read what
 * a stranger wrote, so it may answer anything: who asked believes nothing but what
 * points_view_read() has checked.
 */
#ifndef BPFPROF_COLLECT_POINTS_ANSWER_H
#define BPFPROF_COLLECT_POINTS_ANSWER_H

#include <stddef.h>
#include <stdint.h>

#include "collect/points.h"
#include "symbol/crate_version.h"
#include "uprobe/tokio.h"

#define POINTS_MAX_ROWS	     (1u << 20)
#define POINTS_MAX_TEXT	     (64u << 20)
#define POINTS_NR_NAMED	     TOKIO_NR_NAMED
#define POINTS_REFUSED_NAMED 5 /* of Tokio, in messages */

/* What is looked for. */
enum points_what {
	POINTS_SPEC,	   /* functions or USDT probes, by uprobe/spec.h */
	POINTS_ALLOCATORS, /* alloc_points.c */
	POINTS_RUST,	   /* the same, of programs that have none of those */
	POINTS_POLLS,	   /* points_tokio.c */
};

/*
 * The question. Behind it are words of points that there are already in the file (POINTS_KNOWN()),
 * then strings: what the file is called in messages, what it was called when it was mapped, what is
 * looked for, and the words of --arg.
 */
struct points_question {
	uint32_t what; /* enum points_what */
	uint32_t nr_known;
	uint32_t nr_args;
	uint32_t nr_events, nr_points; /* of all files */
	uint32_t nr_refused;
	uint32_t args_of_jumps, place_flags;
	uint64_t found; /* functions of the same word in other files */
	uint8_t timed, all, runs, by_task, sessions, at_last;
	uint8_t has_process;
	uint8_t may_want; /* a debug file */
};
#define POINTS_KNOWN(offset, is_return) ((offset) << 1 | (is_return))

/* The answer: this, then arguments, rows, names of events, text that ends with a 0. */
struct points_head {
	int32_t err;	/* of the search, told in messages; -ENOEXEC: not told */
	uint32_t wants; /* 1: nothing was looked for, and a struct companion_wants follows */
	uint32_t nr_events, nr_args, nr_rows, text_sz;
	uint32_t messages, near, refused; /* in text; 0 = "" */
	uint32_t is_stripped;
	uint64_t found;
	uint64_t nr_jobs, nr_runs, nr_refused; /* of Tokio */
	uint64_t nr_named[POINTS_NR_NAMED];
	char tokio[CRATE_VERSION_BYTES];
};

/* A point; event and args count from 0, but of allocators args is what the cookie holds. */
struct points_row {
	uint64_t offset, semaphore;
	uint32_t event, args;
	uint8_t by_probe, is_return, is_dear, pad[5];
};

/* An answer that makes sense. All is within its bytes, which must stay. */
struct points_view {
	const struct points_head *head;
	const struct call_args *args;
	const struct points_row *rows;
	const uint32_t *names;
	const char *text;
};

/* 0 or -EBADMSG. bytes are aligned as malloc() does. */
int points_view_read(struct points_view *v, enum points_what what, const void *bytes, size_t sz);

/* What a child was told that it cannot say by a row. */
struct points_told {
	uint64_t found;
	bool is_stripped;
	char *near;    /* a name near to one that was not found, or NULL */
	char *refused; /* of Tokio: instances that take no probe, or NULL */
	uint64_t nr_jobs, nr_runs, nr_refused, nr_named[POINTS_NR_NAMED];
	char tokio[CRATE_VERSION_BYTES]; /* its version, "" = none */
};

/*
 * Puts what was found behind the first nr_known points. messages ends with a 0. How many bytes, or
 * -E2BIG.
 */
ssize_t points_answer_put(const struct points *p, size_t nr_known, const struct points_told *told,
			  int err, const char *messages, void *to, size_t max);

#endif

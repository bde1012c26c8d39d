/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The side of the reader that forks: what goes over its socket. For reader.c and nursery.c only. */
#ifndef BPFPROF_READER_NURSERY_H
#define BPFPROF_READER_NURSERY_H

#include "reader/reader.h"

/*
 * A question. With it go descriptors: the memory (the question, then the answer from the next page
 * on), the end of a socket that the child tells at, and those of the question.
 */
struct nursery_order {
	uint32_t task, nr_fds;
	uint64_t question_sz, answer_at, max_sz, timeout_ns;
};

/*
 * A child tells that it has begun, and that it is done; then with what it has opened. Before it may
 * have got so far, or behind what it told, the nursery tells that there is one.
 */
struct nursery_report {
	int32_t pid;
	int16_t done; /* false: it has begun */
	int16_t born; /* all that the nursery says */
	int64_t err;
	uint64_t sz;
};

/* Instead of a task: a child that stays. Its orders come without descriptors. */
#define NURSERY_STEADY UINT32_MAX

#define NURSERY_MAX_FDS (READER_MAX_FDS + 2)

/* Messages with descriptors; -1 for what is missing. Bytes, 0 at the end, or negative errno. */
int nursery_send(int socket, const void *bytes, size_t sz, const int *fds, size_t nr_fds);
int nursery_receive(int socket, void *bytes, size_t sz, int fds[NURSERY_MAX_FDS]);

/* What reads and writes nothing, also in a root that has no devices. Below 0: there is none. */
int nursery_null(void);

/* What the nursery tells in memory, which it alone writes. */
struct nursery_told {
	uint64_t first_bytes; /* that it began with */
	uint64_t ready;	      /* 1 = it has no file any more but its socket */
	uint64_t spent_ns;    /* so far, with its children that have ended */
};

/* Takes orders from a socket until it is closed. Its children do not have what it tells at. */
void nursery_run(int socket, const struct reader_task *tasks, size_t nr, struct nursery_told *told)
	__attribute__((noreturn));

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The child that stays, for what is asked thousands of times a second: memory and mappings of other
 * processes. A process can have whoever looks at these wait for ever, where not even SIGKILL ends
 * it. Such a child is left behind, and another one takes over; of that process nothing is asked for
 * a while. How many may be left behind is bounded, in all and for each user.
 *
 * For reader.c and nursery.c only.
 */
#ifndef BPFPROF_READER_STEADY_H
#define BPFPROF_READER_STEADY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "reader/reader.h"

#define STEADY_HUNG   8	  /* that may be left behind, in all */
#define STEADY_SILENT 256 /* processes that are remembered; the last ones */

#define STEADY_ROWS_SZ	 (64u << 10) /* of one order */
#define STEADY_ANSWER_SZ (20u << 20) /* 65,530 mappings, the most by default, have some 6 MB */
#define STEADY_ENOUGH	 (2u << 20)  /* of an answer: the rest is asked for again */

/* Shared memory. An answer is the size of each row's (int64_t), then its bytes, up to a word. */
struct steady_memory {
	uint64_t nr_done; /* rows that have been answered */
	uint64_t bytes;	  /* of their answers */
	uint8_t rows[STEADY_ROWS_SZ];
	uint8_t answer[STEADY_ANSWER_SZ];
};

struct steady {
	int socket, pidfd; /* of the child; -1 = there is none */
	pid_t pid;
	struct steady_memory *memory;
	struct steady_left {
		int pidfd;
		uint32_t pid, uid; /* of the process that it hangs at */
	} left[STEADY_HUNG];
	size_t nr_left;
	struct steady_silent {
		uint32_t pid;
		uint64_t until_ns, wait_ns;
	} silent[STEADY_SILENT];
	uint32_t nr_silent; /* all there were */
	uint32_t nr_told;
	bool patient; /* who is asked next may take as long as who waits for a CPU */
};

void steady_init(struct steady *s);
/* Ends the child, or leaves it. */
void steady_stop(struct steady *s);
void steady_release(struct steady *s);

/* Asks the nursery, at that socket, for a child. 0 or negative errno. */
int steady_start(struct steady *s, int socket, pid_t nursery);

/*
 * Asks for rows of a task, as in reader_ask_each(). How many of them are done with; *err: 0, or
 * -EPIPE: the child is gone, and the next row has not been answered.
 */
size_t steady_ask(struct steady *s, uint32_t task, size_t row_sz, const void *rows, size_t nr,
		  int *err, void (*take)(void *arg, size_t i, const void *bytes, ssize_t sz),
		  void *arg);

/* Is nothing to be asked of that process? */
bool steady_refuses(struct steady *s, uint32_t pid);

/*
 * That process may be asked at once, and the next question has more time: beside load, what held
 * its lock may just have waited for a CPU. Waits for a child that hangs at it, so that no second
 * one does. False: that one still hangs.
 */
bool steady_pardon(struct steady *s, uint32_t pid);

/* In the child. */
void steady_run(int socket, int memory, const struct reader_task *tasks, size_t nr)
	__attribute__((noreturn));

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Whatever belongs to a profiled process (its files, and what is in them) is touched by children
 * only, one for each task. A file may lie on a file system that never answers, be made to take
 * hours, or find an error in a parser: that costs the child, and that file's table or names.
 *
 *	bpfprof -- question, descriptors --> nursery -- fork --> child, which answers and ends
 *
 * The nursery is forked when bpfprof is still small; it looks at nothing itself. A child has a
 * deadline, after which the kernel ends it, limits of memory, and no rights (jail.h); but one that
 * opens files keeps those that it needs to, and reads none. What is asked very often is answered by
 * one child that stays (steady.h).
 *
 * Question and answer are bytes in memory that is sealed against shrinking; so neither side can
 * hurt the other by taking it away. Who asks checks what it is answered.
 */
#ifndef BPFPROF_READER_READER_H
#define BPFPROF_READER_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "reader/cost.h"

#define READER_MAX_FDS	  4
#define READER_MAX_ANSWER (96u << 20)
#define READER_STARVES_NS 1000000000ull /* more time, once, for who had no CPU in the first */

/* What a task is given, and where its answer goes. */
struct reader_work {
	const void *question;
	size_t question_sz;
	int fds[READER_MAX_FDS]; /* -1 = not given */
	void *answer;		 /* room for max_sz bytes */
	size_t max_sz;
	size_t sz; /* out: of the answer */
	int fd;	   /* out: of one that opens; -1 = none */
};

/* The rows of those who read for a recording, see collect/reading.c. */
enum reader_row {
	READER_OPEN,	      /* struct proc_open; gives a descriptor */
	READER_JIT_FILES,     /* struct jit_place, and a folder; gives one, or a file in it */
	READER_JAVA,	      /* the same; gives why it wrote no names (collect/capture_jit.c) */
	READER_HEADERS,	      /* of a file; gives struct source_headers (unwind/store_parts.h) */
	READER_TABLE,	      /* the same; gives struct table_image (unwind/table.h) */
	READER_PYTHON,	      /* struct python_place; gives struct python_found (python/find.h) */
	READER_PYTHON_CODES,  /* words of stacks; gives what they are called (python/ask.c) */
	READER_MEMORY,	      /* rows of struct peek; give memory (reader/peek.h) */
	READER_PYTHON_CHAIN,  /* rows of struct python_chain (collect/capture_python.h) */
	READER_MAPS,	      /* rows of numbers; give mappings (proc_mapper in proc/proc.h) */
	READER_COMMAND_LINES, /* rows of struct command_line (collect/command_lines.h) */
	READER_POINTS_FIND,   /* a target of probes; gives a descriptor (collect/points_files.h) */
	READER_POINTS_DEBUG,  /* struct companion_wants; gives one */
	READER_POINTS,	      /* struct points_question; gives points (collect/points_answer.h) */
	READER_POINTS_TOUCH,  /* offsets in a file, which are read; gives nothing */
	READER_NR,
};

/* Runs in a child. 0 or negative errno. */
struct reader_task {
	bool opens; /* keeps its rights, and must look into nothing */
	int (*run)(struct reader_work *w);
	/*
	 * Or: of a question that consists of rows, which begin with the number of the process
	 * that they are about (uint32_t). Answers one: how many bytes, or negative errno. Runs in
	 * a child that stays (steady.h), keeps its rights, and must look into nothing.
	 */
	ssize_t (*each)(const void *row, void *answer, size_t max);
	size_t row_sz;
};

struct reader_question {
	unsigned int task; /* index of the row */
	const void *bytes;
	size_t sz;
	const int *fds;
	size_t nr_fds;
	uint64_t timeout_ns; /* for it to be answered */
	uint64_t idle_ns;    /* it has hung when it does nothing for so long, 0 = it may wait */
	int interrupt;	     /* ends the wait when it can be read, 0 = none */
	/* Called every few milliseconds meanwhile; or NULL. */
	void (*meanwhile)(void *arg);
	void *arg;
};

struct reader_answer {
	void *bytes; /* to free(); NULL when sz is 0 */
	size_t sz;
	int fd; /* -1 = none; belongs to the caller */
};

struct reader;

/* Forks, now or when it can. The rows must stay. NULL with errno set. */
struct reader *reader_new(const struct reader_task *tasks, size_t nr);
/* CPU time of children that run, or that nobody of ours has waited for: rusage lacks it so far. */
uint64_t reader_running_ns(const struct reader *r);
/* Ends all children, and says what they took: those who died of themselves too. */
struct reader_cost reader_end(struct reader *r);
/* The same. NULL is fine. */
void reader_free(struct reader *r);

/*
 * What the task returned; or -ETIMEDOUT when it took too long (where it got no CPU, it is tried
 * once more, READER_STARVES_NS longer), -EPIPE when it died, and again when it was tried anew;
 * -EINTR when it was interrupted; -EAGAIN or -ENOMEM when no process could be started, -ENOMEM also
 * when the task ran out of memory; -EBUSY when too much time was lost to such. The answer is empty
 * unless this is 0.
 */
int reader_ask(struct reader *r, const struct reader_question *q, struct reader_answer *a);

/*
 * Asks a task that answers row by row, and gives its answers to take(), in their order: sz bytes,
 * or negative errno: -ETIMEDOUT of rows whose process lets whoever looks at it wait, which costs
 * time once, and is told.
 */
void reader_ask_each(struct reader *r, unsigned int task, const void *rows, size_t nr,
		     void (*take)(void *arg, size_t i, const void *bytes, ssize_t sz), void *arg);

/* Is that a process that does not let itself be looked at? */
bool reader_is_silent(struct reader *r, uint32_t pid);
/*
 * The next reader_ask_each() asks it all the same, and gives it more time, of a second or so. For
 * who would refuse something for its sake. False: it is silent beyond doubt.
 */
bool reader_pardon(struct reader *r, uint32_t pid);

/*
 * Of files that could not be read the first few are named: counts one, false when there were more,
 * and says so once.
 */
bool reader_tells(uint32_t *nr);

/* Is that process one of the children, or was? */
bool reader_is_child(const struct reader *r, pid_t pid);

#endif

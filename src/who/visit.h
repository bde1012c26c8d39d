/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A child's visit to processes: it opens what they and their containers have, gives up its rights,
 * then reads and looks into it. One question is about several processes, since most answer at once.
 */
#ifndef BPFPROF_WHO_VISIT_H
#define BPFPROF_WHO_VISIT_H

#include <stdbool.h>
#include <stdint.h>

#include "reader/reader.h"
#include "who/container.h"
#include "who/fact.h"

#define VISIT_MAX      32
#define VISIT_ROOT_MAX 512

struct visit_process {
	uint64_t start; /* as in /proc/PID/stat: it is that process, or nobody */
	uint32_t pid;
	uint32_t asks_runtime;	       /* what the files of runtimes say of its container */
	char id[CONTAINER_ID_LEN + 1]; /* of the container, "" = none */
	char pod_uid[40];
};

struct visit_question {
	char root[VISIT_ROOT_MAX]; /* of the machine; "" = ours */
	uint32_t nr, pad;
	struct visit_process v[VISIT_MAX];
};

/* The row of the reader. */
int visit_run(struct reader_work *w);

/* Of an answer: false when it makes no sense, which is all that is to be said of it then. */
bool visit_each(const void *answer, size_t sz, uint32_t nr_processes,
		void (*fn)(void *arg, uint32_t process, enum fact fact, const char *value,
			   size_t len),
		void *arg);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The two halves of sending: what goes out (push.c), and what comes back (answers.c). */
#ifndef BPFPROF_PUSH_PUSH_PARTS_H
#define BPFPROF_PUSH_PUSH_PARTS_H

#include "push/push.h"
#include "push/queue.h"
#include "push/sender.h"

#define MAX_TROUBLE 200

struct way {
	struct push *push;
	struct address address;
	struct exchange *exchange;
	struct queue queue;
	struct item *sending;
	uint64_t rest_until_ns;
	unsigned int failures; /* in a row */
	struct push_counts counts;
	char *trouble;
};

struct push {
	struct way *ways;
	size_t nr;
	struct labels labels;
	struct spool spool;
	struct sender *sender;
	uint32_t max_series;
	uint64_t retry_ns;
	double min_weight;
	bool now;
};

/* It is counted, and gone. */
void way_drop(struct way *w, struct item *item, enum push_drop why);

/* One printable line of what went wrong, logged when it is another one than the last time. */
void way_set_trouble(struct way *w, const char *what, const char *text, size_t len);

/* Nothing is sent for a while: for so long, or 0 = longer each time. */
void way_rest(struct way *w, uint64_t asked_ns);

/* Of a struct way: what became of the item that it sends. */
void way_answered(void *arg, const struct answer *a);

#endif

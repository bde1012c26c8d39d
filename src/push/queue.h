/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What waits to be sent: items in memory, or in files of the spool, a folder that one process has
 * at a time. A file has one line about itself, then the parts of its request; its name begins with
 * the time of its window, so the order of names is that of time.
 */
#ifndef BPFPROF_PUSH_QUEUE_H
#define BPFPROF_PUSH_QUEUE_H

#include "push/engines.h"

struct item {
	uint64_t window_ns; /* when its window ended, CLOCK_REALTIME */
	uint64_t born_ns;   /* when it was queued, CLOCK_MONOTONIC */
	uint64_t seq;
	uint8_t *bytes; /* NULL: in its file */
	size_t *lens, nr, len;
	char *name; /* of its file in the spool; NULL: in memory only */
	unsigned int tries, broken;
};

struct queue {
	char *key;	 /* in names of files: engine and address */
	struct item **v; /* by time, oldest first */
	size_t nr, cap;
};

struct spool {
	int dir; /* -1 = memory only */
	int lock;
	uint64_t cap_bytes, bytes; /* of all queues */
	uint64_t seq;
	uint64_t quiet_until_ns; /* after it could not be written */
};

/* 0, or a negative errno after a message: not writable, not ours, or another process has it. */
int spool_open(struct spool *s, const char *dir, uint64_t cap_bytes);
void spool_close(struct spool *s);
/* What an earlier process has left for that queue; returns how many. */
size_t spool_resume(struct spool *s, struct queue *q);

/* Takes the request. */
struct item *queue_add(struct spool *s, struct queue *q, struct request *r, uint64_t window_ns);
/* Gives the item a file and forgets its bytes. False: it stays in memory. */
bool queue_spool(struct spool *s, struct queue *q, struct item *item);
/* Bytes of an item in memory, from its file if need be. False: it is damaged. */
bool item_load(const struct spool *s, struct item *item);
/* Out of the queue, with its file. */
void queue_remove(struct spool *s, struct queue *q, struct item *item);
/* Frees all, and keeps files. */
void queue_release(struct queue *q);

#endif

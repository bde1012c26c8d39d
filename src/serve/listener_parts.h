/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* For the files of the listener only: connections (listener.c), and what they ask (answers.c). */
#ifndef BPFPROF_SERVE_LISTENER_PARTS_H
#define BPFPROF_SERVE_LISTENER_PARTS_H

#include "serve/access.h"
#include "serve/address.h"
#include "serve/library.h"
#include "serve/listener.h"
#include "serve/parts.h"

#define LISTENER_MAX_ASKERS  8
#define LISTENER_MAX_SECONDS 300

/* Who waits for windows. */
struct asker {
	struct MHD_Connection *connection;
	int fd;
	enum part part;
	uint64_t seconds, asked_ns; /* asked: CLOCK_MONOTONIC */
	struct profile *merged;
	bool is_ready;
	struct asker *next;
};

/* A connection, so that none is held open for long. */
struct client {
	struct MHD_Connection *connection;
	int fd;
	uint64_t until_ns; /* 0: it waits for us */
	struct client *prev, *next;
};

/* Answers that all get who ask for them before the next window: those who read slowly share one. */
enum made { MADE_PAGE, MADE_PPROF, MADE_NR };

struct listener {
	struct library lib;
	struct MHD_Daemon *daemon;
	struct address address;
	struct access access;
	struct metrics *metrics;
	uint64_t window_ns, window_end_ns; /* CLOCK_MONOTONIC; of the start, before the first one */
	uint64_t nr_windows;
	struct profile *last[PART_NR];		     /* NULL = none so far */
	struct MHD_Response *made[PART_NR][MADE_NR]; /* of these, when they are asked for */
	struct asker *askers;
	struct client *clients;
};

/* What a request is about: queues an answer. Or returns an asker, whose connection is to wait. */
enum MHD_Result answers_get(struct listener *l, struct MHD_Connection *c, const char *path,
			    struct asker **waits);
/* The answer to one that has waited. */
enum MHD_Result answers_put_profile(struct listener *l, struct asker *a);
/* What was made of the last window is needed by nobody any more but those who read it. */
void answers_forget(struct listener *l, enum part part);
/* Any answer in a line of text. */
enum MHD_Result answers_put_text(struct listener *l, struct MHD_Connection *c, unsigned int status,
				 const char *text);
enum MHD_Result answers_refuse(struct listener *l, struct MHD_Connection *c,
			       enum access_verdict verdict);

/* The page around the flame graphs: constant. */
extern const char page_text[];

#endif

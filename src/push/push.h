/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Profiles to engines that keep them: Pyroscope and Parca (pprof), OpenTelemetry Collectors (OTLP).
 *
 * push_window() makes series of a profile, by who its processes are and by what was waited for, and
 * queues a request for each engine; what an engine cannot take at once is split. push_turn() moves
 * what is queued, and never waits. What an engine does not take for now waits in the spool, a
 * folder, or in memory without one, both with a cap. All that is dropped is counted by its reason.
 *
 *	p = push_open(&opts);
 *	poll on push_fd(p), and whenever it is readable: push_turn(p)
 *	every window: push_window(p, profile, who, arg)
 *	push_flush(p, deadline); push_close(p);
 *
 * HTTP is libcurl's, loaded when it is first needed.
 */
#ifndef BPFPROF_PUSH_PUSH_H
#define BPFPROF_PUSH_PUSH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/labels.h"
#include "base/opt.h"

struct profile;
struct push;

struct push_opts {
	/* "pyroscope=URL", "parca=URL", "otlp=URL"; "otlp" alone: by OTEL_EXPORTER_OTLP_*. */
	const struct opt_strings *to;
	const struct opt_strings *labels; /* "k=v" of all series; NULL = none */
	const char *token_file;		  /* of all engines; NULL = BPFPROF_PUSH_TOKEN, or none */
	const char *tenant;		  /* X-Scope-OrgID */
	const char *ca_file, *cert_file, *key_file;
	bool insecure;	      /* http to other hosts than this one; certificates are checked */
	const char *spool;    /* folder, made if it is missing; NULL = memory */
	uint64_t spool_bytes; /* cap of the spool, or of memory; 0 = PUSH_SPOOL_BYTES */
	double min_weight;    /* parts of a series below this share are folded into callers; 0..1 */
	uint32_t max_series;  /* of a window; the least become "other"; 0 = PUSH_MAX_SERIES */
	uint64_t timeout_ns;  /* of a request; 0 = PUSH_TIMEOUT_NS */
	uint64_t retry_ns;    /* first wait after a failure, 0 = 5 s; then half more each time */
	bool now;	      /* time of windows: they end now (recordings of long ago) */
};

#define PUSH_SPOOL_BYTES (256ull << 20)
#define PUSH_MAX_SERIES	 1000
#define PUSH_TIMEOUT_NS	 10000000000ull

/* Reasons why something was dropped: enum, key, sentence. Append only. */
#define PUSH_DROPS(X)                                                                              \
	X(REFUSED, "refused", "the engine refused it")                                             \
	X(TOO_OLD, "too_old", "it is older than the engine takes")                                 \
	X(CAP, "cap", "the spool was full")                                                        \
	X(POISON, "poison", "the connection broke twice while it was sent")                        \
	X(UNFIT, "unfit", "bpfprof's own check found it unfit to be sent")                         \
	X(GAVE_UP, "gave_up", "the engine took nothing for 5 minutes, and there is no spool")      \
	X(BROKEN, "broken", "the file in the spool was damaged")

#define PUSH_DROP_ENUM(name, key, text) PUSH_DROP_##name,
enum push_drop { PUSH_DROPS(PUSH_DROP_ENUM) PUSH_NR_DROPS };

struct push_drop_info {
	const char *key, *text;
};
extern const struct push_drop_info push_drops[PUSH_NR_DROPS];

/* Of one engine since push_open(). An item is a request, of one window or of a part of it. */
struct push_counts {
	const char *engine; /* "pyroscope" */
	const char *url;    /* as requests go to it */
	uint64_t windows;   /* that were given to push_window() */
	uint64_t series;    /* of these, and how many of them went into "other" */
	uint64_t folded;
	uint64_t queued, sent;		 /* items */
	uint64_t sent_bytes;		 /* bodies of these */
	uint64_t rejected;		 /* profiles that the engine named as rejected in its 200 */
	uint64_t requests, retried;	 /* attempts, and those that were not the first */
	uint64_t spooled;		 /* items that were written to the spool */
	uint64_t resumed;		 /* found there when it was opened */
	uint64_t waiting, waiting_bytes; /* now: queued, being sent, or in the spool */
	uint64_t in_memory;		 /* of these: not in the spool, so they end with us */
	uint64_t dropped[PUSH_NR_DROPS];
	uint64_t last_ns;    /* the last item that was sent: from push_window() to the answer */
	uint64_t encode_ns;  /* CPU time of making requests */
	const char *trouble; /* the last failure, one line, printable; NULL = the last was sent */
};

/*
 * NULL with errno set after one sentence: an unknown engine, an address that is none, a token that
 * others can read, a folder that cannot be written, no libcurl. Starts nothing else; resumes what
 * the spool has at the first turn.
 */
struct push *push_open(const struct push_opts *o);

/* Readable when push_turn() has something to do. The same one until push_close(). */
int push_fd(const struct push *p);
/* Sends, receives, retries, as far as it goes without waiting. */
void push_turn(struct push *p);

/*
 * Queues a window, with its ledger as profiles of their own. who names a process: labels that stay
 * valid until push_window() returns, NULL = not known; service_name is the name of the process when
 * they have none, or who is NULL. Returns 0, or a negative errno after a message when there is
 * nothing in the profile that could be sent.
 */
typedef const struct labels *(*push_who)(void *arg, uint32_t pid);
int push_window(struct push *p, const struct profile *window, push_who who, void *arg);

/*
 * Takes turns until nothing waits, or nothing but what has to wait for longer than until
 * deadline_ns (CLOCK_MONOTONIC). 0, or -ETIMEDOUT: something still waits, in the spool if it can.
 */
int push_flush(struct push *p, uint64_t deadline_ns);

/* NULL: there are not so many engines. */
const struct push_counts *push_counts(const struct push *p, size_t engine);

/* What waits goes to the spool; without one it is dropped. NULL is fine. Not counted afterwards. */
void push_close(struct push *p);

#endif

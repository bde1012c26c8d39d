/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What processes are called: service, container, pod, unit and so on, from their environment, their
 * cgroup and the files of container runtimes; then the rules of the user (who/rules.h).
 *
 *	pids --> cache --- new ones ---> /proc: cgroup, names      text that the kernel makes
 *	           |                     a child: environment, files of containers and runtimes
 *	       rules, cap on series
 *	           |
 *	  labels of a process, and of the series that it belongs to
 *
 * What a process can make slow or hostile is read by a child with a deadline and, when it looks
 * into what it has opened, without rights (reader/reader.h). Of the environment the variables in
 * who/environment.c are kept, and nothing else leaves the child.
 */
#ifndef BPFPROF_WHO_WHO_H
#define BPFPROF_WHO_WHO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/labels.h"
#include "reader/cost.h"

struct who_options {
	const char *root;    /* below which /proc, /run and so on are; "" = this machine's */
	const char *rules;   /* a file; NULL = none */
	uint32_t max_series; /* with further ones service_name is "other"; 0 = WHO_MAX_SERIES */
};
#define WHO_MAX_SERIES 500

struct who_counts {
	uint64_t processes; /* that are known now */
	uint64_t series;    /* that were given out */
	uint64_t others;    /* processes that came when there were too many series */
	uint64_t dropped;   /* by rules */
	uint64_t unread;    /* whose environment and files could not be read in time */
};

struct who;

/*
 * Forks the child's parent: call it while the program is small. NULL with errno set; what is wrong
 * with the rules was logged.
 */
struct who *who_new(const struct who_options *o);
void who_free(struct who *w);

/*
 * Finds out about those that are not known yet, all at once. Takes some 0.2 ms for each new
 * process, and up to 0.3 s for one that does not let itself be read. meanwhile, or NULL, is called
 * every few milliseconds.
 */
void who_look(struct who *w, const uint32_t *pids, size_t nr, void (*meanwhile)(void *arg),
	      void *arg);

/*
 * All that is known of a process: service_name, service_from (by which rule it is called so), comm,
 * exe, host, and where there are any container_id, container, image, pod, pod_uid, namespace, unit,
 * version, environment; with what the rules have set. NULL: a rule drops it. A process that was not
 * looked for is looked for now. Valid until the next who_look() or who_sent().
 */
const struct labels *who_labels(struct who *w, uint32_t pid);

/*
 * Of these, what a series is told from others by: service_name, container, pod, namespace, host,
 * and labels that rules have set. NULL: dropped.
 */
const struct labels *who_series(struct who *w, uint32_t pid);

/*
 * A window was sent: in the next one each process is looked at again if it is another one by then,
 * or runs another program. Of those that have ended what was found is kept for one more, as that
 * may have samples of them, too; of those that nobody asks for, for ten.
 */
void who_sent(struct who *w);

/*
 * The line of the rules by which it is dropped, 0 = none; then what it would be called without is
 * in *l, which the caller owns nothing of.
 */
uint32_t who_dropped_by(struct who *w, uint32_t pid, const struct labels **l);

/* Reads the rules again. Negative errno: it was logged, and those of before stay. */
int who_reload(struct who *w);

struct who_counts who_counts(const struct who *w);
/* Ends its children, and says what they took; nobody is looked at any more. */
struct reader_cost who_end(struct who *w);
/* Is that process one of its children? */
bool who_is_child(const struct who *w, uint32_t pid);

#endif

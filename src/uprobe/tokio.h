/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The instances of tokio::runtime::task::raw::poll in a program of Rust, one or two for each type
 * of task, and what their tasks are called. Compilers drop the type from the names of most
 * programs, but an instance calls the body of its task, which has a name:
 *
 *	raw::poll -> Harness::poll -> Core::poll -> app::handle::{{closure}}	release
 *	raw::poll -> app::handle::{{closure}}					fat LTO
 *
 * Glue that drops the task spells its type, too, but equal glue is one function for many types.
 */
#ifndef BPFPROF_UPROBE_TOKIO_H
#define BPFPROF_UPROBE_TOKIO_H

#include <stdbool.h>
#include <stddef.h>

#include "uprobe/functions.h"
#include "uprobe/place.h"

enum tokio_named {
	TOKIO_BY_TYPE, /* the instance's own name has it (v0 mangling) */
	TOKIO_BY_CALL, /* of the body */
	/* Guessed: such names end in "?". */
	TOKIO_BY_DROP,	  /* no instance with another name drops by that function */
	TOKIO_BY_FUTURE,  /* of the type that it polls first, which may be within the task's */
	TOKIO_BY_ADDRESS, /* "task@+0x1234" */
	TOKIO_NR_NAMED
};

struct tokio_poll {
	const struct uprobe_function *function;
	enum tokio_named named;
	char *name; /* instances of equal names are of one type, with another scheduler */
	/* It runs a closure of spawn_blocking(), or a worker: no task is polled. */
	bool is_job;
};

/* "by its type", "by the body that it calls"... */
const char *tokio_named_text(enum tokio_named named);

/* Whether it has any instance, by the linker's names alone. */
bool tokio_has_polls(const struct functions *fs);

/*
 * All instances, by address; to be freed with tokio_polls_free(). p may be NULL where code cannot
 * be decoded.
 */
size_t tokio_polls_find(struct functions *fs, struct places *p, struct tokio_poll **v);
void tokio_polls_free(struct tokio_poll *v, size_t nr);

/* Functions that run a worker's tasks: one call is a poll and what the task wakes meanwhile. */
bool tokio_is_run(const char *shown);

#endif

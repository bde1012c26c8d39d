/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Contexts in a program of Tokio without names, by the form of its stacks: functions are told
 * apart by where they begin, and what a thread waits by (epoll, a futex and its value, another
 * system call) says which of them park it. See context_form.c.
 */
#ifndef BPFPROF_PROFILE_CONTEXT_FORM_H
#define BPFPROF_PROFILE_CONTEXT_FORM_H

#include "profile/context.h"

struct context_forms {
	const struct profile *p;
	bool *nameless; /* per module: it has the runtime, and no name of it */
	struct form *v; /* of threads of one process and name, in their order */
	size_t nr;
	struct form_stack *stacks;
	size_t nr_stacks;
};

void context_forms_init(struct context_forms *f, const struct profile *p);
void context_forms_release(struct context_forms *f);

/*
 * Context, role and own frames of sample i. False: it is of no process in which threads of the
 * runtime were found.
 */
bool context_form_of(const struct context_forms *f, size_t i, struct context_of *to);

#endif

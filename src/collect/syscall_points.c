/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where system calls begin and end, and which error they return. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "collect/points_parts.h"
#include "collect/syscalls.h"

/* What is returned, bytes into the record of the tracepoint of the end; raw or not. */
#define RETURNED_RAW 8
#define RETURNED     16

/* The same for all; the number is 1, behind that of no arguments at all. */
static void add_args(struct points *p, int64_t displacement)
{
	const struct call_args error = { .nr_args = 1,
					 .at_return = 1,
					 .v[0] = { .kind = CALL_ARG_FIELD,
						   .bytes = 8,
						   .is_signed = 1,
						   .is_error = 1,
						   .displacement = displacement } };

	points_add_args(p, &(struct call_args){});
	points_add_args(p, &error);
}

static void add_all(struct points *p)
{
	add_args(p, RETURNED_RAW);
	for (uint32_t nr = 0; nr < SYSCALLS_MAX; nr++) {
		const char *known = syscalls_name(nr);
		char *name = known ? xstrdup(known) : xasprintf("system call %u", nr);

		points_add_event(
			p, &(struct call_event){ .name = points_string(p, name), .where = "" });
	}
}

/* Both are of the event that the first of them made. */
static int add_one(struct points *p, const char *name)
{
	char *enter = xasprintf("syscalls:sys_enter_%s", name);
	char *leave = xasprintf("syscalls:sys_exit_%s", name);
	uint32_t event = p->nr_events;
	int err = points_add_tracepoint(p, enter, false);

	if (!err) {
		p->events[event].name = points_string(p, xstrdup(name));
		p->events[event].where = "";
		p->v[p->nr - 1].args = 0;
		err = points_add_tracepoint(p, leave, true);
	}
	if (!err) {
		p->v[p->nr - 1].event = event;
		p->v[p->nr - 1].args = 1;
	}
	free(enter);
	free(leave);
	return err;
}

int syscalls_add(struct points *p, const char *list)
{
	char *copy, *rest, *name;
	int err = 0;

	if (!list) {
		add_all(p);
		return 0;
	}
	add_args(p, RETURNED);
	copy = rest = xstrdup(list);
	while (!err && (name = strsep(&rest, ", ")))
		err = *name ? add_one(p, name) : 0;
	free(copy);
	return err;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Conditions on a window, as --on takes them: "runq_p99>20ms", "cpu>90%", "lost>0". */
#ifndef BPFPROF_AGENT_TRIGGER_H
#define BPFPROF_AGENT_TRIGGER_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/agent.h"

struct trigger_quantity;

struct trigger {
	const char *text; /* as given; borrowed */
	const struct trigger_quantity *of;
	bool below, or_equal; /* else above */
	double value;
};

/* 0, or -EINVAL after one sentence. */
int trigger_parse(struct trigger *t, const char *text);

/* Does the window meet it? *why, to be freed, says how: "runq_p99>20ms: 31 ms". */
bool trigger_is_met(const struct trigger *t, const struct profile *p, const struct agent_facts *f,
		    char **why);

/* Would more samples make it worse? */
bool trigger_is_own(const struct trigger *t);

#endif

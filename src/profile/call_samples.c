/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Stacks of one frame, so that views of stacks have something to show of calls. */
#include "profile/call_samples.h"

#include <string.h>

#include "profile/calls.h"

#define EVENT "calls"

static void take_facts(struct profile *to, const struct profile *p)
{
	const struct profile_meta *m = &p->meta;

	to->meta = *m;
	to->meta.command = profile_string(to, profile_str(p, m->command));
	to->meta.event = profile_string(to, EVENT);
	to->meta.event_note = 0;
	to->meta.target = profile_string(to, profile_str(p, m->target));
	to->meta.host = profile_string(to, profile_str(p, m->host));
	to->meta.kernel = profile_string(to, profile_str(p, m->kernel));
	to->meta.arch = profile_string(to, profile_str(p, m->arch));
	to->meta.version = profile_string(to, profile_str(p, m->version));
	to->meta.call_graph = to->meta.runtimes = 0;
	to->meta.debug_packages = to->meta.debug_missing = to->meta.lacks = 0;
	to->meta.by_weight = m->timed;
	memcpy(to->counters, p->counters, sizeof(to->counters));
}

static uint32_t stack_of(struct profile *to, const char *function)
{
	uint32_t name = profile_string(to, function);
	uint32_t frame = profile_frame(to, FRAME_USER, 0, name);

	profile_name_frame(to, frame, name, 0);
	return profile_stack(to, &frame, 1, UNWIND_END_ROOT, 0);
}

struct profile *call_samples(const struct profile *p)
{
	struct profile *to;

	if (!p->nr_call_rows)
		return NULL;
	to = profile_new();
	take_facts(to, p);
	for (size_t i = 0; i < p->nr_call_rows; i++) {
		const struct call_row *row = &p->call_rows[i];
		const char *process = profile_str(p, row->process);
		struct sample s = { .count = row->calls,
				    .weight = p->meta.timed ? row->sum_ns : row->calls,
				    .pid = row->pid,
				    .tid = row->pid };

		s.process = s.thread = profile_string(to, *process ? process : EVENT);
		s.ustack = stack_of(to, calls_event_name(p, row->event));
		profile_add_sample(to, &s);
	}
	return to;
}

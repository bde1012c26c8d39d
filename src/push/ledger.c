/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Profiles with names for frames and numbers for samples. */
#include "push/ledger.h"

static struct profile *new_like(const struct profile *window, const char *command)
{
	struct profile *p = profile_new();

	p->meta.command = profile_string(p, command);
	p->meta.start_ns = window->meta.start_ns;
	p->meta.duration_ns = window->meta.duration_ns;
	return p;
}

static uint32_t frame_named(struct profile *p, const char *name)
{
	uint32_t string = profile_string(p, name);
	uint32_t frame = profile_frame(p, FRAME_KERNEL, 0, string);

	profile_name_frame(p, frame, string, 0);
	return frame;
}

/* Root first; NULL ends. */
static void add(struct profile *p, const char *const names[3], uint64_t n)
{
	struct sample s = { .count = n, .weight = n };
	uint32_t frames[3], nr = 0;

	if (!n)
		return;
	while (nr < 3 && names[nr])
		nr++;
	for (uint32_t i = 0; i < nr; i++)
		frames[nr - 1 - i] = frame_named(p, names[i]);
	s.process = s.thread = profile_string(p, "bpfprof");
	s.ustack = profile_stack(p, frames, nr, UNWIND_END_CFI_ROOT, 0);
	profile_add_sample(p, &s);
}

struct profile *ledger_counts(const struct profile *window)
{
	static const char *const kinds[] = {
		[COUNTER_FILTER] = "filtered", [COUNTER_LOST] = "lost"
	};
	struct profile *p = new_like(window, "ledger");

	add(p, (const char *const[3]){ "seen", "recorded" }, window->counters[PROF_RECORDED]);
	for (size_t i = 0; i < PROF_NR_COUNTERS; i++) {
		const struct counter_info *c = &profile_counters[i];

		if (c->kind == COUNTER_FILTER || c->kind == COUNTER_LOST)
			add(p, (const char *const[3]){ "seen", kinds[c->kind], c->key },
			    window->counters[i]);
	}
	return p;
}

struct profile *ledger_cost(const struct profile *window)
{
	struct profile *p = new_like(window, "cost");
	const struct profile_meta *m = &window->meta;

	add(p, (const char *const[3]){ "cost", "bpf programs" }, m->bpf_ns);
	add(p, (const char *const[3]){ "cost", "interrupts" }, m->interrupts_ns);
	add(p, (const char *const[3]){ "cost", "bpfprof" }, m->cpu_ns);
	return p;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writes a made-up recording of pmu with everything that outputs may have to show beyond stacks:
 * two events, columns, branches, and a stack that was not as remembered.
 *
 *	gen_pmu FILE...
 *
 * The extension of each file chooses the output.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "output/output.h"
#include "tests/unit/made.h"

static void add_event(struct profile *p, const char *name, uint64_t period, uint64_t rate_hz)
{
	struct sampled_event e = { .name = profile_string(p, name),
				   .period = period,
				   .rate_hz = rate_hz,
				   .enabled_ns = 1000,
				   .running_ns = 500 };

	profile_add_event(p, &e);
}

static void add_column(struct profile *p, const char *name, uint64_t per)
{
	profile_add_column(p,
			   &(struct value_column){ .name = profile_string(p, name), .per = per });
}

/* The second column was never counted. */
static void add_sample(struct profile *p, uint32_t event, uint64_t value, const char *stack)
{
	const struct prof_event_count counted[] = {
		{ value, 1000, 1000 }, { 2 * value, 1000, 1000 }, { 0, 1000, 0 }, { 0, 1000, 0 }
	};

	made_wait(p, 101, "app", PROF_WAIT_OF_EVENT(event), value, stack, "")->count = 1;
	profile_add_counted(p, counted);
	p->counters[PROF_SEEN]++;
	p->counters[PROF_RECORDED]++;
}

static struct profile *made(void)
{
	struct profile *p = made_profile("pmu");

	p->meta.is_time = 0;
	p->meta.by_weight = 1;
	p->meta.event = profile_string(p, "cycles");
	add_event(p, "cycles", 0, 99);
	add_event(p, "branch-misses", 1000, 0);
	add_column(p, "IPC", 1);
	add_column(p, "branch-misses/1k", 1000);
	add_sample(p, 0, 3000, "hot;main");
	add_sample(p, 1, 1000, "hot;main");
	add_sample(p, 0, 1000, "cold;main");
	profile_add_branch(p, &(struct branch){ .from = 1, .to = 2, .count = 9, .untold = 9 });
	profile_add_branch(p, &(struct branch){ 2, 1, 10, 5, 0, 40, 10 });
	profile_add_disagreement(p, &(struct disagreement){ .times = 2,
							    .pid = 100,
							    .tid = 101,
							    .process = profile_string(p, "app"),
							    .thread = profile_string(p, "app"),
							    .remembered = 1,
							    .walked = 2,
							    .half = PROF_STACK_USER });
	return p;
}

int main(int argc, char **argv)
{
	struct profile *p = made();
	const struct result result = { RESULT_STACKS, .profile = p };
	int err = argc < 2;

	for (int i = 1; i < argc; i++) {
		const struct output *output = output_find(RESULT_STACKS, argv[i]);
		FILE *out = output ? fopen(argv[i], "w") : NULL;

		err |= !out || output_write(output, &result, &(struct view){}, out) || fclose(out);
	}
	profile_free(p);
	if (err)
		fprintf(stderr, "gen_pmu: usage, or cannot write\n");
	return err;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writes made-up recordings with sections that few recordings have:
 *
 *	gen_calls polls FILE...      polls of two kinds of task
 *	gen_calls untimed FILE...    the same without their times, which bpfprof does not write
 *	gen_calls gaps FILE...       a task that blocks, and the begins of all waits
 *	gen_calls begins FILE...     samples by line, and where functions begin
 *
 * The extension of each file chooses the output.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "output/output.h"
#include "profile/begins.h"
#include "profile/kind.h"
#include "tests/unit/made.h"

#define MT   "tokio::runtime::scheduler::multi_thread::worker::"
#define ROOT "tokio::runtime::task::raw::poll;start_thread;clone3"

static void add_kind(struct profile *p, const char *name, uint32_t bucket, uint64_t ns)
{
	struct sampled_event e = { .name = profile_string(p, name),
				   .note = profile_string(p, "/srv/app") };
	struct call_row row = { .event = p->nr_events, .calls = 4, .sum_ns = 4 * ns, .max_ns = ns };

	row.values = profile_string(p, "7");
	profile_add_event(p, &e);
	profile_add_call_bucket(p, &(struct call_bucket){ p->nr_call_rows, bucket, 4 });
	profile_add_call_row(p, &row);
}

static struct profile *polls(bool timed)
{
	struct profile *p = made_profile("polls");

	p->meta.timed = timed;
	add_kind(p, "app::slow", 92, 20000000);
	add_kind(p, "app::quick", 44, 5000);
	return p;
}

static void add_wait(struct profile *p, int syscall, uint64_t begin_ns, uint64_t end_ns,
		     const char *stack)
{
	made_wait(p, 101, "tokio-rt-worker", PROF_WAIT(PROF_BLOCKED, TASK_S, syscall),
		  end_ns - begin_ns, stack, "");
	profile_add_long_wait(p, &(struct long_wait){ p->nr_samples - 1, 0, begin_ns, end_ns });
}

static struct profile *gaps(void)
{
	struct profile *p = made_profile("offcpu");

	p->meta.long_wait_ns = 5000000;
	add_wait(p, 232, 0, 1000000000,
		 "epoll_wait;tokio::runtime::io::driver::Driver::turn;" MT
		 "Context::park_internal;" ROOT);
	add_wait(p, 230, 1000000000, 1100000000,
		 "sleep;app::hog;tokio::runtime::task::raw::poll;" MT "Context::run_task;" ROOT);
	return p;
}

static struct profile *begins(void)
{
	struct profile *p = made_profile("oncpu");
	uint32_t module = profile_add_module(p, "/srv/app"), name = profile_string(p, "hot");
	uint32_t frame = profile_frame(p, FRAME_USER, module, name);
	struct frame_function f = { .name = name, .file = profile_string(p, "a.c"), .line = 12 };
	struct sample s = { .pid = 100, .tid = 100, .count = 9, .weight = 9 };

	p->meta.is_time = 0;
	profile_set_functions(p, frame, &f, 1);
	s.ustack = profile_stack(p, &frame, 1, UNWIND_END_CFI_ROOT, 0);
	s.process = s.thread = profile_string(p, "app");
	profile_add_sample(p, &s);
	profile_add_begin(p, &(struct begin){ module, name, 10 });
	return p;
}

static struct profile *made(const char *what)
{
	if (!strcmp(what, "gaps"))
		return gaps();
	if (!strcmp(what, "begins"))
		return begins();
	return polls(!strcmp(what, "polls"));
}

int main(int argc, char **argv)
{
	struct profile *p = made(argc > 2 ? argv[1] : "polls");
	struct result result = { RESULT_STACKS, .profile = p };
	int err = argc < 3;

	if (kind_of_profile(p)->calls)
		result.kind = RESULT_CALLS;
	for (int i = 2; i < argc; i++) {
		const struct output *output = output_find(result.kind, argv[i]);
		FILE *out = output ? fopen(argv[i], "w") : NULL;

		err |= !out || output_write(output, &result, &(struct view){}, out) || fclose(out);
	}
	profile_free(p);
	if (err)
		fprintf(stderr, "gen_calls: usage, or cannot write\n");
	return err;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * saved_stacks FILE.bpfprof: its user stacks, for programs that check them (edges.py). One line
 * "m ID PATH" for each module and "s WEIGHT END FRAME..." for each stack, leaf first; END is r for
 * rooted stacks, else b, and a frame KIND:MODULE:OFFSET:NAME, offsets as they are kept: of return
 * addresses minus one. Blanks in names become "_".
 *
 * saved_stacks --waits FILE.bpfprof: its waits, for programs that label them (tokio_labels.py). One
 * line "WAIT WEIGHT THREAD USER KERNEL" for each, between tabs, with WAIT as in bpf/prof.h and
 * frames leaf first.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "profile/profile.h"
#include "profile/save.h"

static void print_name(const char *name)
{
	for (; *name; name++)
		putchar(*name == ' ' ? '_' : *name);
}

static void print_frame(const struct profile *p, uint32_t frame)
{
	const struct frame *f = profile_frame_at(p, frame);

	printf(" %u:%u:%" PRIx64 ":", f->kind, f->module, f->offset);
	print_name(profile_frame_name(p, frame));
}

static void print_stack(const struct profile *p, uint32_t stack, uint64_t weight)
{
	const uint32_t *frames;
	uint32_t nr;

	frames = profile_stack_frames(p, stack, &nr);
	printf("s %" PRIu64 " %c", weight, p->stacks[stack].flags & STACK_ROOTED ? 'r' : 'b');
	for (uint32_t i = 0; i < nr; i++)
		print_frame(p, frames[i]);
	putchar('\n');
}

static void print_names(const struct profile *p, uint32_t stack)
{
	uint32_t nr;
	const uint32_t *frames = profile_stack_frames(p, stack, &nr);

	for (uint32_t i = 0; i < nr; i++)
		printf("%c%s", i ? ';' : '\t', profile_frame_name(p, frames[i]));
	if (!nr)
		putchar('\t');
}

static int print_waits(const struct profile *p)
{
	for (size_t i = 0; i < p->nr_samples; i++) {
		const struct sample *s = &p->samples[i];

		printf("%" PRIu32 "\t%" PRIu64 "\t%s", s->wait, s->weight,
		       profile_str(p, s->thread));
		print_names(p, s->ustack);
		print_names(p, s->kstack);
		putchar('\n');
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct profile *p = argc == 2 || argc == 3 ? profile_load(argv[argc - 1]) : NULL;
	uint64_t *weights;

	if (!p)
		return 1;
	if (argc == 3 && !strcmp(argv[1], "--waits"))
		return print_waits(p);
	weights = xcalloc(p->nr_stacks, sizeof(*weights));
	for (size_t i = 0; i < p->nr_samples; i++)
		weights[p->samples[i].ustack] += p->samples[i].weight;
	for (uint32_t i = 0; i < p->nr_modules; i++)
		printf("m %u %s\n", i, profile_str(p, p->modules[i].path));
	for (uint32_t i = 1; i < p->nr_stacks; i++)
		if (weights[i])
			print_stack(p, i, weights[i]);
	free(weights);
	profile_free(p);
	return 0;
}

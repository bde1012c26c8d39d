/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * For BOLT, which lays code out anew by how often it runs: its pre-aggregated profile, for
 * perf2bolt --pa. A line for each branch that was recorded,
 *
 *	B FROM TO COUNT MISPREDICTED
 *
 * or, of recordings without branches, for each address that samples were taken at (perf2bolt -nl),
 *
 *	E EVENT
 *	S ADDRESS COUNT
 *
 * Addresses are those that the file was linked to, of one file: the one that most of it is in. What
 * is elsewhere is "X:0".
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "output/output.h"

/* What is at an address of the chosen file. */
struct place {
	uint64_t address, count;
};

static bool is_code(const struct profile *p, uint32_t frame, uint64_t *address)
{
	const struct frame *f = profile_frame_at(p, frame);

	return f->kind == FRAME_USER && profile_linked_at(p, f->module, f->offset, address);
}

/* Samples in the kernel are none of the file. */
static uint32_t leaf_of(const struct profile *p, const struct sample *s)
{
	return s->kstack || !s->ustack ? 0 : profile_stack_leaf(p, s->ustack);
}

static void add_frame(const struct profile *p, uint64_t *by_module, uint32_t frame, uint64_t nr)
{
	uint64_t address;

	if (is_code(p, frame, &address))
		by_module[profile_frame_at(p, frame)->module] += nr;
}

/* The module with most of it; 0: none has any. */
static uint32_t choose_module(const struct profile *p)
{
	uint64_t *by_module = xcalloc(p->nr_modules, sizeof(*by_module));
	uint32_t most = 0;

	for (size_t i = 0; i < p->nr_branches; i++) {
		add_frame(p, by_module, p->branches[i].from, p->branches[i].count);
		add_frame(p, by_module, p->branches[i].to, p->branches[i].count);
	}
	for (size_t i = 0; i < p->nr_samples && !p->nr_branches; i++)
		add_frame(p, by_module, leaf_of(p, &p->samples[i]), p->samples[i].count);
	for (uint32_t m = 1; m < p->nr_modules; m++)
		if (by_module[m] > by_module[most])
			most = m;
	free(by_module);
	return most;
}

static bool is_in(const struct profile *p, uint32_t module, uint32_t frame, uint64_t *address)
{
	return profile_frame_at(p, frame)->module == module && is_code(p, frame, address);
}

static void put_end(const struct profile *p, uint32_t module, uint32_t frame, FILE *out)
{
	uint64_t address;

	if (is_in(p, module, frame, &address))
		fprintf(out, " %" PRIx64, address);
	else
		fputs(" X:0", out);
}

static void put_branches(const struct profile *p, uint32_t module, FILE *out)
{
	uint64_t address;

	for (size_t i = 0; i < p->nr_branches; i++) {
		const struct branch *b = &p->branches[i];

		if (!is_in(p, module, b->from, &address) && !is_in(p, module, b->to, &address))
			continue;
		fputc('B', out);
		put_end(p, module, b->from, out);
		put_end(p, module, b->to, out);
		fprintf(out, " %" PRIu64 " %" PRIu64 "\n", b->count, b->mispredicted);
	}
}

static int by_address(const void *x, const void *y)
{
	const struct place *a = x, *b = y;

	return a->address < b->address ? -1 : a->address > b->address;
}

/* The format has one word for what was sampled. */
static void put_event(const struct profile *p, FILE *out)
{
	char *name = text_cleaned(profile_str(p, p->meta.event));

	for (char *c = name; *c; c++)
		if (*c == ' ' || *c == ',')
			*c = '_';
	fprintf(out, "E %s\n", *name ? name : "samples");
	free(name);
}

static void put_samples(const struct profile *p, uint32_t module, FILE *out)
{
	struct place *v = xcalloc(p->nr_samples + 1, sizeof(*v));
	size_t nr = 0;

	for (size_t i = 0; i < p->nr_samples; i++) {
		v[nr].count = p->samples[i].count;
		if (is_in(p, module, leaf_of(p, &p->samples[i]), &v[nr].address))
			nr++;
	}
	qsort(v, nr, sizeof(*v), by_address);
	put_event(p, out);
	for (size_t first = 0, i = 0; first < nr; first = i) {
		uint64_t count = 0;

		for (; i < nr && v[i].address == v[first].address; i++)
			count += v[i].count;
		fprintf(out, "S %" PRIx64 " %" PRIu64 "\n", v[first].address, count);
	}
	free(v);
}

const char *bolt_lacks(const struct profile *p)
{
	if (p->meta.is_time)
		return "BOLT wants samples of running code (bpfprof oncpu, pmu --branches)";
	if (choose_module(p))
		return NULL;
	if (!p->nr_linked && p->nr_samples)
		return "the recording does not say where files are linked to (it is older, or "
		       "they could not be read)";
	return p->nr_samples ? "no sample is in code of a file" : NULL;
}

int bolt_write(const struct profile *p, const struct view *v, FILE *out)
{
	uint32_t module = choose_module(p);

	if (p->nr_branches)
		put_branches(p, module, out);
	else
		put_samples(p, module, out);
	return 0;
}

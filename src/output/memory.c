/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What was allocated in all, by the second, and what of it is in use. */
#include "output/memory.h"

#include "base/round.h"
#include "base/text.h"
#include "profile/faults.h"

/* Of an event by its name; 0 where there is none. */
static uint64_t sum_of(const struct profile *p, const char *name)
{
	int event = profile_find_event(p, name);
	uint64_t sum = 0;

	for (size_t i = 0; i < p->nr_samples && event >= 0; i++)
		if (PROF_WAIT_EVENT(p->samples[i].wait) == (uint32_t)event)
			sum += p->samples[i].weight;
	return sum;
}

static uint64_t per_s(const struct profile *p, const char *name)
{
	double s = p->meta.duration_ns / 1e9;

	return s > 0 ? round_u64(sum_of(p, name) / s) : 0;
}

void memory_put_sum(const struct profile *p, FILE *out)
{
	fprintf(out, "%s/s in ", text_bytes(per_s(p, "bytes")));
	fprintf(out, "%s allocations/s", text_count(per_s(p, "objects")));
	if (profile_find_event(p, "live-bytes") >= 0) {
		fprintf(out, "; %s in use in ", text_bytes(sum_of(p, "live-bytes")));
		fprintf(out, "%s objects", text_count(sum_of(p, "live-objects")));
	}
	if (p->nr_events)
		fprintf(out, " (one sample for %s)", text_bytes(p->events[0].period));
	fputc('\n', out);
}

static void put_memories(const struct faults *f, FILE *out)
{
	const char *between = "; ";

	for (uint32_t i = 0; i < PROF_NR_MEMORIES; i++) {
		if (!f->memory[i])
			continue;
		fprintf(out, "%s%s %s", between, faults_memory_name(i),
			text_pct(100.0 * f->memory[i] / f->all));
		between = ", ";
	}
}

void memory_put_faults(const struct profile *p, FILE *out)
{
	struct faults f = faults_count(p);

	fprintf(out, "%s minor and ", text_count(f.all - f.major));
	fprintf(out, "%s major faults", text_count(f.major));
	put_memories(&f, out);
	fputc('\n', out);
}

void memory_put_growth(const struct profile *p, FILE *out)
{
	struct faults f = faults_count(p);
	double s = p->meta.duration_ns / 1e9;

	fprintf(out, "%s of memory touched first", text_bytes(f.all));
	fprintf(out, ", %s/s", text_bytes(s > 0 ? round_u64(f.all / s) : 0));
	put_memories(&f, out);
	fputc('\n', out);
}

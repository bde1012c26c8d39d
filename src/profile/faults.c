/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names and sums of page faults. */
#include "profile/faults.h"

static bool is_major(const struct sample *s)
{
	return PROF_WAIT_EVENT(s->wait) != 0;
}

/* A file may say anything. */
static uint32_t memory_of(const struct sample *s)
{
	uint32_t memory = PROF_WAIT_MEMORY(s->wait);

	return memory < PROF_NR_MEMORIES ? memory : PROF_MEMORY_UNKNOWN;
}

const char *faults_memory_name(uint32_t memory)
{
	static const char *const names[PROF_NR_MEMORIES] = {
		[PROF_MEMORY_UNKNOWN] = "unknown", [PROF_MEMORY_ANONYMOUS] = "anonymous",
		[PROF_MEMORY_HEAP] = "heap",	   [PROF_MEMORY_STACK] = "stack",
		[PROF_MEMORY_FILE] = "file",
	};

	return names[memory];
}

const char *faults_frame(const struct sample *s, uint32_t i)
{
	if (i)
		return faults_memory_name(memory_of(s));
	return is_major(s) ? "major" : "minor";
}

struct faults faults_count(const struct profile *p)
{
	struct faults f = {};

	for (size_t i = 0; i < p->nr_samples; i++) {
		const struct sample *s = &p->samples[i];

		f.all += s->weight;
		f.major += is_major(s) ? s->weight : 0;
		f.memory[memory_of(s)] += s->weight;
	}
	return f;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Page faults by their kind, and by what memory they were in. */
#ifndef BPFPROF_PROFILE_FAULTS_H
#define BPFPROF_PROFILE_FAULTS_H

#include "profile/profile.h"

/* What stands in front of a stack: "minor" or "major", then "anonymous", "heap" and so on. */
#define FAULTS_FRAMES 2
const char *faults_frame(const struct sample *s, uint32_t i);
/* Of an enum prof_memory. */
const char *faults_memory_name(uint32_t memory);

struct faults {
	uint64_t all, major;
	uint64_t memory[PROF_NR_MEMORIES];
};
struct faults faults_count(const struct profile *p);

#endif

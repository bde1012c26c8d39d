/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sets of CPUs in the kernel's notation ("0-3,8"). */
#ifndef BPFPROF_EVENT_CPUS_H
#define BPFPROF_EVENT_CPUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cpus {
	uint32_t *v; /* ascending */
	size_t nr, cap;
};

/* Parses text into an empty set. 0 or -EINVAL. */
int cpus_parse(struct cpus *c, const char *text);
/* The CPUs that are online now. 0 or negative errno. */
int cpus_online(struct cpus *c);
/* Why nothing is left to count on: logged, and negative errno. */
int cpus_tell_none(void);
/* Highest number a CPU of this machine can ever have, plus one. */
uint32_t cpus_possible(void);
/* The set as the kernel writes it. The caller frees it. */
char *cpus_text(const struct cpus *c);
/* Adds what another one has. */
void cpus_add(struct cpus *c, const struct cpus *more);
bool cpus_has(const struct cpus *c, uint32_t cpu);
void cpus_release(struct cpus *c);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The recorder: windows in a folder, of which the oldest go when there would be too many bytes.
 * Each is whole or absent, whenever the agent ends. What a trigger was about is kept apart, in
 * trigger-TIME: links to the windows before, and those behind as they come.
 *
 * A folder that is full or cannot be written costs the windows that it would have got, which are
 * counted; it is said once, and once when it works again.
 */
#ifndef BPFPROF_AGENT_KEEP_H
#define BPFPROF_AGENT_KEEP_H

#include <stdint.h>

struct profile;
struct keep;

struct keep_counts {
	uint64_t kept, bytes; /* windows that were written, and their bytes */
	uint64_t not_kept;
	uint64_t ring_bytes; /* now, without what triggers keep */
};

/*
 * The folder is made if it is missing. NULL with errno set after one sentence: another agent has
 * it, others could write there, it cannot be used.
 */
struct keep *keep_open(const char *folder, uint64_t max_bytes);
void keep_window(struct keep *k, const struct profile *p);
/* The last window, some before it, and some to come. */
void keep_trigger(struct keep *k, const char *why);
struct keep_counts keep_counts(const struct keep *k);
void keep_close(struct keep *k);

#endif

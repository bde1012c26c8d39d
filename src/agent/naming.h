/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What windows that follow each other have in common, once: strings, modules, frames and stacks are
 * in a file of names beside them, and each window adds to it what is new. So it takes a third to a
 * half less on disk, and less time to compress. Twenty minutes or so have one file of names; then
 * another one begins, with nothing in it.
 *
 * A file of names is only appended to, before its window appears: whatever is behind the last
 * window's part, as when the agent was killed, nobody reads. By its time of change it
 * was changed last when its last window had begun, two seconds later at most.
 */
#ifndef BPFPROF_AGENT_NAMING_H
#define BPFPROF_AGENT_NAMING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"

struct naming;

/* A window: what is new of its names, and the rest of it. */
struct naming_pack {
	void *names, *window;
	size_t names_len, window_len; /* names_len may be 0 */
};

/* file: of the names; so many bytes of it at most, or so. */
struct naming *naming_new(char *file, uint64_t max_bytes);
void naming_free(struct naming *n);

/* False: it belongs to another file of names, of which it is the first window. */
bool naming_pack(struct naming *n, const struct profile *p, struct naming_pack *to);
void naming_pack_release(struct naming_pack *p);

/* Appends the names in a folder. 0 or negative errno: then they are not there. */
int naming_append(struct naming *n, int dir, const struct naming_pack *p, uint64_t begin_ns);
const char *naming_file(const struct naming *n);
uint64_t naming_bytes(const struct naming *n);

#endif

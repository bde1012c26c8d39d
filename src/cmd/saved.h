/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Saved results: what report looks at again, and diff compares. A file is known by what is in it,
 * not by its name: a profile by its first bytes (of runqlat, when its command was that), and a
 * result of stat is JSON.
 */
#ifndef BPFPROF_CMD_SAVED_H
#define BPFPROF_CMD_SAVED_H

#include <stdbool.h>

#include "agent/ring.h"
#include "output/output.h"

struct saved {
	struct profile *profile;
	struct runqlat_report runqlat;
	struct stat_report stat;
	struct result result; /* of one of these */
};

/*
 * A file, or windows of an agent: DIR, or DIR@TIME as ring_parse() takes it. 0 or negative errno,
 * logged; -EINVAL: it is no time.
 */
int saved_open(struct saved *s, const char *path);
/* The same of a folder and a part of the time. -EINVAL, too: DIR@TIME has one of its own. */
int saved_open_span(struct saved *s, const char *folder, const struct ring_span *span);
/* Is it a folder, with a time behind it or without? */
bool saved_is_folder(const char *path);
void saved_close(struct saved *s);

/* Is it a file with a profile in it? Says nothing of what cannot be read. */
bool saved_is_profile(const char *path);
/* Does it begin like a result of stat? */
bool saved_is_json(const char *path);

#endif

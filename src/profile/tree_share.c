/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Paths that are equal share their steps. Where programs start all the time most samples differ in
 * the process only, which few views show.
 */
#include "profile/tree_parts.h"

#include <string.h>

struct sought {
	const struct tree_paths *paths;
	const struct path *path;
};

static bool is_equal(const void *arg, uint32_t id)
{
	const struct sought *s = arg;
	const struct tree_paths *p = s->paths;
	const struct path *a = &p->paths[id], *b = s->path;

	return a->nr == b->nr &&
	       !memcmp(p->steps + a->first, p->steps + b->first, b->nr * sizeof(*p->steps)) &&
	       (!p->with_frames ||
		!memcmp(p->frames + a->first, p->frames + b->first, b->nr * sizeof(*p->frames)));
}

void tree_share_steps(struct index *seen, struct tree_paths *out)
{
	struct path *last = &out->paths[out->nr_paths - 1];
	struct sought sought = { out, last };
	uint32_t hash, id;

	if (!last->nr)
		return;
	hash = index_hash(0, out->steps + last->first, last->nr * sizeof(*out->steps));
	if (index_find(seen, hash, is_equal, &sought, &id)) {
		out->nr_steps = last->first;
		last->first = out->paths[id].first;
	} else {
		index_add(seen, hash, out->nr_paths - 1);
	}
}

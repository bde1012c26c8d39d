/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How long waits were: of each sample the kernel counts them by powers of two (struct
 * prof_wait_hist), and knows the longest and the sum. From that comes a histogram with buckets of
 * profile/runqlat.h, whose arithmetic all histograms share. All of it is pure.
 */
#ifndef BPFPROF_PROFILE_LENGTHS_H
#define BPFPROF_PROFILE_LENGTHS_H

#include "profile/runqlat.h"
#include "profile/waits.h"

struct lengths {
	const struct profile *p;
	size_t *first; /* bucket by sample, and one more; NULL: the recording has none */
};

void lengths_init(struct lengths *l, const struct profile *p);
void lengths_release(struct lengths *l);

/* Were they recorded? Running time has none. */
bool lengths_known(const struct profile *p);

/*
 * Adds those of a sample. As many as were counted are added, and the longest is exact. The others
 * stay in their power of two; in it they are taken to lie evenly around one place, the same in all
 * of them, so that their sum is what was measured.
 */
void lengths_add(const struct lengths *l, size_t sample, struct prof_hist *h);

/* By class, and of idleness, as the sums of struct waits are. */
struct class_lengths {
	struct prof_hist by_class[WAITS_NR], idle;
};
void class_lengths_init(struct class_lengths *c, const struct waits *w, const struct profile *p);

/*
 * Of what a view shows, by its first frame: a thread, a process or a class (view.by). A wait of a
 * thread or process is one, until its wake-up; how long it was woken is there if classes are asked
 * for. Names are safe to show.
 */
struct owner_lengths {
	char *name;
	struct prof_hist hist;
};
/* To be freed, with the names; *nr of them, in order of their names. */
struct owner_lengths *owner_lengths_new(const struct profile *p, const struct view *v, size_t *nr);
void owner_lengths_free(struct owner_lengths *o, size_t nr);
/* NULL: it has none. */
const struct prof_hist *owner_lengths_find(const struct owner_lengths *o, size_t nr,
					   const char *name);

#endif

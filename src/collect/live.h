/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A recording of waits and running code as it goes on: looks at it, and the profile of its last
 * seconds. Names are looked up once and kept. What they may take of the CPU is bounded; where that
 * is not enough they come later, and until then functions are called LIVE_NAMELESS.
 *
 * The kernel's tables fill up, and stacks, names and threads pile up with them. live_is_full() says
 * when to close the recording and to open another one, so memory is bounded over any time.
 */
#ifndef BPFPROF_COLLECT_LIVE_H
#define BPFPROF_COLLECT_LIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "collect/record.h"
#include "profile/ended.h"
#include "profile/runqlat.h"

#define LIVE_NAMELESS "[not named yet]"

/* What there is to know of the window, besides its profile. */
struct live_facts {
	uint64_t window_ns;
	uint64_t running_ns;	 /* of selected threads */
	uint64_t samples;	 /* of running code */
	uint64_t cpu_ns, bpf_ns; /* of bpfprof with its children, and of its programs */
	uint64_t rss_bytes;	 /* peak; maps of BPF are part of it as far as they were read */
	double budget;		 /* --max-overhead, of all CPUs; 0 = no limit */
	uint64_t samples_one_in, stacks_one_in; /* taken to keep within it; 1 = all */
	size_t nr_cpus;
	struct prof_hist queue;		 /* waits for a CPU */
	uint64_t lost[PROF_NR_COUNTERS]; /* only those that are losses */
};

/*
 * What names have taken in all recordings that follow each other. All 0 before the first, but for
 * what they may take: a share of one CPU's time (0 = a five hundredth), and before that a time at
 * the beginning (0 = a second).
 */
struct live_names {
	double share;
	uint64_t first_ns;
	uint64_t begin_ns, spent_ns;
};

struct live;

/* Of a recording that runs: in its turn. names: NULL where all are always looked up, at once. */
struct live *live_new(struct record *r, uint64_t window_ns, struct live_names *names);
void live_free(struct live *l);

/* 0 or negative errno, logged. */
int live_look(struct live *l);
/*
 * In each turn, of what is always on: makes room in the kernel's table (recycle.h), for which it
 * looks as often as need be. 0 or negative errno, logged.
 */
int live_recycle(struct live *l);

/*
 * The window as of the last look: a profile of its own. all_names: however long they take. To be
 * freed.
 */
struct profile *live_profile(struct live *l, bool all_names);
/*
 * The same of all since the last one (window_ns WINDOW_UNTIL_FORGOTTEN), with its part of what the
 * recording counts since its begin. It stays the recording's until the next look.
 */
const struct profile *live_window(struct live *l);

/*
 * Of live_window(), if the recording has lengths of waits (wait_opts.lengths): those that ended in
 * it, by its samples. They stay as long as it does; the caller may change them.
 */
struct ended *live_ended(const struct live *l, size_t *nr);

/*
 * Both were looked at, one right after the other: what to has seen so far belongs to from. Returns
 * the ns between the looks, which are nobody's.
 */
uint64_t live_hand_over(struct live *from, struct live *to);

void live_facts(const struct live *l, struct live_facts *f);

uint64_t live_window_ns(const struct live *l);

/* Should another recording begin soon? And now, since this one is about to lose something? */
bool live_is_full(const struct live *l);
bool live_is_short(const struct live *l);
/* What of its tables is in use, with -v. */
void live_tell_full(const struct live *l);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a view makes of the samples of a recording of waits: one verdict each, and the sums. */
#ifndef BPFPROF_PROFILE_WAITS_H
#define BPFPROF_PROFILE_WAITS_H

#include "profile/tree.h"
#include "profile/wait.h"

/* Beside the classes of waits. */
#define WAITS_ON_CPU WAIT_NR_CLASSES
#define WAITS_NR     (WAIT_NR_CLASSES + 1)

enum waits_fate {
	WAITS_SHOWN,
	WAITS_IDLE,	/* idleness that is folded or hidden */
	WAITS_LEFT_OUT, /* of a class that was not asked for */
};

struct waits_sum {
	uint64_t ns, nr;
};

struct waits {
	/* Per sample. */
	uint64_t *ns;
	uint8_t *class_of; /* enum wait_class or WAITS_ON_CPU */
	uint8_t *fate;
	uint8_t *idle_is; /* what is summed up as idle, shown or not */

	/* Each sample is in one of the classes or in idle; all is their sum. */
	struct waits_sum by_class[WAITS_NR], idle, all;
	/* Parts of it. */
	struct waits_sum left_out, open, before, not_sampled;
	uint64_t nr_threads; /* 0: not known */
};

void waits_init(struct waits *w, const struct profile *p, const struct view *v);
void waits_release(struct waits *w);

/* "lock" and so on, "on-cpu". */
const char *waits_name(uint32_t class);

/* Waits for nothing but a CPU. */
struct waits_sum waits_runnable(const struct waits *w);

/* Weights are kept in ns, and shown in us. */
uint64_t waits_us(uint64_t ns);

#endif

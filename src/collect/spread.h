/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Waits whose stacks were left out (bpf/pace.bpf.h), by the stacks of others. Which they were,
 * chance has decided; so of a thread's waits of one kind they had the same stacks, in the same
 * shares of their number and of their time; those of a length, as many as had waits of that length.
 * How long they were is known, so the sums of threads and kinds stay what they are.
 *
 * A wait that has not ended when the recording does has no others of its kind: its stack is the one
 * where its thread waits most in the same system call.
 */
#ifndef BPFPROF_COLLECT_SPREAD_H
#define BPFPROF_COLLECT_SPREAD_H

#include "collect/tally.h"

/*
 * Adds them to the counts with stacks of the same thread and kind. A count that was spread has
 * nothing left; one stays whose thread has no stack of such a system
 * call. factors: of each count, by how
 * much its weight has grown. Returns the ns that were spread.
 */
uint64_t spread_waits(struct tally *t, double *factors);

#endif

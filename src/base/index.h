/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds elements of an array by their content: a hash table that holds nothing but their numbers,
 * eight bytes for each, two thirds full at most. What is equal the owner of the array says.
 */
#ifndef BPFPROF_BASE_INDEX_H
#define BPFPROF_BASE_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct index_slot {
	uint32_t hash, id1; /* number of the element + 1; 0 = free */
};

struct index {
	struct index_slot *slots;
	size_t nr, cap; /* a power of two */
};

/* Is the element with that number the one that is looked for? */
typedef bool (*index_is)(const void *arg, uint32_t id);

/*
 * Starts from 0, or goes on from the hash of what comes before. Another one in each run: what is
 * profiled cannot aim at collisions.
 */
uint32_t index_hash(uint32_t hash, const void *bytes, size_t len);

/* The number of the element. False: there is none. */
bool index_find(const struct index *x, uint32_t hash, index_is is, const void *arg, uint32_t *id);

/* Of an element that is not there. */
void index_add(struct index *x, uint32_t hash, uint32_t id);

void index_release(struct index *x);

#endif

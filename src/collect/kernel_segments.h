/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Segments of unwind tables on the kernel's side (unwind/segments.h is ours): pieces of memory that
 * BPF programs read and we write, elements of a map of maps.
 */
#ifndef BPFPROF_COLLECT_KERNEL_SEGMENTS_H
#define BPFPROF_COLLECT_KERNEL_SEGMENTS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "bpf/table.h"

struct bpf_map;
struct kernel_segments;

/* One that a thread is making, or has made. */
struct kernel_segment {
	struct kernel_segments *all;
	uint32_t index;
	int fd;
	int state; /* or a negative errno */
	pthread_t thread;
};

struct kernel_segments {
	int fd; /* the map of them; 0 = there is none */
	struct kernel_segment v[TABLE_MAX_SEGMENTS];
	uint32_t nr; /* there now */
	uint32_t told_memory;
	bool no_thread; /* could be started, which was told */
};

/*
 * Before the object is loaded, whose map this will be. The first segment is on its way while the
 * programs are still being verified. 0 or negative errno.
 */
int kernel_segments_open(struct kernel_segments *s, struct bpf_map *map);

/*
 * Made and mapped at an address (-EINPROGRESS: ask again), or taken away from there. struct
 * store_ops (unwind/store.h) in shape; segments is a struct kernel_segments. 0 or negative errno,
 * logged.
 */
int kernel_segments_make(void *segments, uint32_t index, void *at);
void kernel_segments_drop(void *segments, uint32_t index, void *at);

void kernel_segments_close(struct kernel_segments *s);

#endif

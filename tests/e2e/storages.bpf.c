/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Counts what a map of task storage holds by walking the lists it is made of, so that states whose
 * thread is gone count as well, which no walk of the tasks would find. The kernel does not say how
 * many there are: its figure of a map's memory leaves them out.
 */
#include "vmlinux.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#define MAX_STEPS (1 << 23) /* elements and buckets; as many as bpf_loop allows */

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct hlist_node {
	struct hlist_node *next;
};

struct hlist_head {
	struct hlist_node *first;
};

struct bpf_map {
	__u32 id;
};

struct bpf_local_storage_map_bucket {
	struct hlist_head list;
};

/* Begins with its struct bpf_map. */
struct bpf_local_storage_map {
	struct bpf_local_storage_map_bucket *buckets;
	__u32 bucket_log;
};

struct bpf_iter__bpf_map {
	struct bpf_iter_meta *meta;
	struct bpf_map *map;
};

#pragma clang attribute pop

const volatile __u32 target; /* map */

__u64 nr_elements, nr_tasks;
__u32 is_complete;

struct walk {
	struct hlist_node *node;
	char *buckets;
	__u32 i, nr; /* of buckets */
};

/* Elements come and go meanwhile; one that was freed may lead to nowhere, which ends its list. */
static long step(__u32 i, struct walk *w)
{
	struct bpf_local_storage_map_bucket *bucket;
	struct hlist_node *node = w->node;

	if (node) {
		nr_elements++;
		w->node = BPF_CORE_READ(node, next);
		return 0;
	}
	if (w->i == w->nr) {
		is_complete = 1;
		return 1;
	}
	bucket = (void *)(w->buckets + w->i++ * bpf_core_type_size(*bucket));
	w->node = BPF_CORE_READ(bucket, list.first);
	return 0;
}

SEC("iter/bpf_map")
int storages_map(struct bpf_iter__bpf_map *ctx)
{
	struct bpf_map *found = ctx->map;
	struct bpf_local_storage_map *map = (struct bpf_local_storage_map *)found;
	struct walk w = {};

	if (!found || found->id != target)
		return 0;
	w.buckets = (char *)BPF_CORE_READ(map, buckets);
	w.nr = 1u << (BPF_CORE_READ(map, bucket_log) & 31);
	bpf_loop(MAX_STEPS, step, &w, 0);
	return 0;
}

SEC("iter/task")
int storages_task(struct bpf_iter__task *ctx)
{
	nr_tasks += ctx->task != NULL;
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where the states of threads are kept. */
#include "threads.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct thread);
} threads SEC(".maps");

__hidden struct thread *thread_get(struct task_struct *task)
{
	return bpf_task_storage_get(&threads, task, 0, 0);
}

__hidden struct thread *thread_make(struct task_struct *task)
{
	return bpf_task_storage_get(&threads, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
}

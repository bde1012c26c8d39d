/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where the states of threads are kept. */
#include "threads.bpf.h"

struct thread_map threads SEC(".maps");

__hidden struct thread *thread_make(struct task_struct *task)
{
	return bpf_task_storage_get(&threads, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
}

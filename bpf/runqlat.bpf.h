/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Waits for a CPU as histograms, and those that took too long. Separately verified. */
#ifndef BPFPROF_BPF_RUNQLAT_BPF_H
#define BPFPROF_BPF_RUNQLAT_BPF_H

#include "threads.bpf.h"

/* The thread t has waited for this CPU for ns; born: since its birth. 0: there is no row. */
int hist_add(struct thread *t, __u32 born, __u64 ns, __u64 now);

/* The thread t has another name, so its row has; that of a process goes by its main thread. */
int hist_rename(const struct thread *t);

/* The thread t has had this CPU for ns, up to now. With prof_cfg.outlier_ns. */
int hist_ran(const struct thread *t, __u64 ns, __u64 now);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a process gives up before it looks at what strangers wrote. */
#ifndef BPFPROF_READER_JAIL_H
#define BPFPROF_READER_JAIL_H

#include <stdint.h>

/* Memory of all kinds, for the largest debug information. */
#define JAIL_MAX_BYTES (2ull << 30)

/*
 * Less: so much beside what a child begins with. For children that are born from now on, and
 * theirs; 0 = all of the above.
 */
void jail_allow_bytes(uint64_t more);

/*
 * Where memory runs out, the kernel kills it before the recording: an answer less costs little. And
 * it leaves no core dump.
 */
void jail_go_first(void);

/*
 * Closes what it has of BPF and of perf events: while anybody has them open, the kernel goes on
 * with what its parent has detached.
 */
void jail_leave_probes(void);

/*
 * Of this thread's capabilities only these (a bit each), for good: nothing that it starts has more.
 * 0 or negative errno.
 */
int jail_keep(uint64_t caps);

/*
 * For good: no capability and no way to get one, the user and group nobody if it was root, so much
 * memory and CPU time, no core dump, and of system calls only those that read open files and manage
 * memory: others fail with EPERM. 0 or negative errno.
 */
int jail_enter(uint64_t cpu_ns);

/*
 * Less: for who still has to find and open files. No capability, the same limits, no new programs,
 * no signals, no sockets, no tracing; and where the kernel has Landlock, nothing is written but in
 * one folder (-1 = none). It stays the user that it is.
 */
int jail_enter_lean(uint64_t cpu_ns, int folder);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Page faults. */
#ifndef BPFPROF_BPF_FAULTS_BPF_H
#define BPFPROF_BPF_FAULTS_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include "prof.h"

/* What memory of the current thread's process lies at an address: enum prof_memory. */
__hidden __u32 faults_memory(__u64 address);

#endif

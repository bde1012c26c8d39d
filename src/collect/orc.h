/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The directory of the kernel's own unwind tables (bpf/orc.h): with it the kernel's half of samples
 * is walked by bpf/orc.bpf.c. Where there is none, the kernel walks, which costs more.
 */
#ifndef BPFPROF_COLLECT_ORC_H
#define BPFPROF_COLLECT_ORC_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/orc.h"

/*
 * Makes it: read() brings the chunk at o->from, or, when that is 0, where all lies; it returns
 * false when it cannot. False: this kernel has no such tables, does not show them, or has others
 * than we know.
 */
bool orc_fill(struct prof_orc *o, bool (*read)(void *arg), void *arg);

#endif

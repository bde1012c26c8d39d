/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What of this machine, and of what runs on it, moves numbers from run to run: governor, turbo, SMT
 * and such, as facts of a report.
 */
#ifndef BPFPROF_COLLECT_STABILITY_H
#define BPFPROF_COLLECT_STABILITY_H

#include <sys/types.h>

#include "metric/stat.h"

/* root: of the machine, "/" but in tests. */
void stability_read(struct stat_report *r, const char *root);

/* On which CPUs it may run. */
void stability_read_pinning(struct stat_report *r, pid_t pid);

/*
 * How a program was built, as its DWARF or its compiler says. Its file is opened and read by
 * children (reader/reader.h). A name without a slash is looked for in $PATH.
 */
void stability_read_build(struct stat_report *r, const char *path);

#endif

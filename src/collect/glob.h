/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shell patterns over thread names, compiled for the automaton that the BPF filter runs. */
#ifndef BPFPROF_COLLECT_GLOB_H
#define BPFPROF_COLLECT_GLOB_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/prof.h"

/*
 * Compiles a comma-separated list of patterns ('*', '?', '[a-z]', '[!0-9]', '\' quotes). 0, -EINVAL
 * for a '[' without ']', -ENOENT for an empty pattern, -E2BIG when the patterns together have more
 * than 63 elements.
 */
int glob_compile(struct prof_glob *g, const char *list);

#endif

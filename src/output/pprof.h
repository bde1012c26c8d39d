/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Dictionaries in the format of pprof: what pprof_write() makes of one of all samples. */
#ifndef BPFPROF_OUTPUT_PPROF_H
#define BPFPROF_OUTPUT_PPROF_H

#include <stdio.h>

#include "output/dictionary.h"

/*
 * Gzipped. owners: with whose samples are, and comments on the recording; else engines need not
 * tell their series apart by them. Adds strings to d. Returns the bytes before compression.
 */
size_t pprof_put(struct dictionary *d, bool owners, FILE *out);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What each file here but limits.c has: one input, of which libFuzzer's function asks it. */
#ifndef BPFPROF_TESTS_FUZZ_LIMITS_H
#define BPFPROF_TESTS_FUZZ_LIMITS_H

#include <stddef.h>
#include <stdint.h>

int fuzz_target(const uint8_t *data, size_t sz);

#endif

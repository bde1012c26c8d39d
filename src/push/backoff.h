/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* When to try again, and after which answers. */
#ifndef BPFPROF_PUSH_BACKOFF_H
#define BPFPROF_PUSH_BACKOFF_H

#include <stdbool.h>
#include <stdint.h>

#define BACKOFF_FIRST_NS 5000000000ull
#define BACKOFF_MOST_NS	 30000000000ull

/* After so many failures in a row, at least 1: 5 s, half more each time, at most 30 s, +-50 %. */
uint64_t backoff_ns(unsigned int failures, uint64_t first_ns, uint32_t random);

/* May a request be sent again after that status of HTTP? All others were final. */
bool backoff_may_retry(long status);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Runs at events and those at wake-ups are timed apart: neither stands for the other. */
#include "profile/bpf_cost.h"

static double all_took(uint64_t nr, uint64_t timed, uint64_t timed_ns)
{
	return timed ? (double)timed_ns / timed * nr : 0;
}

uint64_t counters_bpf_ns(const uint64_t c[PROF_NR_COUNTERS])
{
	return all_took(c[PROF_RUNS], c[PROF_TIMED_RUNS], c[PROF_TIMED_NS]) +
	       all_took(c[PROF_WAKES], c[PROF_TIMED_WAKES], c[PROF_WAKES_NS]);
}

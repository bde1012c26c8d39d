/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the interrupt costs that a sample comes by. */
#ifndef BPFPROF_EVENT_INTERRUPT_H
#define BPFPROF_EVENT_INTERRUPT_H

#include <stdint.h>

/*
 * Nanoseconds of a CPU: about 1,000 on hardware, and ten times that in virtual machines, where the
 * timer is the host's. Measured within 10 ms by how much less this thread gets done with such
 * interrupts than without; by a clock, also where counters are sampled. 0: it cannot be measured.
 */
uint64_t interrupt_price_ns(void);

/*
 * The least of a few rounds, each of which says what an interrupt took, or 0. One that says what
 * none can take, as when the whole host stood still, is measured again some times. 0: all did.
 */
uint64_t interrupt_least_ns(uint64_t (*round)(void *arg), void *arg);

#endif

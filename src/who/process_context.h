/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The process context of OpenTelemetry (OTEP 4719): a mapping in which a process publishes its
 * resource, service.name for instance. Pure but for reading through fn; all of it may be hostile.
 */
#ifndef BPFPROF_WHO_PROCESS_CONTEXT_H
#define BPFPROF_WHO_PROCESS_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "who/fact.h"

/* Where it begins, by the text of /proc/PID/maps; 0 = the process publishes none. */
uint64_t process_context_find(const char *maps, size_t len);

/* Reads memory of the process. False: not all of it is there. */
typedef bool (*process_context_read)(void *arg, uint64_t address, void *to, size_t sz);

/* Tells what it says. False: there is none, or it was being changed each time. */
bool process_context_get(uint64_t address, process_context_read read, void *memory, fact_fn fn,
			 void *arg);

/* Of the message itself, a ProcessContext. */
void process_context_parse(const uint8_t *bytes, size_t len, fact_fn fn, void *arg);

#endif

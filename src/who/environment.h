/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a process's environment says of its service. Environments hold secrets: of the block only
 * the variables that are named here are looked at, and of OTEL_RESOURCE_ATTRIBUTES only the keys in
 * facts[]. Pure; the block may hold anything.
 */
#ifndef BPFPROF_WHO_ENVIRONMENT_H
#define BPFPROF_WHO_ENVIRONMENT_H

#include <stddef.h>

#include "who/fact.h"

/* Calls fn for each fact, with at most FACT_MAX_LEN bytes. */
void environment_parse(const char *block, size_t len, fact_fn fn, void *arg);

/* "k=v,k=v", percent-encoded; any error, and none of it counts. */
void environment_attributes(const char *text, size_t len, fact_fn fn, void *arg);

#endif

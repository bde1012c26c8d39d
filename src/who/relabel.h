/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Rules about labels, a line each, which apply in their order (docs/rules.md):
 *
 *	drop comm=~"bash|ssh.*"
 *	keep namespace=~"prod-.*"
 *	label team="payments" if service_name=~"pay-.*" namespace!="test"
 */
#ifndef BPFPROF_WHO_RELABEL_H
#define BPFPROF_WHO_RELABEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/labels.h"

struct relabel;

/* NULL: *error, to be freed, says where and what: "3:7: 'drp' is no action; …". */
struct relabel *relabel_parse(const char *text, size_t len, char **error);
/* Of a file. NULL: it was logged; errno is set. */
struct relabel *relabel_load(const char *path);
void relabel_free(struct relabel *r);

/* Applies all. 0, or the number of the line that says that these labels are dropped. */
uint32_t relabel_apply(const struct relabel *r, struct labels *l);

/* Does a rule set that label? */
bool relabel_sets(const struct relabel *r, const char *name);

#endif

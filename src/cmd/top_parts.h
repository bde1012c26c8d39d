/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What top says in words and tables (top_text.c). For top.c only. */
#ifndef BPFPROF_CMD_TOP_PARTS_H
#define BPFPROF_CMD_TOP_PARTS_H

#include <stdio.h>

#include "collect/live.h"
#include "profile/overview.h"

/* How many samples, what was lost and why, what bpfprof takes of what it may. To be freed. */
char *top_cost_text(const struct live_facts *f, uint64_t lost);
/* CPUs that are used, waits for one, and bpfprof's memory. To be freed. */
char *top_load_text(const struct live_facts *f, uint32_t nr_restarts);

/* A page as a table of so many rows. */
void top_print(struct overview_sums *sums, enum overview_page page, uint32_t rows, FILE *out);

#endif

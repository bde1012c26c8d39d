/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the parts of a session share: session.c itself, session_calls.c the programs at calls. */
#ifndef BPFPROF_COLLECT_SESSION_PARTS_H
#define BPFPROF_COLLECT_SESSION_PARTS_H

#include "collect/session.h"

struct bpfprof_bpf;

/* Which maps they need, and how large, on a host of so many CPUs. */
void session_choose_calls(struct maps_choice *choice, const struct session_opts *o,
			  uint32_t nr_cpus);
/* Before loading. Returns where they will stand; NULL: the session has none. */
struct links *session_prepare_calls(struct bpfprof_bpf *skel, const struct session_opts *o);
/* After loading. Returns 0, or a negative errno after telling why. */
int session_fill_calls(struct bpfprof_bpf *skel, const struct session_opts *o);

#endif

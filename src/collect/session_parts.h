/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the parts of a session share: session.c its life, session_calls.c the programs at calls,
 * session_state.c what it tells.
 */
#ifndef BPFPROF_COLLECT_SESSION_PARTS_H
#define BPFPROF_COLLECT_SESSION_PARTS_H

#include "collect/session.h"

#define SESSION_THREAD_BYTES 512 /* struct thread (bpf/threads.bpf.h) as the kernel allocates it */

struct bpf_link;
struct bpf_program;
struct bpfprof_bpf;

struct session {
	struct bpfprof_bpf *skel;
	const struct probe *probe;
	struct bpf_link *links[PROBE_MAX_PROGRAMS]; /* by number of the program */
	struct links *points;			    /* of PROBE_CALLS */
	struct prof_config config;
	struct maps_choice choice;
	struct session_maps maps;
	struct kernel_segments segments;
	bool frozen, flushed; /* session_freeze(), and what was open then is accounted for */
	bool reduced;	      /* session_reduce(): */
	uint64_t had_missed;
	int settle_fd, inner_fd; /* a map of maps, and what is in it; 0 = none */
	/* By the kernel's count: before and after programs were attached, and detached. */
	struct {
		uint64_t before, after;
	} attached, detached;
};

/* A program of the object by its name. */
struct bpf_program *session_program(const struct session *s, const char *name);

/* Which maps they need, and how large, on a host of so many CPUs. */
void session_choose_calls(struct maps_choice *choice, const struct session_opts *o,
			  uint32_t nr_cpus);
/* Before loading. Returns where they will stand; NULL: the session has none. */
struct links *session_prepare_calls(struct bpfprof_bpf *skel, const struct session_opts *o);
/* After loading. Returns 0, or a negative errno after telling why. */
int session_fill_calls(struct bpfprof_bpf *skel, const struct session_opts *o);

#endif

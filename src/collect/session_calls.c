/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The programs at calls: what they need to be loaded with, and the maps they read. */
#include "collect/session_parts.h"

#include <errno.h>

#include <bpf/bpf.h>

#include "collect/sizes.h"
#include "event/refusal.h"
#include "profile/kind.h"
#include "bpfprof.skel.h"

static void choose_calls(struct maps_choice *choice, const struct calls_opts *o, uint32_t nr_cpus)
{
	struct sizes_calls wishes = { .nr_events = o->nr_events,
				      .nr_cpus = nr_cpus,
				      .timed = o->timed,
				      .max_rows = o->max_rows };

	wishes.may_lack = o->may_lack;
	wishes.values = o->values;
	for (size_t i = 0; i < o->nr_args; i++) {
		wishes.values |= o->args[i].nr_args != 0;
		choice->calls.goroutines |= o->args[i].by_goroutine;
	}
	choice->nr_call_args = o->nr_args;
	choice->calls.every = o->every ? o->every : 1;
	choice->calls.min_ns = o->min_ns;
	choice->calls.by_process = o->by_process;
	choice->calls.by_length = o->timed && o->stacks;
	choice->calls.may_lack = o->may_lack;
	choice->calls.syscalls = o->nr_points ? 0 : o->nr_events;
	sizes_choose_calls(&choice->calls, &wishes);
}

static void choose_ops(struct maps_choice *choice, const struct ops_opts *o)
{
	choice->ops.buckets = sizes_ops_buckets(o->max_open);
}

static void choose_allocs(struct maps_choice *choice, const struct alloc_opts *o)
{
	choice->allocs = true;
	if (o->live)
		choice->alloc.live_slots = o->max_live ? o->max_live : ALLOC_LIVE_SLOTS;
}

void session_choose_calls(struct maps_choice *choice, const struct session_opts *o,
			  uint32_t nr_cpus)
{
	if (o->alloc)
		choose_allocs(choice, o->alloc);
	else if (o->calls)
		choose_calls(choice, o->calls, nr_cpus);
	if (o->ops)
		choose_ops(choice, o->ops);
}

/* Two programs see all of them, or two of another kind see each of them. */
static void prepare_syscalls(struct bpfprof_bpf *skel, bool all)
{
	bpf_program__set_autoload(skel->progs.calls_sysenter, all);
	bpf_program__set_autoload(skel->progs.calls_sysexit, all);
	bpf_program__set_autoload(skel->progs.calls_event, !all);
	bpf_program__set_autoload(skel->progs.calls_until, !all);
}

static void load_no_ends(const struct links_programs *programs)
{
	bpf_program__set_autoload(programs->back, false);
	if (programs->leave)
		bpf_program__set_autoload(programs->leave, false);
	if (programs->until)
		bpf_program__set_autoload(programs->until, false);
}

/* This kernel may have only some of their tracepoints. */
static void prepare_io(struct bpfprof_bpf *skel, uint32_t parts)
{
	const struct {
		struct bpf_program *program;
		uint32_t part;
	} rows[] = {
		{ skel->progs.io_bioqueue, OPS_BLOCK },
		{ skel->progs.io_biodone, OPS_BLOCK },
		{ skel->progs.io_rqdone, OPS_BLOCK },
		{ skel->progs.io_request, OPS_URING_REQUEST },
		{ skel->progs.io_sqe, OPS_URING_SQE },
		{ skel->progs.io_punted, OPS_URING },
		{ skel->progs.io_polled, OPS_URING },
		{ skel->progs.io_completed, OPS_URING },
		{ skel->progs.io_sockstate, OPS_CONNECT },
		{ skel->progs.io_sockdone, OPS_CONNECT },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		bpf_program__set_autoload(rows[i].program, parts & rows[i].part);
}

struct links *session_prepare_calls(struct bpfprof_bpf *skel, const struct session_opts *so)
{
	const struct links_programs of_calls = {
		skel->progs.calls_entry, skel->progs.calls_return, skel->progs.calls_session,
		skel->progs.calls_leave, skel->progs.calls_event,  skel->progs.calls_until
	};
	const struct links_programs of_allocs = { .entry = skel->progs.alloc_entry,
						  .back = skel->progs.alloc_return,
						  .session = skel->progs.alloc_session,
						  .leave = skel->progs.alloc_leave };
	const struct links_programs *programs = so->alloc ? &of_allocs : &of_calls;
	const struct calls_opts *o = so->calls;
	struct links *points;

	if (!o)
		return NULL;
	points = links_new(o, programs, links_prepare(o, programs));
	if (!o->timed)
		load_no_ends(programs);
	if (kind_of(so->probe->name)->syscalls)
		prepare_syscalls(skel, o->nr_points == 0);
	if (so->ops)
		prepare_io(skel, so->ops->parts);
	return points;
}

static int fill_points(struct bpfprof_bpf *skel, const struct calls_opts *o)
{
	int fd = bpf_map__fd(skel->maps.call_args);

	for (uint32_t i = 0; i < o->nr_args; i++)
		if (bpf_map_update_elem(fd, &i, &o->args[i], BPF_ANY))
			return refusal_tell(-errno, "cannot tell the kernel about calls");
	return 0;
}

int session_fill_calls(struct bpfprof_bpf *skel, const struct session_opts *o)
{
	if (o->alloc)
		return alloc_put_draws(bpf_map__fd(skel->maps.alloc_draws), o->alloc->every);
	return o->calls ? fill_points(skel, o->calls) : 0;
}

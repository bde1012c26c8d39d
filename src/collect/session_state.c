/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a session tells while it is open: when it ran, what it counted, how much memory it holds. */
#include "collect/session_parts.h"

#include <errno.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bpfprof.skel.h"

struct bpf_program *session_program(const struct session *s, const char *name)
{
	return bpf_object__find_program_by_name(s->skel->obj, name);
}

/*
 * That a hidden thread leaves its CPU is counted by the kernel, but no program at the tracepoint is
 * run then. We see it being given the CPU, so as many may lack.
 */
bool session_switches(const struct session *s, struct due *d)
{
	uint64_t sum[PROF_NR_COUNTERS], nr;

	if (!s->attached.before || s->detached.before < s->attached.after)
		return false;
	session_counters(s, sum);
	nr = s->detached.before - s->attached.after;
	d->least += nr > sum[PROF_FILTER_HIDDEN] ? nr - sum[PROF_FILTER_HIDDEN] : 0;
	d->most += s->detached.after - s->attached.before;
	return true;
}

uint64_t session_began(const struct session *s)
{
	return s->skel->bss->prof_sched_start;
}

uint64_t session_ended(const struct session *s)
{
	return s->skel->bss->prof_sched_end;
}

uint64_t session_trip(const struct session *s)
{
	return s->skel->bss->timeline_trip_ns;
}

void session_live(const struct session *s, void (*fn)(void *arg, const struct alloc_live *a),
		  void *arg)
{
	alloc_for_each_live(bpf_map__fd(s->skel->maps.allocs_live), fn, arg);
}

void session_counters(const struct session *s, uint64_t sum[PROF_NR_COUNTERS])
{
	memset(sum, 0, PROF_NR_COUNTERS * sizeof(*sum));
	for (size_t cpu = 0; cpu < s->maps.nr_cpus; cpu++)
		for (size_t i = 0; i < PROF_NR_COUNTERS; i++)
			sum[i] += s->maps.counters[cpu].value[i];
}

int session_ask_kernel(struct session *s, struct prof_ksym *questions, size_t nr)
{
	LIBBPF_OPTS(bpf_test_run_opts, run);
	int err;

	if (!s->maps.ksyms)
		return -ENOTSUP;
	memset(s->maps.ksyms, 0, PROF_KSYM_BATCH * sizeof(*s->maps.ksyms));
	memcpy(s->maps.ksyms, questions, nr * sizeof(*questions));
	err = bpf_prog_test_run_opts(bpf_program__fd(s->skel->progs.ksyms_name), &run);
	memcpy(questions, s->maps.ksyms, nr * sizeof(*questions));
	return err;
}

uint64_t session_missed(const struct session *s)
{
	uint64_t missed = 0;

	if (s->reduced)
		return s->had_missed;
	for (size_t i = 0; i < PROBE_MAX_PROGRAMS && s->probe->programs[i].name; i++) {
		struct bpf_prog_info info = {}; /* the kernel reads what it is asked for */
		uint32_t len = sizeof(info);
		int fd = bpf_program__fd(session_program(s, s->probe->programs[i].name));

		if (fd >= 0 && !bpf_obj_get_info_by_fd(fd, &info, &len))
			missed += info.recursion_misses;
	}
	return missed;
}

/* Of the threads that live: the kernel keeps their state with the task. */
static uint64_t thread_bytes(const struct session *s)
{
	uint64_t sum[PROF_NR_COUNTERS];

	session_counters(s, sum);
	return sum[PROF_THREADS] > sum[PROF_THREADS_GONE]
		       ? (sum[PROF_THREADS] - sum[PROF_THREADS_GONE]) * SESSION_THREAD_BYTES
		       : 0;
}

uint64_t session_map_bytes(const struct session *s)
{
	return maps_bytes(s->skel, s->maps.nr_cpus) + thread_bytes(s) +
	       (s->settle_fd > 0 ? 2 * sizeof(uint32_t) : 0) +
	       (uint64_t)s->segments.nr * TABLE_SEGMENT_BYTES;
}

void session_reduce(struct session *s)
{
	struct bpf_program *program;

	if (s->reduced)
		return;
	s->had_missed = session_missed(s);
	s->reduced = true;
	kernel_segments_close(&s->segments);
	s->segments = (struct kernel_segments){};
	links_free(s->points);
	s->points = NULL;
	for (size_t i = 0; i < PROBE_MAX_PROGRAMS; i++) {
		bpf_link__destroy(s->links[i]);
		s->links[i] = NULL;
	}
	bpf_object__for_each_program (program, s->skel->obj)
		if (program != s->skel->progs.ksyms_name)
			bpf_program__unload(program);
	maps_give_back(&s->maps, s->skel, &s->choice);
}

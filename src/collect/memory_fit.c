/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A need against a limit; tables of stacks are what can be smaller. */
#include "collect/memory_fit.h"

#include <errno.h>
#include <inttypes.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "event/memory.h"
#include "event/sideband.h"

#define MB ((uint64_t)1 << 20)
/*
 * Beside maps: the libraries and loading the programs (14 MB, measured), and what the processes of
 * the host and a profile take.
 */
#define USER_BYTES  (24 * MB)
#define TABLE_BYTES (8 * MB) /* of unwind tables; without more of it, stacks end early */
#define LAST_PART   8 /* of the limit, for a copy that reads names and what comes meanwhile */
#define TIGHT_BYTES (256 * MB)

static int refuse(const struct memory_limit *m, uint64_t needed)
{
	log_err(0,
		"not enough memory: bpfprof needs some %" PRIu64 " MB here, and the limit of the "
		"cgroup %s leaves %" PRIu64 " of %" PRIu64 " MB (raise the limit, or run bpfprof "
		"outside: systemd-run --scope)",
		(needed + MB - 1) / MB, m->cgroup, m->free_bytes / MB, m->limit_bytes / MB);
	return -ENOMEM;
}

int memory_fit_bytes(uint64_t map_bytes)
{
	struct memory_limit m;

	if (!memory_limit_read("", &m) || map_bytes + USER_BYTES <= m.free_bytes)
		return 0;
	return refuse(&m, map_bytes + USER_BYTES);
}

int memory_fit(struct session_opts *so, uint64_t *unwind_bytes)
{
	static const uint64_t smaller[] = { 16 * MB, 8 * MB, 4 * MB, 2 * MB };
	const size_t nr = so->max_bytes ? 0 : sizeof(smaller) / sizeof(*smaller);
	uint64_t others = USER_BYTES, needed;
	struct sizes_host host;
	struct memory_limit m;

	if (!memory_limit_read("", &m))
		return 0;
	if (m.free_bytes < others) /* nor for reading what else is needed */
		return refuse(&m, others + smaller[3]);
	host = sizes_host_read();
	others += sideband_plan_bytes(host.nr_cpus);
	if (so->config.call_graph != CALL_GRAPH_FP)
		others += TABLE_BYTES;
	needed = others + session_plan_bytes(so, &host);
	for (size_t i = 0; i < nr && needed > m.free_bytes; i++) {
		so->max_bytes = smaller[i];
		needed = others + session_plan_bytes(so, &host);
	}
	if (needed > m.free_bytes)
		return refuse(&m, needed);
	others = TABLE_BYTES + (m.free_bytes - needed) / 2;
	if (others < *unwind_bytes)
		*unwind_bytes = others;
	if (nr && so->max_bytes)
		log_warn("the memory limit of the cgroup %s leaves %" PRIu64 " MB: tables of "
			 "stacks have %" PRIu64 " MB instead of 32, and may lose more",
			 m.cgroup, m.free_bytes / MB, so->max_bytes / MB);
	return 0;
}

bool memory_is_tight(void)
{
	struct memory_limit m;

	return memory_limit_read("", &m) && m.limit_bytes < TIGHT_BYTES;
}

bool memory_runs_out(uint64_t profile_bytes, uint64_t begin_ns)
{
	struct memory_limit m;

	if (!memory_limit_read("", &m) || m.free_bytes >= profile_bytes + m.limit_bytes / LAST_PART)
		return false;
	log_warn("ended after %s: the limit of the cgroup %s leaves %" PRIu64 " of %" PRIu64
		 " MB, which the result needs; raise the limit, select fewer processes, or record "
		 "for a shorter time",
		 text_ns(now_ns() - begin_ns), m.cgroup, m.free_bytes / MB, m.limit_bytes / MB);
	return true;
}

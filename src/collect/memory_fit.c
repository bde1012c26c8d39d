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

/* used: of what the user gave. */
static bool limit_read(const struct memory_given *given, uint64_t used, struct memory_limit *m)
{
	bool is_limited = memory_limit_read("", m);

	if (!given->max_bytes)
		return is_limited;
	used = used < given->max_bytes ? given->max_bytes - used : 0;
	if (used < m->free_bytes)
		*m = (struct memory_limit){ given->max_bytes, used, "" };
	return true;
}

static bool limit_read_now(const struct memory_given *given, struct memory_limit *m)
{
	uint64_t used = given->max_bytes ? given->map_bytes + memory_own_bytes() : 0;

	return limit_read(given, used, m);
}

static int refuse(const struct memory_limit *m, uint64_t needed)
{
	if (!*m->cgroup)
		return log_as(-ENOMEM,
			      "--max-mem %" PRIu64 " is too little: bpfprof needs some %" PRIu64
			      " MB here",
			      m->limit_bytes / MB, (needed + MB - 1) / MB);
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

int memory_fit(struct session_opts *so, uint64_t *unwind_bytes, const struct memory_given *given)
{
	static const uint64_t smaller[] = { 16 * MB, 8 * MB, 4 * MB, 2 * MB };
	const size_t nr = so->max_bytes ? 0 : sizeof(smaller) / sizeof(*smaller);
	/* Of one that others follow, the next begins before it has ended. */
	const unsigned int nr_maps = given->max_bytes && so->few_stacks ? 2 : 1;
	uint64_t others = USER_BYTES, needed;
	struct sizes_host host;
	struct memory_limit m;

	/* Nothing is taken yet, or it is what another one had, which is the same. */
	if (!limit_read(given, 0, &m))
		return 0;
	if (*m.cgroup && m.free_bytes < others) /* nor for reading what else is needed */
		return refuse(&m, others + smaller[3]);
	host = sizes_host_read();
	others += sideband_plan_bytes(host.nr_cpus);
	if (so->config.call_graph != CALL_GRAPH_FP)
		others += TABLE_BYTES;
	needed = others + nr_maps * session_plan_bytes(so, &host);
	for (size_t i = 0; i < nr && needed > m.free_bytes; i++) {
		so->max_bytes = smaller[i];
		needed = others + nr_maps * session_plan_bytes(so, &host);
	}
	if (needed > m.free_bytes)
		return refuse(&m, needed);
	others = TABLE_BYTES + (m.free_bytes - needed) / 2;
	if (others < *unwind_bytes)
		*unwind_bytes = others;
	if (nr && so->max_bytes && *m.cgroup)
		log_warn("the memory limit of the cgroup %s leaves %" PRIu64 " MB: tables of "
			 "stacks have %" PRIu64 " MB instead of 32, and may lose more",
			 m.cgroup, m.free_bytes / MB, so->max_bytes / MB);
	return 0;
}

bool memory_is_tight(const struct memory_given *given)
{
	struct memory_limit m;

	return limit_read(given, 0, &m) && m.limit_bytes < TIGHT_BYTES;
}

bool memory_runs_out(const struct memory_given *given, uint64_t profile_bytes, uint64_t begin_ns)
{
	const char *ended = text_ns(now_ns() - begin_ns);
	struct memory_limit m;

	if (!limit_read_now(given, &m) || m.free_bytes >= profile_bytes + m.limit_bytes / LAST_PART)
		return false;
	if (!*m.cgroup)
		log_warn("ended after %s: %" PRIu64 " of the %" PRIu64 " MB of --max-mem are left, "
			 "which the result needs; raise it, select fewer processes, or record for "
			 "a shorter time",
			 ended, m.free_bytes / MB, m.limit_bytes / MB);
	else
		log_warn("ended after %s: the limit of the cgroup %s leaves %" PRIu64 " of %" PRIu64
			 " MB, which the result needs; raise the limit, select fewer processes, or "
			 "record for a shorter time",
			 ended, m.cgroup, m.free_bytes / MB, m.limit_bytes / MB);
	return true;
}

uint64_t memory_for_reader(const struct memory_given *given)
{
	struct memory_limit m;

	if (!given->max_bytes)
		return 0;
	limit_read_now(given, &m);
	return m.free_bytes ? m.free_bytes : 1;
}

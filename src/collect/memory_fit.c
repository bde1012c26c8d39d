/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A need against a limit; tables of stacks are what can be smaller. */
#include "collect/memory_fit.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "event/memory.h"
#include "event/sideband.h"
#include "profile/kind.h"

#define MB ((uint64_t)1 << 20)
/*
 * Beside maps: the libraries and loading the programs (14 MB, measured), and what the processes of
 * the host and a profile take.
 */
#define USER_BYTES  (24 * MB)
#define TABLE_BYTES (8 * MB) /* of unwind tables; without more of it, stacks end early */
#define LAST_PART   8 /* of the limit, for a copy that reads names and what comes meanwhile */
#define STACK_LEAST (2 * MB)
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

#define WRITTEN_BYTES 24

/* As it may be written behind an option: MB, or K where it is not whole MB. */
static const char *written(uint64_t bytes, char buf[WRITTEN_BYTES])
{
	bool is_whole = !(bytes % MB);

	snprintf(buf, WRITTEN_BYTES, "%" PRIu64 "%s", is_whole ? bytes / MB : bytes >> 10,
		 is_whole ? "" : "K");
	return buf;
}

/* An option that was given, and what would not be needed without it. */
struct wish {
	const char *option; /* NULL = there is none */
	uint64_t bytes;
};

static int refuse(const struct memory_limit *m, uint64_t needed, const struct wish *w)
{
	char most[WRITTEN_BYTES], less[64] = "";

	if (w && w->bytes >= MB)
		snprintf(less, sizeof(less), ", %" PRIu64 " MB less without %s", w->bytes / MB,
			 w->option);
	if (!*m->cgroup)
		return log_as(-ENOMEM,
			      "--max-mem %s is too little: bpfprof needs some %" PRIu64
			      " MB here%s",
			      written(m->limit_bytes, most), (needed + MB - 1) / MB, less);
	log_err(0,
		"not enough memory: bpfprof needs some %" PRIu64 " MB here%s, and the limit of the "
		"cgroup %s leaves %" PRIu64 " of %" PRIu64 " MB (raise the limit, or run bpfprof "
		"outside: systemd-run --scope)",
		(needed + MB - 1) / MB, less, m->cgroup, m->free_bytes / MB, m->limit_bytes / MB);
	return -ENOMEM;
}

/* The one that takes the most. stack_mem: so->max_bytes was given, else it is the least already. */
static struct wish largest_wish(const struct session_opts *so, const struct sizes_host *host,
				bool stack_mem)
{
	struct timeline_opts timeline = so->timeline ? *so->timeline : (struct timeline_opts){};
	struct calls_opts calls = so->calls ? *so->calls : (struct calls_opts){};
	struct ops_opts ops = so->ops ? *so->ops : (struct ops_opts){};
	struct session_opts without = *so;
	bool is_runqlat = kind_of(so->probe->name)->histograms;
	const struct {
		const char *option;
		uint64_t *bytes; /* one of these */
		uint32_t *nr;
		uint64_t least;
	} options[] = {
		{ "--ring", &timeline.ring_bytes, NULL, 0 },
		{ "--max-rows", NULL, &calls.max_rows, 0 },
		{ "--max-open", NULL, &ops.max_open, 0 },
		{ is_runqlat ? "--max-rows" : "--max-stacks", NULL, &without.max_stacks, 0 },
		{ "--stack-mem", &without.max_bytes, NULL,
		  stack_mem ? STACK_LEAST : so->max_bytes },
	};
	uint64_t all = session_plan_bytes(so, host), was, needed;
	struct wish most = {};

	without.timeline = so->timeline ? &timeline : NULL;
	without.calls = so->calls ? &calls : NULL;
	without.ops = so->ops ? &ops : NULL;
	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++) {
		uint64_t *bytes = options[i].bytes;
		uint32_t *nr = options[i].nr;

		was = bytes ? *bytes : *nr;
		if (was == options[i].least)
			continue;
		if (bytes)
			*bytes = options[i].least;
		else
			*nr = options[i].least;
		needed = session_plan_bytes(&without, host);
		if (needed < all && all - needed > most.bytes)
			most = (struct wish){ options[i].option, all - needed };
		if (bytes)
			*bytes = was;
		else
			*nr = was;
	}
	return most;
}

int memory_fit_bytes(uint64_t map_bytes)
{
	struct memory_limit m;

	if (!memory_limit_read("", &m) || map_bytes + USER_BYTES <= m.free_bytes)
		return 0;
	return refuse(&m, map_bytes + USER_BYTES, NULL);
}

int memory_fit(struct session_opts *so, uint64_t *unwind_bytes, const struct memory_given *given)
{
	static const uint64_t smaller[] = { 16 * MB, 8 * MB, 4 * MB, STACK_LEAST };
	const size_t nr = so->max_bytes ? 0 : sizeof(smaller) / sizeof(*smaller);
	/* Of one that others follow, the next begins before it has ended. */
	const unsigned int nr_maps = given->max_bytes && so->for_long ? 2 : 1;
	uint64_t others = USER_BYTES, needed;
	struct sizes_host host;
	struct memory_limit m;
	struct wish wish;

	/* Nothing is taken yet, or it is what another one had, which is the same. */
	if (!limit_read(given, 0, &m))
		return 0;
	if (*m.cgroup && m.free_bytes < others) /* nor for reading what else is needed */
		return refuse(&m, others + smaller[3], NULL);
	host = sizes_host_read();
	others += sideband_plan_bytes(host.nr_cpus);
	if (so->config.call_graph != CALL_GRAPH_FP)
		others += TABLE_BYTES;
	needed = others + nr_maps * session_plan_bytes(so, &host);
	for (size_t i = 0; i < nr && needed > m.free_bytes; i++) {
		so->max_bytes = smaller[i];
		needed = others + nr_maps * session_plan_bytes(so, &host);
	}
	if (needed > m.free_bytes) {
		wish = largest_wish(so, &host, !nr);
		wish.bytes *= nr_maps;
		return refuse(&m, needed, &wish);
	}
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
	char most[WRITTEN_BYTES];
	struct memory_limit m;

	if (!limit_read_now(given, &m) || m.free_bytes >= profile_bytes + m.limit_bytes / LAST_PART)
		return false;
	if (!*m.cgroup)
		log_warn("ended after %s: %" PRIu64 " MB of --max-mem %s are left, which the "
			 "result needs; raise it, select fewer processes, or record for a shorter "
			 "time",
			 ended, m.free_bytes / MB, written(m.limit_bytes, most));
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

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The agent's options, and where its windows go (agent_sinks.c). For agent.c and that only. */
#ifndef BPFPROF_CMD_AGENT_PARTS_H
#define BPFPROF_CMD_AGENT_PARTS_H

#include "agent/agent.h"
#include "agent/keep.h"
#include "agent/trigger.h"
#include "cmd/recording.h"

#define AGENT_MAX_SINKS	   8
#define AGENT_MAX_TRIGGERS 32

struct agent_args {
	struct recording_args common; /* first */
	uint64_t interval_ns, max_disk, spool_bytes;
	const char *keep;
	struct opt_strings on;
	uint32_t on_rate_hz;
	const char *listen, *listen_token, *rules;
	struct opt_strings push, push_labels;
	const char *push_token, *push_tenant, *push_ca, *spool;
	const char *min_weight;
	double min_share; /* of it */
	uint32_t max_series;
	bool insecure;
};

struct who;
struct metrics;
struct listener;
struct push;

struct service {
	struct agent_args *args;
	struct keep *keep;
	struct trigger triggers[AGENT_MAX_TRIGGERS];
	size_t nr_triggers;
	bool met;	   /* in the last window */
	unsigned int left; /* windows that are looked at more closely */
	struct who *who;
	uint32_t *pids;
	size_t nr_pids, cap_pids;
	struct metrics *metrics;
	struct listener *listener;
	struct push *push;
	struct agent_sink sinks[AGENT_MAX_SINKS]; /* in the order in which they get a window */
	size_t nr_sinks;
};

/* All that the options ask for. 0 or negative errno, logged. */
int service_open(struct service *s);
/* Of a service: a condition was met lately. */
bool service_is_close(void *arg);
void service_close(struct service *s);

#endif

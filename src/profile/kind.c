/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The table of kinds. */
#include "profile/kind.h"

#include <string.h>

#include "profile/profile.h"

static const struct kind kinds[] = {
	{ "oncpu", .seldom = true },
	{ .command = "pmu" },
	{ "offcpu", .is_time = true, .waits = true },
	/* The programs of offcpu, where it looks for driver gaps; its recordings are of offcpu. */
	{ "offcpu --gaps", .is_time = true, .waits = true, .samples = true },
	{ "runqlat", .is_time = true, .waits = true, .histograms = true },
	{ "wakeup", .is_time = true, .waits = true, .wakers = true },
	{ "lock", .is_time = true, .waits = true, .wakers = true, .locks = true },
	{ "wall", .is_time = true, .waits = true, .running = true },
	{ "top", .is_time = true, .waits = true, .running = true, .live = true },
	{ "agent", .is_time = true, .waits = true, .running = true, .live = true },
	{ .command = "timeline", .timeline = true },
	{ .command = "sched", .timeline = true, .table = true },
	{ .command = "uprobe", .calls = true },
	{ .command = "kprobe", .calls = true },
	{ .command = "tracepoint", .calls = true },
	{ .command = "alloc", .memory = true },
	{ .command = "faults", .faults = true },
	{ .command = "growth", .faults = true, .grows = true },
	{ .command = "io", .calls = true, .operation = "operation" },
	{ .command = "lock --kernel", .calls = true, .operation = "wait", .klocks = true },
	{ .command = "polls", .calls = true, .polls = "poll", .cheaper = "--runs" },
	{ .command = "polls --runs", .calls = true, .polls = "run" },
	{ "polls --slower-polls", .is_time = true, .waits = true, .running = true, .calls = true,
	  .polls = "poll", .cheaper = "--runs", .slow_polls = true },
	{ .command = "syscalls", .calls = true, .syscalls = true },
};

const struct kind *kind_of(const char *command)
{
	static const struct kind samples = { .command = "" };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strcmp(kinds[i].command, command))
			return &kinds[i];
	return &samples;
}

const char *kind_noun(const struct kind *kind)
{
	if (kind->faults)
		return "fault";
	if (kind->timeline)
		return "event";
	if (kind->operation)
		return kind->operation;
	if (kind->waits)
		return "wait";
	if (kind->polls)
		return kind->polls;
	return kind->calls || kind->memory ? "call" : "sample";
}

const struct kind *kind_of_profile(const struct profile *p)
{
	return kind_of(profile_str(p, p->meta.command));
}

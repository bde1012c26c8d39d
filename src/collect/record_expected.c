/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How many runs of our programs the kernel's own clock and counts promise. Of samples: a clock's
 * timer has one at the end of each period, unless its CPU was away, idle or the host's: then some
 * come late, and what that skips never comes. So as many as the kernel's account of CPU time
 * lacks may lack.
 */
#include "collect/record_parts.h"
#include "event/cpus.h"
#include "event/kernel_counts.h"
#include "profile/kind.h"

static uint64_t nr_online(void)
{
	struct cpus online = {};
	uint64_t nr = cpus_online(&online) ? 0 : online.nr;

	cpus_release(&online);
	return nr;
}

void record_begin_expected(struct record *r)
{
	r->counts = kernel_counts_read();
}

void record_end_expected(struct record *r)
{
	struct kernel_counts now = kernel_counts_read();

	if (!sampling_due(&r->sampling, &r->due))
		return;
	r->due_known = true;
	if (sampling_has_clock(&r->sampling))
		due_may_lack(&r->due, kernel_counts_away_ns(&r->counts, &now, nr_online()),
			     (now.time_ns - r->counts.time_ns) * r->nr_cpus);
}

/* All switches of the machine run the program, whoever is selected. */
bool record_expects(const struct record *r, struct due *d)
{
	const struct kind *kind = kind_of(r->opts->command);

	*d = r->due;
	if ((kind->waits || kind->timeline) && !session_switches(r->session, d))
		return false;
	return !r->sampling.nr || r->due_known;
}

/* False: not known. */
static bool add_expected(const struct record *r, const uint64_t counters[PROF_NR_COUNTERS],
			 struct profile_meta *m)
{
	bool timeline = kind_of(r->opts->command)->timeline;
	struct due d;

	if (!record_expects(r, &d))
		return false;
	m->expected_least += d.least;
	m->expected_most += d.most;
	/* The runs of a timeline are wake-ups, too, which the kernel does not count. */
	m->expected_seen += counters[timeline ? PROF_SWITCHES : PROF_RUNS];
	/* Nobody else counts polls. */
	m->expected_seen -= counters[PROF_POLL_RUNS];
	return true;
}

void record_describe_expected(struct record *r)
{
	add_expected(r, r->profile->counters, &r->profile->meta);
}

int record_sum_up(struct record *r, struct profile *sum)
{
	uint64_t counters[PROF_NR_COUNTERS];
	bool first = !sum->meta.event, known = first || sum->meta.expected_most;
	int err;

	sampling_stop(&r->sampling);
	record_end_expected(r);
	err = session_stop(r->session);
	if (err)
		return record_not_usage(err);
	session_counters(r->session, counters);
	counters[PROF_DEFER_FULL] += r->capture.nr_no_room;
	for (size_t i = 0; i < PROF_NR_COUNTERS; i++)
		sum->counters[i] += counters[i];
	if (!known || !add_expected(r, counters, &sum->meta))
		sum->meta.expected_least = sum->meta.expected_most = sum->meta.expected_seen = 0;
	if (first)
		sampling_describe(&r->sampling, sum);
	if (!sum->meta.event)
		sum->meta.event = profile_string(sum, r->opts->command);
	return 0;
}

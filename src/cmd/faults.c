/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* bpfprof faults: page faults, by stack, kind and memory. */
#include <errno.h>

#include "cmd/recording.h"
#include "event/catalog.h"

const struct opt faults_opts[] = {
	TARGET_ROWS,
	OPT_CPUS('C', "cpu", struct recording_args, record.cpus, "LIST", "only these CPUs: 0-3,8"),
	OPT_GROUP("How"),
	OPT_U64('c', "count", struct recording_args, record.sampling.period, 1, 1ull << 62, "N",
		"look at one fault in N on each CPU; counts are multiplied (default 1)"),
	STACK_ROWS,
	RESULTS_ROWS(struct recording_args, results),
	VERBOSE_ROWS,
	OPT_END,
};

static enum cmd_result run(struct recording_args *a)
{
	struct catalog *c = catalog_open("/");
	enum cmd_result result;
	struct event *v = NULL;
	size_t nr = 0;
	int err;

	if (!c)
		return cmd_failed(-errno);
	err = catalog_find_list(c, "minor-faults,major-faults", &v, &nr); /* in this order */
	a->record.sampling.events = v;
	a->record.sampling.nr_events = nr;
	result = err ? cmd_failed(err) : recording_run(a);
	events_free(v, nr);
	catalog_close(c);
	return result;
}

enum cmd_result cmd_faults(const struct command *self, int argc, char **argv)
{
	struct recording_args a = { .parse_words = recording_duration };

	return recording_main(self, argc, argv, &a, run);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* bpfprof tracepoint: events that the kernel tells of, and the time from one to another. */
#include "base/log.h"
#include "cmd/calls.h"

struct tracepoint_args {
	struct calls_args calls; /* first */
	const char *until;
};

const struct opt tracepoint_opts[] = {
	TARGET_ROWS,
	OPT_FLAG(0, "all", struct calls_args, points.all,
		 "attach also to more than 1000 tracepoints at a time"),
	CALL_ROWS_OF("NAME[:TYPE]",
		     "tell events apart by field NAME (a wrong one lists them), as TYPE int, uint, "
		     "long, ulong, ptr, str, i8 to u64 (repeatable)"),
	OPT_STRING(0, "until", struct tracepoint_args, until, "CATEGORY:NAME",
		   "how long it takes the thread to come to this tracepoint, as histograms"),
	OPT_TIME(0, "slower", struct recording_args, record.calls.min_ns, 1000, 1,
		 7 * 24 * 3600 * 1000000000ull, "TIME",
		 "with --until, only what takes at least this long: 500 or 500us, 1ms"),
	OPT_GROUP("How"),
	WALKING_ROWS,
	LIMIT_ROW,
	STRICT_ROW,
	CALLS_RESULTS_ROWS(struct recording_args, results),
	VERBOSE_ROWS,
	OPT_END,
};

static int add(struct points *p, const char *word)
{
	return points_add_tracepoint(p, word, false);
}

static enum cmd_result run(struct recording_args *common)
{
	struct tracepoint_args *a = (struct tracepoint_args *)common;

	a->calls.until = a->until;
	a->calls.are_fields = true;
	if (!a->until && common->record.calls.min_ns) {
		log_err(0, "--slower: a tracepoint takes no time; --until says to which other one "
			   "it is measured");
		return CMD_USAGE;
	}
	return calls_run(&a->calls, add);
}

enum cmd_result cmd_tracepoint(const struct command *self, int argc, char **argv)
{
	struct tracepoint_args a = { .calls.common = { .parse_words = calls_parse_words,
						       .results.kind = RESULT_CALLS } };

	return recording_main(self, argc, argv, &a.calls.common, run);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the commands have in common that are about calls: uprobe, kprobe, tracepoint. */
#ifndef BPFPROF_CMD_CALLS_H
#define BPFPROF_CMD_CALLS_H

#include "cmd/recording.h"
#include "collect/points.h"

struct calls_args {
	struct recording_args common; /* first */
	struct points_opts points;
	struct opt_strings args;
	const char **words; /* what to probe */
	size_t nr_words;
	const char *until; /* of tracepoints: where what began there ends */
	bool latency, stacks, per_process, arg_frame, force;
	bool are_fields; /* of tracepoints: args are fields, by name */
};

/* clang-format off */
#define CALL_ROWS                                                                                  \
	CALL_ROWS_OF("N[:TYPE]",                                                                   \
		     "tell calls apart by argument N (1 is the first; ret: what is returned, "     \
		     "implies --latency) of TYPE int, uint, long, ulong, ptr, str, i8 to u64 "     \
		     "(repeatable)")
#define CALL_ROWS_OF(word, text)                                                                   \
	OPT_GROUP("What of each call"),                                                            \
	OPT_STRINGS(0, "arg", struct calls_args, args, word, text),                                \
	OPT_FLAG(0, "arg-frame", struct calls_args, arg_frame,                                     \
		 "the values of --arg as the innermost frame of each stack (implies --stacks)"),   \
	OPT_FLAG('P', "per-process", struct calls_args, per_process, "a row for each process"),    \
	OPT_FLAG('g', "stacks", struct calls_args, stacks, "who calls, by stack"),                 \
	OPT_U32(0, "every", struct recording_args, record.calls.every, 1, 1000000, "N",            \
		"look at one call in N, at random; counts are multiplied"),                        \
	OPT_U32(0, "max-rows", struct recording_args, record.calls.max_rows, 16, 1 << 20, "N",     \
		"room for N different arguments (default 4096)"),                                  \
	OPT_FLAG(0, "force", struct calls_args, force,                                             \
		 "record also what is hit very often, and on kernels where a probe is not safe")

#define TIMED_ROWS                                                                                 \
	OPT_FLAG('l', "latency", struct calls_args, latency, "how long each takes, as histograms"),\
	OPT_TIME(0, "slower", struct recording_args, record.calls.min_ns, 1000, 1,                 \
		 7 * 24 * 3600 * 1000000000ull, "TIME",                                            \
		 "only calls of at least this long: 500 or 500us, 1ms (implies --latency)")
/* clang-format on */

/* Words that are no duration are what to probe. */
int calls_parse_words(struct recording_args *a, char **words, int nr);

/* Records and shows calls at the points that find makes of the words. */
enum cmd_result calls_run(struct calls_args *a, int (*add)(struct points *p, const char *word));

#endif

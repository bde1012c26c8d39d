/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bpfprof timeline and bpfprof sched: what each thread did when, and how long each one ran and
 * waited for a CPU.
 */
#include "base/log.h"
#include "cmd/recording.h"

#define LEAST_STACKS 16 /* none are taken */
#define AROUND_NS    20000000ull
#define RING_PART    4		   /* of all memory, the same again for what is read from it */
#define BESIDE_BYTES (25ull << 20) /* what a recording needs besides, on few CPUs */
#define LEAST_BYTES  (1ull << 20)  /* less shows nothing */
#define NOT_GIVEN    UINT64_MAX
#define MAX_NS	     (7 * 24 * 3600 * 1000000000ull)

/* clang-format off */
#define RING_ROWS                                                                                  \
	OPT_GROUP("What is kept"),                                                                 \
	OPT_TIME(0, "last", struct recording_args, record.timeline.last_ns, 1000000000, 1, MAX_NS, \
		 "TIME", "only the last TIME of the recording: 10, 500ms (default: all of it)"),   \
	OPT_SIZE(0, "ring", struct recording_args, record.timeline.ring_bytes, 1 << 20, 1,         \
		 1ull << 34, "MB",                                                                 \
		 "kernel memory for events of all CPUs, 64 bytes each (default 16 MB for each "    \
		 "CPU, at most 256); the oldest go first"),                                        \
	MAX_MEMORY_ROW
#define OUTPUT_ROWS                                                                                \
	STRICT_ROW,                                                                                \
	LIMIT_ROW,                                                                                 \
	OPT_GROUP("Output"),                                                                       \
	FORMS_ROWS(struct recording_args, results, TIMELINE_EXTENSIONS),                           \
	CSV_ROW(struct recording_args, results),                                                   \
	SCHED_ROWS(struct recording_args, results),                                                \
	VERBOSE_ROWS,                                                                              \
	OPT_END
/* clang-format on */

const struct opt timeline_opts[] = {
	TARGET_ROWS,
	RING_ROWS,
	OPT_U64(0, "threshold", struct recording_args, record.timeline.outlier_us, 1, 1ull << 40,
		"US",
		"end at the first wait for a CPU of at least US microseconds, and show who ran "
		"meanwhile, before and after"),
	OPT_TIME(0, "around", struct recording_args, record.timeline.around_ns, 1000000, 0, MAX_NS,
		 "TIME", "with --threshold: so much before and after (default 20ms)"),
	OPT_FLAG(0, "table", struct recording_args, results.budget,
		 "the table of threads on stdout, as bpfprof sched has it"),
	OUTPUT_ROWS,
};

const struct opt sched_opts[] = {
	TARGET_ROWS,
	RING_ROWS,
	OUTPUT_ROWS,
};

/* As much as there is room for: then what is said to be needed is enough, and more is, too. */
static uint64_t ring_most(uint64_t max_bytes)
{
	uint64_t most = max_bytes / RING_PART, left = 0;

	if (max_bytes > BESIDE_BYTES)
		left = (max_bytes - BESIDE_BYTES) / 2;
	if (left < most)
		most = left;
	return most < LEAST_BYTES && max_bytes ? LEAST_BYTES : most;
}

/* --around says something of an outlier only. */
static int parse_words(struct recording_args *a, char **words, int nr)
{
	struct timeline_opts *t = &a->record.timeline;

	if (t->around_ns != NOT_GIVEN && !t->outlier_us)
		return log_err(0, "--around needs --threshold: it is the time kept on both sides "
				  "of the long wait");
	if (t->around_ns == NOT_GIVEN)
		t->around_ns = AROUND_NS;
	t->most_bytes = ring_most(a->record.max_bytes);
	return recording_duration(a, words, nr);
}

static enum cmd_result run(const struct command *self, int argc, char **argv, enum result_kind kind)
{
	struct recording_args a = { .parse_words = parse_words,
				    .record.max_stacks = LEAST_STACKS,
				    .record.timeline.around_ns = NOT_GIVEN,
				    .results.kind = kind };

	return recording_main(self, argc, argv, &a, recording_run);
}

enum cmd_result cmd_timeline(const struct command *self, int argc, char **argv)
{
	return run(self, argc, argv, RESULT_TIMELINE);
}

enum cmd_result cmd_sched(const struct command *self, int argc, char **argv)
{
	return run(self, argc, argv, RESULT_SCHED);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* bpfprof lock: contended locks of programs, by waiters and holders. */
#include "cmd/recording.h"

const struct opt lock_opts[] = {
	TARGET_ROWS,
	BLOCK_ROWS,
	OPT_GROUP("How"),
	STACK_ROWS,
	WALK_ROWS,
	WAKEUP_ROWS,
	RESULTS_ROWS(struct recording_args, results),
	WAIT_ROWS(struct recording_args, results),
	VERBOSE_ROWS,
	OPT_END,
};

enum cmd_result cmd_lock(const struct command *self, int argc, char **argv)
{
	struct recording_args a = { .parse_words = recording_duration };

	return recording_main(self, argc, argv, &a, recording_run);
}

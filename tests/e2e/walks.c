/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * walks switches|FILE:FUNCTION PID SECONDS [OUTPUT [STACKS]]: records a stack wherever a thread of
 * a process leaves the CPU, or calls a function, and prints a summary as JSON; folded stacks go to
 * OUTPUT. The same recording as a command's; where threads leave the CPU, no stack is taken from
 * memory. STACKS: slots of tables.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "collect/points.h"
#include "collect/record.h"
#include "output/output.h"

static int write_results(const struct profile *p, const char *folded)
{
	const struct view view = {};
	FILE *f = folded ? fopen(folded, "w") : NULL;
	int err = json_write(p, &view, stdout);

	if (f) {
		folded_write(p, &view, f);
		fclose(f);
	}
	return err;
}

int main(int argc, char **argv)
{
	struct record_opts o = { .command = "offcpu", .max_depth = 1000, .audit = true };
	uint32_t pid = argc > 3 ? strtoul(argv[2], NULL, 10) : 0;
	char *colon = argc > 3 ? strrchr(argv[1], ':') : NULL;
	const struct points_opts po = {};
	struct points points = {};
	struct record *r;
	struct profile *p;
	int err;

	if (!pid)
		return 2;
	if (colon) {
		o.command = "uprobe";
		o.audit = false;
		points_init(&points, &po);
		if (points_add_uprobes(&points, argv[1]))
			return 1;
		o.calls = (struct calls_opts){ .events = points.events,
					       .nr_events = points.nr_events,
					       .args = points.args,
					       .nr_args = points.nr_args,
					       .points = points.v,
					       .nr_points = points.nr,
					       .stacks = true,
					       .force = true };
	}
	o.pids = (struct opt_ids){ .v = &pid, .nr = 1 };
	o.max_stacks = argc > 5 ? strtoul(argv[5], NULL, 10) : 0;
	o.duration_ns = strtod(argv[3], NULL) * 1e9;
	log_verbosity = 1;
	r = record_open(&o);
	if (!r || record_run(r))
		return 1;
	p = record_take(r);
	err = write_results(p, argc > 4 ? argv[4] : NULL);
	profile_free(p);
	record_close(r);
	return err != 0;
}

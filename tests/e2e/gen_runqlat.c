/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writes a made-up result of runqlat, whose numbers are known:
 *
 *	gen_runqlat all|process|thread|cpu|interval FILE...
 *
 * what rows are about; all and interval have none. The extension of each file chooses the output.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/output.h"
#include "tests/unit/made_runqlat.h"

static struct runqlat_report made(const struct runqlat_row *rows, const char *what)
{
	struct runqlat_report r = known_report(rows);

	r.split = strcmp(what, "all") && strcmp(what, "interval");
	for (enum prof_hist_by by = 0; by <= PROF_HIST_BY_THREAD; by++)
		if (!strcmp(what, latency_by_keys[by]))
			r.by = by;
	return r;
}

static int write_file(const char *path, const struct result *result)
{
	const struct output *output = output_find(RESULT_RUNQLAT, path);
	FILE *out = output ? fopen(path, "w") : NULL;

	if (out && !output_write(output, result, &(struct view){}, out) && !fclose(out))
		return 0;
	fprintf(stderr, "gen_runqlat: cannot write %s\n", path);
	return 1;
}

int main(int argc, char **argv)
{
	struct runqlat_row *rows = known_rows();
	struct profile *p = profile_new();
	struct runqlat_report given, r;
	int err = 0;

	if (argc < 3) {
		fprintf(stderr, "usage: gen_runqlat all|process|thread|cpu|interval FILE...\n");
		return 2;
	}
	given = made(rows, argv[1]);
	p->meta.command = profile_string(p, "runqlat");
	p->meta.target = profile_string(p, given.target);
	p->meta.start_ns = given.start_real_ns;
	p->meta.duration_ns = given.duration_ns;
	runqlat_report_keep(&given, p);
	runqlat_report_make(&r, p);
	if (!strcmp(argv[1], "interval")) {
		r.interval = 1;
		r.counters = NULL;
	}
	for (int i = 2; i < argc; i++)
		err |= write_file(argv[i], &(struct result){ RESULT_RUNQLAT, .runqlat = &r });
	runqlat_report_release(&r);
	profile_free(p);
	free(rows);
	return err;
}

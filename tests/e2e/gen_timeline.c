/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* gen_timeline COMMAND FILE: saves the timeline of tests/unit/made_timeline.h as that command. */
#include <stdio.h>

#include "profile/save.h"
#include "tests/unit/made_timeline.h"

int main(int argc, char **argv)
{
	struct profile *p = made_timeline();
	FILE *out;
	int err;

	if (argc != 3) {
		fprintf(stderr, "usage: gen_timeline timeline|sched FILE\n");
		return 2;
	}
	p->meta.command = profile_string(p, argv[1]);
	out = fopen(argv[2], "w");
	if (!out) {
		perror(argv[2]);
		return 1;
	}
	profile_save(p, out);
	err = fclose(out);
	profile_free(p);
	return err != 0;
}

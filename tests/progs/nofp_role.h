/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What nofp_first and nofp_second share: NAME SECONDS [SECONDS_EACH] burns for SECONDS_EACH in
 * main, FRAME(outer), FRAME(spin), then the process becomes the other program, until all SECONDS
 * are over. Without PIE their code lies at the same addresses; frames differ in size.
 */
#include <libgen.h>
#include <limits.h>
#include <unistd.h>

#include "nofp.h"

static CHAIN void FRAME(spin)(uint64_t ns)
{
	TAKE_STACK(ROOM);
	burn_until(CLOCK_MONOTONIC, wall_ns() + ns);
}

static CHAIN void FRAME(outer)(uint64_t ns)
{
	TAKE_STACK(ROOM);
	FRAME(spin)(ns);
}

int main(int argc, char **argv)
{
	double left = argc > 1 ? atof(argv[1]) : 5, each = argc > 2 ? atof(argv[2]) : 0.3;
	char self[PATH_MAX] = "", next[PATH_MAX + 16], seconds[32];

	FRAME(outer)((uint64_t)(each * (double)NS_PER_S));
	left -= each;
	if (left <= 0)
		return 0;
	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		return 1;
	snprintf(next, sizeof(next), "%s/%s", dirname(self), NEXT);
	snprintf(seconds, sizeof(seconds), "%f", left);
	execl(next, next, seconds, argc > 2 ? argv[2] : NULL, (char *)NULL);
	return 1;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * titles SECONDS: three processes that burn a little and sleep, until then. Two write over their
 * arguments what they are, as servers do: "titles: reader" and "titles: writer" with bytes that no
 * terminal should see. The first one leaves its own as they are.
 */
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "burn.h"

static void become(int argc, char **argv, const char *title)
{
	size_t room = argv[argc - 1] + strlen(argv[argc - 1]) - argv[0];

	memset(argv[0], 0, room);
	memcpy(argv[0], title, strlen(title) < room ? strlen(title) : room);
}

int main(int argc, char **argv)
{
	static const char *const titles[] = { "titles: reader", "titles: writer\033[31m\n" };
	uint64_t end = wall_ns() + arg_ns(argc, argv, 1, 1);

	for (size_t i = 0; i < 2; i++) {
		if (!fork()) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			become(argc, argv, titles[i]);
			break;
		}
	}
	while (wall_ns() < end) {
		burn_until(CLOCK_THREAD_CPUTIME_ID, cpu_ns() + 2000000);
		usleep(10000);
	}
	return 0;
}

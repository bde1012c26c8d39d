/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* CFLAGS: -pthread */
/* LDLIBS: -lpthread */
/*
 * hostile_comm [SECONDS]: one thread for each hostile name, which it bears; they share SECONDS of
 * CPU time. With --names it writes the names to stdout instead, each ended by a NUL.
 */
#include <pthread.h>
#include <string.h>
#include <sys/prctl.h>

#include "burn.h"
#include "hostile.h"

static uint64_t share;

static KEEP void *hostile_spin(void *name)
{
	prctl(PR_SET_NAME, name);
	burn_until(CLOCK_THREAD_CPUTIME_ID, share);
	return NULL;
}

static int print_names(void)
{
	int i;

	for (i = 0; i < NR_HOSTILE; i++)
		fwrite(hostile_names[i], 1, strlen(hostile_names[i]) + 1, stdout);
	return fflush(stdout) ? 1 : 0;
}

int main(int argc, char **argv)
{
	pthread_t threads[NR_HOSTILE];
	int i;

	if (argc > 1 && !strcmp(argv[1], "--names"))
		return print_names();
	share = arg_ns(argc, argv, 1, 10) / NR_HOSTILE;
	for (i = 0; i < NR_HOSTILE; i++)
		if (pthread_create(&threads[i], NULL, hostile_spin, (void *)hostile_names[i]))
			return 1;
	for (i = 0; i < NR_HOSTILE; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* CFLAGS: -O2 -fomit-frame-pointer -momit-leaf-frame-pointer -pthread */
/* LDLIBS: -lpthread */
/*
 * waits_churn [RATE [SECONDS]]: starts RATE threads "churn" a second; each sleeps for 1 ms in
 * brief_nap() and is gone. Ends with how many there were ("started N", "exited N").
 */
#include "waits.h"

#define MAX_LIVE 2000

static struct truth napped = { .name = "brief_nap" };
static atomic_ulong exited;

static CHAIN void brief_nap(void)
{
	struct mark from = mark_now();

	sleep_ns(NS_PER_MS);
	truth_add(&napped, from);
}

static CHAIN void *churn_main(void *arg)
{
	name_thread("churn");
	brief_nap();
	exited++;
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned long rate = arg_nr(argc, argv, 1, 1000), started = 0;
	uint64_t start = wall_ns(), length = arg_ns(argc, argv, 2, 2), now;
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 1 << 17);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	while ((now = wall_ns() - start) < length) {
		while (started < now * rate / NS_PER_S && started - exited < MAX_LIVE) {
			if (pthread_create(&thread, &attr, churn_main, NULL))
				break;
			started++;
		}
		sleep_ns(NS_PER_MS);
	}
	while (exited < started)
		sleep_ns(NS_PER_MS);
	printf("started %lu\nexited %lu\n", started, (unsigned long)exited);
	truth_print(&napped);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* chain_holder SECONDS: takes stacks on one CPU, which others take away again and again. */
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "tests/e2e/chain_holder.skel.h"

#define EVERY_NS 2000000 /* so often the other process wants the CPU */

static void pin(void)
{
	cpu_set_t first;

	CPU_ZERO(&first);
	CPU_SET(0, &first);
	sched_setaffinity(0, sizeof(first), &first);
}

static void interrupt_others(void)
{
	const struct timespec pause = { .tv_nsec = EVERY_NS };

	setpriority(PRIO_PROCESS, 0, -20);
	for (;;)
		nanosleep(&pause, NULL);
}

static int hold(const struct bpf_link *link, time_t seconds)
{
	time_t end = time(NULL) + seconds;
	char buf[64];
	int iter;

	while (time(NULL) < end) {
		iter = bpf_iter_create(bpf_link__fd(link));
		if (iter < 0)
			return 1;
		while (read(iter, buf, sizeof(buf)) > 0)
			;
		close(iter);
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct chain_holder_bpf *skel = chain_holder_bpf__open_and_load();
	pid_t other;
	int err;

	if (argc != 2 || !skel || chain_holder_bpf__attach(skel))
		return 2;
	pin();
	other = fork();
	if (!other)
		interrupt_others();
	setpriority(PRIO_PROCESS, 0, 19);
	err = hold(skel->links.hold, atoi(argv[1]));
	kill(other, SIGKILL);
	waitpid(other, NULL, 0);
	chain_holder_bpf__destroy(skel);
	return err;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * kernel TID SECONDS: what the accessors of bpf/kernel.bpf.h say of a thread that blocks, as
 * "NAME VALUE" lines. TID must be alone on that and sleep most of the time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/e2e/kernel.skel.h"

int main(int argc, char **argv)
{
	struct kernel_bpf *k;

	if (argc != 3)
		return 2;
	k = kernel_bpf__open();
	if (!k)
		return 1;
	k->rodata->target = atoi(argv[1]);
	if (kernel_bpf__load(k) || kernel_bpf__attach(k))
		return 1;
	usleep(atof(argv[2]) * 1e6);
	printf("state %u\npc 0x%llx\nsp 0x%llx\nblocked %u\npreempted %u\n", k->bss->state,
	       k->bss->pc, k->bss->sp, k->bss->nr_blocked, k->bss->nr_preempted);
	printf("argument %u\nno-argument %u\n", k->bss->has_argument, k->bss->lacks_argument);
	kernel_bpf__destroy(k);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What first_role and second_role share, all but the name of the function that they spin in:
 * without PIE both have it at the same address, so whoever misses the exec from one to the other
 * gives the second one the names of the first. It calls nobody: no other address than its own may
 * make somebody look again.
 */
#include <signal.h>
#include <unistd.h>

#define KEEP __attribute__((noinline))

static volatile sig_atomic_t done;

static void on_signal(int signal)
{
	done = 1;
}

static KEEP void ROLE(void)
{
	while (!done) /* asking for the frame keeps the compiler from doing without */
		__asm__ volatile("" : : "r"(__builtin_frame_address(0)));
}

int main(int argc, char **argv)
{
	signal(SIGUSR1, on_signal);
	ROLE();
	if (argc > 1)
		execl(argv[1], argv[1], (char *)NULL);
	return 1;
}

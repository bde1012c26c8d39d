/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel does not say which pipe it was: who writes elsewhere than to standard output says so
 * before, and besides that standard output is looked at.
 */
#include "base/pipes.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

static _Thread_local volatile sig_atomic_t spared;

bool pipes_is_read(int fd)
{
	struct pollfd p = { fd, POLLOUT, 0 };

	return poll(&p, 1, 0) <= 0 || !(p.revents & (POLLERR | POLLHUP));
}

/* By a write of ours, and not by kill() or raise(). */
static bool is_of_write(const siginfo_t *info)
{
	return info->si_code != SI_TKILL && info->si_pid == getpid();
}

static void on_pipe(int sig, siginfo_t *info, void *context)
{
	int saved = errno;
	sigset_t only;

	(void)context;
	if (is_of_write(info) && (spared || pipes_is_read(STDOUT_FILENO))) {
		errno = saved;
		return;
	}
	signal(sig, SIG_DFL);
	sigemptyset(&only);
	sigaddset(&only, sig);
	sigprocmask(SIG_UNBLOCK, &only, NULL);
	raise(sig);
}

void pipes_begin(void)
{
	struct sigaction on = { .sa_sigaction = on_pipe, .sa_flags = SA_SIGINFO | SA_RESTART }, was;

	sigemptyset(&on.sa_mask);
	if (!sigaction(SIGPIPE, NULL, &was) && was.sa_handler == SIG_DFL)
		sigaction(SIGPIPE, &on, NULL);
}

void pipes_spare(void)
{
	spared++;
}

void pipes_spare_end(void)
{
	spared--;
}

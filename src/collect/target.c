/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Starting and ending the profiled program. */
#include "collect/target.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "collect/record.h"
#include "event/refusal.h"

#define GRACE_MS 2000

static void run(int go, int failed, char **argv)
{
	sigset_t none;
	char byte;
	int err;

	record_tell_early(false); /* who forked us says so */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (read(go, &byte, 1) != 1)
		_exit(127);	  /* bpfprof gave up */
	signal(SIGXFSZ, SIG_DFL); /* which main() ignores */
	execvp(argv[0], argv);
	err = errno;
	if (write(failed, &err, sizeof(err)) < 0)
		_exit(126);
	_exit(127);
}

/* The child has its name from its birth on: it may not run before the first sample. */
static pid_t fork_held(void)
{
	char name[16] = "";
	pid_t pid;

	prctl(PR_GET_NAME, name);
	prctl(PR_SET_NAME, TARGET_HELD_NAME);
	pid = fork();
	if (pid)
		prctl(PR_SET_NAME, name);
	return pid;
}

int target_start(struct target *t, char **argv)
{
	int go[2] = { -1, -1 }, failed[2] = { -1, -1 };

	/* A socket: whoever lets a program go that is dead by then gets no signal for it. */
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, go) || pipe2(failed, O_CLOEXEC))
		return refusal_tell(-errno, "cannot make a pipe");
	t->pid = fork_held();
	if (t->pid < 0) {
		t->pid = 0;
		return log_err(-errno, "cannot start %s", argv[0]);
	}
	if (!t->pid) {
		close(go[1]);
		run(go[0], failed[1], argv);
	}
	close(go[0]);
	close(failed[1]);
	t->pidfd = syscall(SYS_pidfd_open, t->pid, 0);
	t->go = go[1];
	t->failed = failed[0];
	return 0;
}

int target_release(struct target *t, const char *name)
{
	int err = 0;

	if (send(t->go, "", 1, MSG_NOSIGNAL) != 1)
		return errno == EPIPE || errno == ECONNRESET
			       ? log_as(-EINTR, "%s was ended before it began", name)
			       : log_err(-errno, "cannot start %s", name);
	close(t->go);
	if (read(t->failed, &err, sizeof(err)) != sizeof(err))
		err = 0;
	close(t->failed);
	t->go = t->failed = -1;
	if (!err)
		return 0;
	waitpid(t->pid, NULL, 0);
	t->pid = 0;
	log_err(-err, "cannot start %s", name);
	return -ENOEXEC; /* whatever the reason, it is not that this host cannot profile */
}

static void report(int status, const char *name)
{
	if (WIFSIGNALED(status))
		log_warn("%s was ended by signal %d (%s)", name, WTERMSIG(status),
			 strsignal(WTERMSIG(status)));
	else if (WEXITSTATUS(status))
		log_warn("%s exited with status %d", name, WEXITSTATUS(status));
}

int target_ended(struct target *t, const char *name)
{
	struct rusage u;
	int status;

	if (!t->pid || wait4(t->pid, &status, WNOHANG, &u) != t->pid)
		return 0;
	t->cpu_ns = (u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000000ull +
		    (u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1000ull;
	t->pid = 0;
	t->status = status;
	report(status, name);
	return 1;
}

void target_terminate(struct target *t)
{
	if (t->pid && t->go <= 0)
		kill(t->pid, SIGTERM);
}

void target_stop(struct target *t)
{
	struct pollfd end = { .fd = t->pidfd, .events = POLLIN };

	if (!t->pid) {
		if (t->pidfd >= 0)
			close(t->pidfd);
		t->pidfd = -1;
		return;
	}
	if (t->failed > 0)
		close(t->failed);
	t->failed = -1;
	if (t->go > 0)
		close(t->go); /* never released: it ends by itself */
	else
		kill(t->pid, SIGTERM);
	if (poll(&end, 1, GRACE_MS) == 0)
		kill(t->pid, SIGKILL);
	/* It may wait where the kernel lets nobody go. */
	if (poll(&end, 1, GRACE_MS) == 1)
		waitpid(t->pid, NULL, 0);
	if (t->pidfd >= 0)
		close(t->pidfd);
	t->pid = 0;
	t->pidfd = -1;
}

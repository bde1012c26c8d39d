/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A small process that forks one child for each question, and that child. */
#include "reader/nursery.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "reader/cost.h"
#include "reader/jail.h"
#include "reader/steady.h"

#define SOCKET	3 /* of the nursery */
#define LAST_MS 20
/* Stacks wait for what is read, as for bpfprof itself while it records (collect/record.c). */
#define HURRY_NICE (-10)

int nursery_send(int socket, const void *bytes, size_t sz, const int *fds, size_t nr_fds)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(NURSERY_MAX_FDS * sizeof(int))];
	} control = {};
	struct iovec iov = { (void *)bytes, sz };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };
	struct cmsghdr *c;

	if (nr_fds) {
		m.msg_control = control.bytes;
		m.msg_controllen = CMSG_SPACE(nr_fds * sizeof(int));
		c = CMSG_FIRSTHDR(&m);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(nr_fds * sizeof(int));
		memcpy(CMSG_DATA(c), fds, nr_fds * sizeof(int));
	}
	return sendmsg(socket, &m, MSG_NOSIGNAL) < 0 ? -errno : (int)sz;
}

int nursery_receive(int socket, void *bytes, size_t sz, int fds[NURSERY_MAX_FDS])
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(NURSERY_MAX_FDS * sizeof(int))];
	} control = {};
	struct iovec iov = { bytes, sz };
	struct msghdr m = { .msg_iov = &iov,
			    .msg_iovlen = 1,
			    .msg_control = control.bytes,
			    .msg_controllen = sizeof(control) };
	struct cmsghdr *c;
	ssize_t got;

	for (size_t i = 0; i < NURSERY_MAX_FDS; i++)
		fds[i] = -1;
	do
		got = recvmsg(socket, &m, MSG_CMSG_CLOEXEC);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return -errno;
	c = CMSG_FIRSTHDR(&m);
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
		memcpy(fds, CMSG_DATA(c), c->cmsg_len - CMSG_LEN(0));
	return (int)got;
}

static void close_all(const int *fds, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

/* The kernel ends a child then, whatever it waits for, an answer of a file system too. */
static void set_deadline(uint64_t ns)
{
	const struct itimerval t = { .it_value = { ns / 1000000000, ns / 1000 % 1000000 } };
	sigset_t alarm;

	signal(SIGALRM, SIG_DFL);
	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	sigprocmask(SIG_UNBLOCK, &alarm, NULL);
	setitimer(ITIMER_REAL, &t, NULL);
}

static int run_task(const struct reader_task *task, const struct nursery_order *o, const int *fds,
		    struct reader_work *w)
{
	char *memory =
		mmap(NULL, o->answer_at + o->max_sz, PROT_READ | PROT_WRITE, MAP_SHARED, fds[0], 0);
	int err;

	if (memory == MAP_FAILED)
		return -errno;
	w->question = memory;
	w->question_sz = o->question_sz;
	w->answer = memory + o->answer_at;
	w->max_sz = o->max_sz;
	memcpy(w->fds, fds + 2, sizeof(w->fds));
	err = task->opens ? 0 : jail_enter(o->timeout_ns);
	return err ? err : task->run(w);
}

static int answers_at; /* of a child */

static void end_without_memory(void)
{
	const struct nursery_report r = { .pid = getpid(), .done = true, .err = -ENOMEM };
	ssize_t sz = write(answers_at, &r, sizeof(r));

	_exit(sz != sizeof(r));
}

static void child(const struct reader_task *task, const struct nursery_order *o, const int *fds)
	__attribute__((noreturn));
static void child(const struct reader_task *task, const struct nursery_order *o, const int *fds)
{
	struct nursery_report r = { .pid = getpid() };
	struct reader_work w = { .fd = -1 };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	jail_go_first();
	set_deadline(o->timeout_ns);
	if (write(fds[1], &r, sizeof(r)) != sizeof(r))
		_exit(1);
	answers_at = fds[1];
	mem_ends_by(end_without_memory);
	r.done = true;
	r.err = run_task(task, o, fds, &w);
	r.sz = w.sz;
	if (w.fd >= 0)
		nursery_send(fds[1], &r, sizeof(r), &w.fd, 1);
	else if (write(fds[1], &r, sizeof(r)) != sizeof(r))
		_exit(1);
	_exit(0);
}

/* What an order asks for, in a process of its own. */
static void begin(const struct reader_task *tasks, size_t nr, const struct nursery_order *o,
		  const int *fds) __attribute__((noreturn));
static void begin(const struct reader_task *tasks, size_t nr, const struct nursery_order *o,
		  const int *fds)
{
	if (o->task != NURSERY_STEADY)
		child(&tasks[o->task], o, fds);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	jail_go_first();
	steady_run(fds[1], fds[0], tasks, nr);
}

/*
 * Those who have answered are about to end, and what they took is known when they have. Those who
 * hang end with us.
 */
static void await_children(void)
{
	for (int i = 0; i < LAST_MS; i++) {
		pid_t pid;

		do
			pid = waitpid(-1, NULL, WNOHANG);
		while (pid > 0);
		if (pid < 0)
			break;
		usleep(1000);
	}
}

/* There is no child that could answer. */
static void refuse(int fd, int err)
{
	const struct nursery_report r = { .done = true, .err = err };

	nursery_send(fd, &r, sizeof(r), NULL, 0);
}

/* Somebody may stop a child before it says anything. */
static void tell_born(int fd, pid_t pid)
{
	const struct nursery_report r = { .pid = pid, .born = true };

	nursery_send(fd, &r, sizeof(r), NULL, 0);
}

static uint64_t usage_ns(int who)
{
	struct rusage u = {};

	getrusage(who, &u);
	return (u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000000ull +
	       (u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1000ull;
}

int nursery_null(void)
{
	int fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	return fd < 0 ? memfd_create("null", MFD_CLOEXEC) : fd;
}

/* Nothing of ours but its socket and standard error. */
static void become(int socket, struct nursery_told *told)
{
	static const int ignored[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE };
	int null = nursery_null();

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "bpfprof-reader");
	if (!getpriority(PRIO_PROCESS, 0))
		setpriority(PRIO_PROCESS, 0, HURRY_NICE);
	for (int i = 1; i < NSIG; i++)
		signal(i, SIG_DFL); /* a child that goes wrong ends, whatever we would do */
	for (size_t i = 0; i < sizeof(ignored) / sizeof(*ignored); i++)
		signal(ignored[i], SIG_IGN);
	if (null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0 || dup2(socket, SOCKET) < 0)
		_exit(1);
	close_range(SOCKET + 1, ~0u, 0);
	madvise(told, sizeof(*told), MADV_DONTFORK); /* children are not believed */
	told->first_bytes = cost_memory();
	__atomic_store_n(&told->ready, 1, __ATOMIC_RELEASE);
}

void nursery_run(int socket, const struct reader_task *tasks, size_t nr, struct nursery_told *told)
{
	int fds[NURSERY_MAX_FDS];
	struct nursery_order o;

	become(socket, told);
	while (nursery_receive(SOCKET, &o, sizeof(o), fds) == sizeof(o)) {
		bool known = o.task < nr || o.task == NURSERY_STEADY;
		pid_t pid = known ? fork() : 0;

		if (!pid && known) {
			close(SOCKET);
			begin(tasks, nr, &o, fds);
		}
		if (pid < 0)
			refuse(fds[1], -errno);
		else if (pid)
			tell_born(fds[1], pid);
		close_all(fds, NURSERY_MAX_FDS);
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
		__atomic_store_n(&told->spent_ns, usage_ns(RUSAGE_SELF) + usage_ns(RUSAGE_CHILDREN),
				 __ATOMIC_RELAXED);
	}
	await_children();
	_exit(0);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A copy of ourselves that does one thing, and how we wait for it. */
#include "reader/fork.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "reader/jail.h"

#define LOOK_MS 20
#define DIES_MS 200 /* after the signal, however busy the machine is */
#define HOLD_MS 40  /* who does not even run by then is held by the kernel */
#define LOWEST	19
#define LATE	1

/* Who goes on with after() may change it at any time. */
struct head {
	int64_t result; /* of run() */
	uint64_t done;
	uint64_t first_bytes;	 /* that it shared with us */
	struct reader_cost cost; /* until then */
};

static struct head *own; /* of a copy, until it has answered */

static void end_without_memory(void)
{
	if (own) {
		own->result = -ENOMEM;
		own->done = 1;
	}
	_exit(0);
}

/* done: an eventfd, which says so; -1 = it is waited for until it ends. */
static void work(const struct reader_copy *c, struct head *h, int done) __attribute__((noreturn));
static void work(const struct reader_copy *c, struct head *h, int done)
{
	int err, null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	/* Who reads what we print does not wait for a copy that goes on. */
	if (null > STDERR_FILENO) {
		dup2(null, STDOUT_FILENO);
		close(null);
	}
	for (int i = 1; i < NSIG; i++)
		if (i != SIGINT)
			signal(i, SIG_DFL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	jail_leave_probes();
	jail_go_first();
	own = h;
	mem_ends_by(end_without_memory);
	h->first_bytes = cost_memory();
	if (c->prepare)
		c->prepare(c->arg);
	err = jail_enter_lean(c->timeout_ns, c->folder);
	h->result = err ? err : c->run(c->arg, h + 1, READER_MAX_ANSWER - sizeof(*h));
	cost_self(h->first_bytes, &h->cost);
	h->done = 1;
	own = NULL;
	if (!err && c->after) {
		if (done >= 0) {
			eventfd_write(done, 1);
			setpriority(PRIO_PROCESS, 0, LOWEST);
		}
		c->after(c->arg);
	}
	_exit(0);
}

static uint64_t cpu_ns(pid_t pid)
{
	struct timespec t = {};
	clockid_t clock;

	if (!clock_getcpuclockid(pid, &clock))
		clock_gettime(clock, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

/*
 * Until it has ended: 0, or LATE when it has answered and goes on; -ETIMEDOUT when it does not in
 * time, or does nothing any more; -EINTR; -EPIPE when somebody stopped it.
 */
static int ends(const struct reader_copy *c, pid_t pid, int pidfd, int done)
{
	uint64_t begin = now_ns(), busy_ns = begin, used = 0, now_used;
	struct pollfd p[] = { { pidfd, POLLIN, 0 }, { done, POLLIN, 0 } };

	while (now_ns() < begin + c->timeout_ns) {
		if (poll(p, 2, LOOK_MS))
			return p[1].revents && !p[0].revents ? LATE : 0;
		if (c->stop && c->stop(c->stop_arg))
			return -EINTR;
		if (cost_is_stopped(pid))
			return -EPIPE;
		now_used = cpu_ns(pid);
		if (now_used != used || cost_is_runnable(pid))
			busy_ns = now_ns();
		used = now_used;
		if (c->idle_ns && now_ns() > busy_ns + c->idle_ns)
			break;
	}
	return -ETIMEDOUT;
}

/* What ended since is waited for. */
static size_t count(struct reader_left_one *v, size_t nr)
{
	for (size_t i = nr; i-- > 0;) {
		if (waitpid(v[i].pid, NULL, WNOHANG) == 0)
			continue;
		close(v[i].pidfd);
		v[i] = v[--nr];
	}
	return nr;
}

size_t reader_left_count(struct reader_left *l)
{
	return l->nr = count(l->v, l->nr);
}

void reader_left_release(struct reader_left *l)
{
	reader_left_count(l);
	while (l->nr)
		close(l->v[--l->nr].pidfd);
}

/* False: they are gone, or a signal came. */
static bool wait_late(struct reader_late *l, int ms)
{
	struct pollfd p[READER_MAX_LATE];

	l->nr = count(l->v, l->nr);
	for (size_t i = 0; i < l->nr; i++)
		p[i] = (struct pollfd){ l->v[i].pidfd, POLLIN, 0 };
	return l->nr && poll(p, l->nr, ms) >= 0;
}

void reader_late_end(struct reader_late *l, uint64_t ns)
{
	uint64_t until = now_ns() + ns, kill_ns = DIES_MS * 1000000ull;

	for (size_t i = 0; i < l->nr; i++)
		setpriority(PRIO_PROCESS, l->v[i].pid, getpriority(PRIO_PROCESS, 0));
	while (now_ns() < until && wait_late(l, LOOK_MS))
		;
	for (size_t i = 0; i < l->nr; i++)
		kill(l->v[i].pid, SIGKILL);
	for (until = now_ns() + kill_ns; now_ns() < until && wait_late(l, LOOK_MS);)
		;
	while (l->nr)
		close(l->v[--l->nr].pidfd);
}

/* After SIGKILL. False: the kernel holds it, or it takes long. */
static bool dies(pid_t pid, int pidfd)
{
	struct pollfd p = { pidfd, POLLIN, 0 };

	for (int ms = 0; ms < DIES_MS; ms += LOOK_MS) {
		if (poll(&p, 1, LOOK_MS))
			return true;
		if (ms >= HOLD_MS && !cost_is_runnable(pid))
			return false;
	}
	return false;
}

/* By itself, or by us when its time is over. */
static int wait_for(const struct reader_copy *c, struct reader_left *left, pid_t pid, int done,
		    const struct head *h, struct reader_cost *cost)
{
	int pidfd = syscall(SYS_pidfd_open, pid, 0);
	int err = pidfd >= 0 ? ends(c, pid, pidfd, done) : -errno;

	if (err == LATE) {
		c->late->v[c->late->nr++] = (struct reader_left_one){ pid, pidfd };
		reader_cost_add(cost, &h->cost);
		return 0;
	}
	if (err)
		kill(pid, SIGKILL);
	if (err && pidfd >= 0 && !dies(pid, pidfd)) {
		left->v[left->nr++] = (struct reader_left_one){ pid, pidfd };
		return err; /* who was stopped is asked for less, however long its end takes */
	}
	while (cost_wait(pid, 0, h->first_bytes, cost) < 0 && errno == EINTR)
		;
	if (pidfd >= 0)
		close(pidfd);
	return err;
}

static int take(const struct head *h, struct reader_answer *a)
{
	int64_t result = __atomic_load_n(&h->result, __ATOMIC_ACQUIRE);

	if (!h->done || result > (int64_t)(READER_MAX_ANSWER - sizeof(*h)))
		return -EPIPE;
	if (result < 0)
		return (int)result;
	a->bytes = xmalloc(result + 1);
	a->sz = result;
	memcpy(a->bytes, h + 1, result);
	return 0;
}

/* It leaves no core dump: not at any moment, since that would have all that we have. */
static pid_t fork_without_core(void)
{
	struct rlimit was, none;
	bool is = !getrlimit(RLIMIT_CORE, &was);
	pid_t pid;

	none = (struct rlimit){ 0, was.rlim_max };
	is = is && !setrlimit(RLIMIT_CORE, &none);
	pid = fork();
	if (pid && is)
		setrlimit(RLIMIT_CORE, &was);
	return pid;
}

int reader_copy_run(const struct reader_copy *c, struct reader_left *left, struct reader_answer *a,
		    struct reader_cost *cost)
{
	struct head *h;
	int err, done = -1;
	pid_t pid;

	*a = (struct reader_answer){ .fd = -1 };
	if (reader_left_count(left) == READER_MAX_LEFT)
		return -EBUSY;
	h = mmap(NULL, READER_MAX_ANSWER, PROT_READ | PROT_WRITE,
		 MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (h == MAP_FAILED)
		return -errno;
	if (c->after && c->late && (c->late->nr = count(c->late->v, c->late->nr)) < READER_MAX_LATE)
		done = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	pid = fork_without_core();
	if (!pid)
		work(c, h, done);
	err = pid < 0 ? -errno : wait_for(c, left, pid, done, h, cost);
	if (done >= 0)
		close(done);
	if (!err)
		err = take(h, a);
	munmap(h, READER_MAX_ANSWER);
	return err;
}

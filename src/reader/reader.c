/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The side of the reader that asks, and does not wait longer than it said. */
#include "reader/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "reader/losses.h"
#include "reader/nursery.h"
#include "reader/steady.h"
#include "reader/watched.h"

#define PAGE	  65536u      /* of any kernel we run on */
#define GRACE_NS  50000000ull /* for the kernel to end a child */
#define TURN_MS	  3
#define LOOK_MS	  20
#define REVIVE_MS 5
#define TOLD	  3
#define TRIES	  3		/* somebody may kill children, one after the other */
#define END_MS	  100		/* for the nursery to hear of its children's end, and to follow */
#define READY_NS  5000000000ull /* of one that gets no CPU: who is stopped is seen at once */
#define READY_US  100

#define MAX_PIDS (1u << 22) /* of a kernel */

struct reader {
	const struct reader_task *tasks;
	size_t nr_tasks;
	pid_t nursery; /* -1 = there is none */
	int socket;
	struct reader_cost cost; /* of those that ended */
	struct nursery_told *told;
	uint64_t *children; /* all there were: a bit each */
	struct losses losses;
	struct steady steady;
	bool told_none;
	bool starved; /* who was asked last and gave no answer */
};

/* No child can be had, for whatever it would look at: that is told once, not for each file. */
static int tell_none(struct reader *r, int err)
{
	if (!r->told_none)
		log_warn("no process can be started that looks at files and at other processes "
			 "(%s; ulimit -a lists limits): names and stacks may be missing",
			 strerror(-err));
	r->told_none = true;
	return err;
}

static void remember_child(struct reader *r, pid_t pid)
{
	if (pid > 0 && (uint32_t)pid < MAX_PIDS)
		r->children[pid / 64] |= 1ull << pid % 64;
}

/* Has it closed what was ours? Not if somebody stopped it first: what we attach would stay. */
static bool is_ready(const struct reader *r)
{
	uint64_t until = now_ns() + READY_NS;

	while (!__atomic_load_n(&r->told->ready, __ATOMIC_ACQUIRE)) {
		if (now_ns() > until || cost_is_stopped(r->nursery))
			return false;
		usleep(READY_US);
	}
	return true;
}

static int start_once(struct reader *r)
{
	int sockets[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets))
		return -errno;
	*r->told = (struct nursery_told){};
	r->nursery = fork();
	if (!r->nursery)
		nursery_run(sockets[1], r->tasks, r->nr_tasks, r->told);
	close(sockets[1]);
	remember_child(r, r->nursery);
	if (r->nursery > 0 && is_ready(r)) {
		r->socket = sockets[0];
		return 0;
	}
	close(sockets[0]);
	if (r->nursery > 0 && !kill(r->nursery, SIGKILL))
		waitpid(r->nursery, NULL, 0);
	r->socket = r->nursery = -1;
	return -EAGAIN;
}

/* 0 or negative errno. */
static int start_nursery(struct reader *r)
{
	int err = -EAGAIN;

	for (int i = 0; i < TRIES && err == -EAGAIN; i++)
		err = start_once(r);
	return err;
}

/* Has it ended? */
static bool hear_end(struct reader *r)
{
	if (cost_wait(r->nursery, WNOHANG, r->told->first_bytes, &r->cost) == r->nursery)
		r->nursery = -1;
	return r->nursery < 0;
}

static void end_nursery(struct reader *r)
{
	steady_stop(&r->steady);
	if (r->nursery <= 0)
		return;
	close(r->socket);
	for (int i = 0; i < END_MS && !hear_end(r); i++)
		usleep(1000);
	if (r->nursery > 0) {
		kill(r->nursery, SIGKILL); /* and its children with it: PR_SET_PDEATHSIG */
		cost_wait(r->nursery, 0, r->told->first_bytes, &r->cost);
	}
	r->nursery = -1;
}

struct reader *reader_new(const struct reader_task *tasks, size_t nr)
{
	struct reader *r = xcalloc(1, sizeof(*r));
	int err;

	r->children = xcalloc(MAX_PIDS / 64, sizeof(*r->children));
	r->tasks = tasks;
	r->nr_tasks = nr;
	r->nursery = -1;
	steady_init(&r->steady);
	r->told = mmap(NULL, sizeof(*r->told), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		       -1, 0);
	if (r->told == MAP_FAILED) {
		err = -errno;
		reader_free(r);
		errno = -err;
		return NULL;
	}
	start_nursery(r); /* without one, questions are refused */
	return r;
}

struct reader_cost reader_end(struct reader *r)
{
	end_nursery(r);
	return r->cost;
}

uint64_t reader_running_ns(const struct reader *r)
{
	struct timespec t = {};
	clockid_t clock;

	if (r->nursery <= 0)
		return 0;
	if (r->steady.pidfd >= 0 && !clock_getcpuclockid(r->steady.pid, &clock))
		clock_gettime(clock, &t);
	return __atomic_load_n(&r->told->spent_ns, __ATOMIC_RELAXED) + t.tv_sec * 1000000000ull +
	       t.tv_nsec;
}

void reader_free(struct reader *r)
{
	if (!r)
		return;
	end_nursery(r);
	steady_release(&r->steady);
	if (r->told != MAP_FAILED)
		munmap(r->told, sizeof(*r->told));
	free(r->children);
	free(r);
}

bool reader_tells(uint32_t *nr)
{
	if (++*nr == TOLD + 1)
		log_warn("more files could not be read: these are not listed");
	return *nr <= TOLD;
}

bool reader_is_child(const struct reader *r, pid_t pid)
{
	return r && pid > 0 && (uint32_t)pid < MAX_PIDS && r->children[pid / 64] & 1ull << pid % 64;
}

/* Memory for a question and its answer, of which neither side can take anything away. */
static int share_memory(const struct reader_question *q, const struct nursery_order *o)
{
	int fd = memfd_create("bpfprof-reader", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0)
		return -errno;
	if (ftruncate(fd, o->answer_at + o->max_sz) ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) ||
	    pwrite(fd, q->bytes, q->sz, 0) != (ssize_t)q->sz) {
		int err = errno == EFBIG ? -EFBIG : -ENOMEM;

		close(fd);
		return err;
	}
	return fd;
}

/* Who was stopped by somebody is as good as dead. */
static bool end_stopped(const struct reader *r, const struct watched *w)
{
	pid_t pid = w->pid ? w->pid : r->nursery;

	if (!w->pid && pid > 0 && cost_has_ended(pid))
		return true;
	if (pid <= 0 || !cost_is_stopped(pid))
		return false;
	kill(pid, SIGKILL);
	return true;
}

/*
 * A report of the child: 0; -ETIMEDOUT: not in time, or it hung; -EINTR: somebody else wants us;
 * -EPIPE: there will be none.
 */
static int wait_report(const struct reader *r, const struct reader_question *q, int socket,
		       uint64_t until_ns, struct watched *w, struct nursery_report *report, int *fd)
{
	struct pollfd p[] = { { socket, POLLIN, 0 }, { q->interrupt, POLLIN, 0 } };
	int fds[NURSERY_MAX_FDS], got = 0, turn_ms = q->meanwhile ? TURN_MS : LOOK_MS;
	uint64_t now;

	while ((now = now_ns()) < until_ns) {
		int ms = (until_ns - now) / 1000000 + 1;

		p[0].revents = p[1].revents = 0;
		poll(p, q->interrupt ? 2 : 1, ms > turn_ms ? turn_ms : ms);
		if (p[1].revents)
			return -EINTR;
		if (p[0].revents) {
			got = nursery_receive(socket, report, sizeof(*report), fds);
			break;
		}
		if (q->meanwhile)
			q->meanwhile(q->arg);
		watched_look(w);
		if (q->idle_ns && watched_has_hung(w, q->idle_ns))
			return -ETIMEDOUT;
		if (end_stopped(r, w))
			return -EPIPE;
	}
	if (now >= until_ns)
		return -ETIMEDOUT;
	*fd = got > 0 ? fds[0] : -1;
	return got == sizeof(*report) ? 0 : -EPIPE;
}

static int read_answer(int memory, const struct nursery_order *o, uint64_t sz,
		       struct reader_answer *a)
{
	if (sz > o->max_sz)
		return -EBADMSG;
	if (!sz)
		return 0;
	a->bytes = xmalloc(sz);
	a->sz = sz;
	for (uint64_t at = 0; at < sz;) {
		ssize_t got = pread(memory, (char *)a->bytes + at, sz - at, o->answer_at + at);

		if (got <= 0) {
			free(a->bytes);
			*a = (struct reader_answer){ .fd = -1 };
			return -EBADMSG;
		}
		at += got;
	}
	return 0;
}

static int await(struct reader *r, const struct reader_question *q, const struct nursery_order *o,
		 int memory, int socket, struct reader_answer *a)
{
	uint64_t begin = now_ns(), until = begin + o->timeout_ns + GRACE_NS;
	struct nursery_report report = {};
	struct watched watched = { .looked_ns = begin };
	int err, fd = -1;

	do {
		err = wait_report(r, q, socket, until, &watched, &report, &fd);
		if (!err && !report.done)
			remember_child(r, watched.pid = report.pid);
	} while (!err && !report.done);
	if (err)
		watched_look(&watched);
	r->starved = err && watched_has_starved(&watched, o->timeout_ns);
	if (!err)
		err = report.err < 0 ? (int)report.err : 0;
	if (!err)
		err = read_answer(memory, o, report.sz, a);
	if (err && fd >= 0)
		close(fd);
	a->fd = err ? -1 : fd;
	return err;
}

static int ask_once(struct reader *r, const struct reader_question *q,
		    const struct nursery_order *o, struct reader_answer *a)
{
	int sockets[2], fds[NURSERY_MAX_FDS], err;

	fds[0] = share_memory(q, o);
	if (fds[0] < 0)
		return tell_none(r, fds[0]);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets)) {
		close(fds[0]);
		return -errno;
	}
	fds[1] = sockets[1];
	for (size_t i = 0; i < q->nr_fds; i++)
		fds[i + 2] = q->fds[i];
	err = nursery_send(r->socket, o, sizeof(*o), fds, q->nr_fds + 2);
	close(sockets[1]);
	err = err < 0 ? -EPIPE : await(r, q, o, fds[0], sockets[0], a);
	close(sockets[0]);
	close(fds[0]);
	return err;
}

static int tries(struct reader *r)
{
	return losses_are_many(&r->losses) ? 1 : TRIES;
}

/*
 * Was it the nursery that ended, not a child? Somebody may have killed it. That it is gone can be
 * heard a moment before it can be seen. 0, or negative errno: there is none now.
 */
static int revive(struct reader *r)
{
	for (int i = 0; i < REVIVE_MS && r->nursery > 0; i++) {
		if (!hear_end(r)) {
			usleep(1000);
		} else {
			close(r->socket);
			r->socket = -1;
		}
	}
	return r->nursery < 0 ? start_nursery(r) : 0;
}

int reader_ask(struct reader *r, const struct reader_question *q, struct reader_answer *a)
{
	struct nursery_order o = { .task = q->task,
				   .nr_fds = q->nr_fds,
				   .question_sz = q->sz,
				   .answer_at = (q->sz + PAGE - 1) / PAGE * PAGE,
				   .max_sz = READER_MAX_ANSWER,
				   .timeout_ns = q->timeout_ns };
	uint64_t begin_ns, until_ns = now_ns() + q->timeout_ns;
	int err = -EPIPE, no_room = 0;
	bool patient = false;

	*a = (struct reader_answer){ .fd = -1 };
	if (losses_are_too_many(&r->losses))
		return -EBUSY;
	for (int i = 0; i < tries(r) && err == -EPIPE; i++) {
		begin_ns = now_ns();
		err = ask_once(r, q, &o, a);
		/* By the kernel, at its deadline. */
		if (err == -EPIPE && now_ns() >= until_ns)
			err = -ETIMEDOUT;
		if (err == -ETIMEDOUT && r->starved && !patient && i + 1 < tries(r)) {
			patient = true;
			o.timeout_ns += READER_STARVES_NS;
			until_ns = now_ns() + o.timeout_ns;
			err = -EPIPE;
			continue;
		}
		if (err == -EPIPE || err == -ETIMEDOUT)
			losses_add(&r->losses, begin_ns);
		if (err == -EPIPE)
			no_room = revive(r);
	}
	return err == -EPIPE && no_room ? tell_none(r, no_room) : err;
}

/* 0 or negative errno. */
static int need_steady(struct reader *r)
{
	int err = r->steady.memory ? 0 : -EPIPE;

	for (int i = 0; i < tries(r) && err == -EPIPE; i++) {
		if (end_stopped(r, &(struct watched){}))
			err = -EPIPE;
		else if (r->nursery > 0)
			err = steady_start(&r->steady, r->socket, r->nursery);
		if (err == -EPIPE)
			err = revive(r) ?: -EPIPE;
	}
	if (!err)
		remember_child(r, r->steady.pid);
	return err && err != -EPIPE ? tell_none(r, err) : err;
}

/* Rows of which nobody is refused; how many are done with. */
struct asked {
	void (*take)(void *arg, size_t i, const void *bytes, ssize_t sz);
	void *arg;
	size_t from;
};

static void take_from(void *arg, size_t i, const void *bytes, ssize_t sz)
{
	const struct asked *a = arg;

	a->take(a->arg, a->from + i, bytes, sz);
}

static size_t ask_some(struct reader *r, unsigned int task, const uint8_t *rows, size_t nr,
		       struct asked *a)
{
	size_t row_sz = r->tasks[task].row_sz;
	uint32_t nr_silent = r->steady.nr_silent;
	int err = losses_are_too_many(&r->losses) ? -EBUSY : -EPIPE;

	for (int i = 0; i < tries(r) && err != -EBUSY; i++) {
		uint64_t begin_ns = now_ns();
		size_t done = 0;

		err = need_steady(r);
		if (!err)
			done = steady_ask(&r->steady, task, row_sz, rows, nr, &err, take_from, a);
		if (err || r->steady.nr_silent != nr_silent)
			losses_add(&r->losses, begin_ns);
		if (done)
			return done;
	}
	take_from(a, 0, NULL, err);
	return 1;
}

void reader_ask_each(struct reader *r, unsigned int task, const void *rows, size_t nr,
		     void (*take)(void *arg, size_t i, const void *bytes, ssize_t sz), void *arg)
{
	size_t row_sz = r->tasks[task].row_sz, some;
	struct asked a = { take, arg, 0 };
	const uint8_t *at = rows;

	for (size_t i = 0; i < nr; i += some) {
		for (some = 0; i + some < nr; some++)
			if (reader_is_silent(r, *(const uint32_t *)(at + (i + some) * row_sz)))
				break;
		a.from = i;
		if (some)
			some = ask_some(r, task, at + i * row_sz, some, &a);
		else
			take(arg, i + some++, NULL, -ETIMEDOUT);
	}
}

bool reader_is_silent(struct reader *r, uint32_t pid)
{
	return steady_refuses(&r->steady, pid);
}

bool reader_pardon(struct reader *r, uint32_t pid)
{
	return steady_pardon(&r->steady, pid);
}

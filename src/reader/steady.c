/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Both sides of the child that stays. */
#include "reader/steady.h"

#include <errno.h>
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "reader/cost.h"
#include "reader/jail.h"
#include "reader/nursery.h"
#include "reader/peek.h"

#define HANGS_NS    100000000ull /* a row takes microseconds */
#define TIRED_NS    20000000ull	 /* when several did not answer */
#define TIRED	    3
#define WORN_OUT_NS 5000000ull
#define WORN_OUT    8
#define QUEUES_NS   1000000000ull /* who waits for a CPU has not hung */
#define LOOK_MS	    10
#define DIES_MS	    20
#define BEGINS_NS   1000000000ull
#define FIRST_NS    10000000000ull /* until a silent process is asked again; then twice as long */
#define LEFT_OF_ONE 2		   /* user, root aside, of those that are left behind */
#define TOLD	    3
#define LARGE	    STEADY_ENOUGH

#define CAP(name) (1ull << CAP_##name)
/* PERFMON: mappings, from 6.15 on. */
#define CAPS (CAP(SYS_PTRACE) | CAP(DAC_READ_SEARCH) | CAP(DAC_OVERRIDE) | 1ull << 38)

/* --- in the child --- */

static size_t words(size_t sz)
{
	return (sz + 7) & ~(size_t)7;
}

static void answer(const struct reader_task *t, struct steady_memory *m, size_t rows_sz)
{
	size_t at = 0;

	for (size_t i = 0; i < rows_sz / t->row_sz && at < STEADY_ENOUGH; i++) {
		uint8_t *to = m->answer + at + sizeof(int64_t);
		int64_t got =
			t->each(m->rows + i * t->row_sz, to, m->answer + sizeof(m->answer) - to);

		memcpy(m->answer + at, &got, sizeof(got));
		at += sizeof(got) + (got > 0 ? words(got) : 0);
		__atomic_store_n(&m->bytes, at, __ATOMIC_RELAXED);
		__atomic_store_n(&m->nr_done, i + 1, __ATOMIC_RELEASE);
	}
}

void steady_run(int socket, int memory, const struct reader_task *tasks, size_t nr)
{
	struct steady_memory *m =
		mmap(NULL, sizeof(*m), PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
	struct nursery_report r = { .pid = getpid() };
	struct nursery_order o;

	if (m == MAP_FAILED || jail_keep(CAPS) || write(socket, &r, sizeof(r)) != sizeof(r))
		_exit(1);
	r.done = true;
	while (recv(socket, &o, sizeof(o), 0) == sizeof(o)) {
		if (o.task >= nr || !tasks[o.task].each || o.question_sz > sizeof(m->rows))
			break;
		answer(&tasks[o.task], m, o.question_sz);
		peek_end();
		if (write(socket, &r, sizeof(r)) != sizeof(r))
			break;
	}
	_exit(0);
}

/* --- who asks --- */

void steady_init(struct steady *s)
{
	*s = (struct steady){ .socket = -1, .pidfd = -1 };
}

/* Those that have ended meanwhile are none. */
static void sweep(struct steady *s)
{
	for (size_t i = s->nr_left; i-- > 0;) {
		struct pollfd p = { s->left[i].pidfd, POLLIN, 0 };

		if (poll(&p, 1, 0) != 1)
			continue;
		close(s->left[i].pidfd);
		s->left[i] = s->left[--s->nr_left];
	}
}

static void close_child(struct steady *s)
{
	if (s->memory)
		munmap(s->memory, sizeof(*s->memory));
	if (s->socket >= 0)
		close(s->socket);
	if (s->pidfd >= 0)
		close(s->pidfd);
	s->socket = s->pidfd = -1;
	s->memory = NULL;
}

void steady_stop(struct steady *s)
{
	if (s->pidfd >= 0)
		syscall(SYS_pidfd_send_signal, s->pidfd, SIGKILL, NULL, 0);
	close_child(s);
}

void steady_release(struct steady *s)
{
	steady_stop(s);
	while (s->nr_left)
		close(s->left[--s->nr_left].pidfd);
}

static int share(struct steady *s)
{
	int fd = memfd_create("bpfprof-reader", MFD_CLOEXEC), err;

	if (fd < 0)
		return -errno;
	s->memory = MAP_FAILED;
	if (!ftruncate(fd, sizeof(*s->memory)))
		s->memory =
			mmap(NULL, sizeof(*s->memory), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (s->memory != MAP_FAILED)
		return fd;
	err = errno == EFBIG ? -EFBIG : -ENOMEM;
	s->memory = NULL;
	close(fd);
	return err;
}

static int know_child(struct steady *s, pid_t pid)
{
	if (s->pidfd >= 0)
		return 0;
	s->pid = pid;
	s->pidfd = syscall(SYS_pidfd_open, pid, 0);
	return s->pidfd >= 0 ? 0 : errno == ESRCH ? -EPIPE : -errno;
}

/* It says so when it has begun; who forks it may have said before that there is one. */
static int hear_begin(struct steady *s, pid_t nursery)
{
	uint64_t until_ns = now_ns() + BEGINS_NS;
	struct pollfd p = { s->socket, POLLIN, 0 };
	struct nursery_report r;
	int err;

	while (now_ns() < until_ns) {
		if (poll(&p, 1, LOOK_MS) != 1) {
			if (cost_is_stopped(s->pidfd >= 0 ? s->pid : nursery))
				return -EPIPE;
			continue;
		}
		if (recv(s->socket, &r, sizeof(r), 0) != sizeof(r))
			return -EPIPE;
		err = r.err < 0 ? (int)r.err : know_child(s, r.pid);
		if (err || !r.born)
			return err;
	}
	return -EAGAIN;
}

int steady_start(struct steady *s, int socket, pid_t nursery)
{
	struct nursery_order o = { .task = NURSERY_STEADY };
	int memory = share(s), sockets[2], err;

	if (memory < 0)
		return memory;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets)) {
		err = -errno;
	} else {
		s->socket = sockets[0];
		err = nursery_send(socket, &o, sizeof(o), (int[]){ memory, sockets[1] }, 2);
		close(sockets[1]);
		err = err < 0 ? -EPIPE : hear_begin(s, nursery);
	}
	close(memory);
	if (err)
		steady_stop(s);
	return err;
}

/* --- processes that do not answer --- */

static struct steady_silent *find_silent(struct steady *s, uint32_t pid)
{
	for (size_t i = 0; i < s->nr_silent && i < STEADY_SILENT; i++)
		if (s->silent[i].pid == pid)
			return &s->silent[i];
	return NULL;
}

static uint32_t owner(uint32_t pid)
{
	char path[32];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%u", pid);
	return stat(path, &st) ? UINT32_MAX : st.st_uid;
}

static bool had_its_share(const struct steady *s, uint32_t pid)
{
	uint32_t uid = owner(pid);
	size_t nr = 0;

	for (size_t i = 0; i < s->nr_left && uid; i++)
		nr += s->left[i].uid == uid;
	return nr >= LEFT_OF_ONE;
}

bool steady_refuses(struct steady *s, uint32_t pid)
{
	const struct steady_silent *silent = s->nr_silent ? find_silent(s, pid) : NULL;

	if (silent && now_ns() < silent->until_ns)
		return true;
	if (s->nr_left)
		sweep(s);
	return s->nr_left == STEADY_HUNG || (s->nr_left && had_its_share(s, pid));
}

static void tell(struct steady *s, uint32_t pid)
{
	char path[32], name[17] = "", *shown;
	FILE *f;

	if (++s->nr_told == TOLD + 1)
		log_warn("more processes do not let their memory be read: these are not listed");
	if (s->nr_told > TOLD)
		return;
	snprintf(path, sizeof(path), "/proc/%u/comm", pid);
	f = fopen(path, "re");
	if (f) {
		name[fread(name, 1, sizeof(name) - 1, f)] = '\0';
		fclose(f);
	}
	name[strcspn(name, "\n")] = '\0';
	shown = text_cleaned(name);
	log_warn("process %u (%s) does not let its memory be read: its stacks may end early, and "
		 "its code have no names",
		 pid, shown);
	free(shown);
}

static void add_silent(struct steady *s, uint32_t pid)
{
	struct steady_silent *silent = find_silent(s, pid);

	if (!silent) {
		silent = &s->silent[s->nr_silent++ % STEADY_SILENT];
		*silent = (struct steady_silent){ pid, 0, FIRST_NS };
		tell(s, pid);
	} else {
		silent->wait_ns *= 2;
	}
	silent->until_ns = now_ns() + silent->wait_ns;
}

/* The child may end by the signal, or hang on. */
static void leave(struct steady *s, uint32_t pid)
{
	struct pollfd p = { s->pidfd, POLLIN, 0 };

	syscall(SYS_pidfd_send_signal, s->pidfd, SIGKILL, NULL, 0);
	sweep(s);
	if (poll(&p, 1, DIES_MS) != 1 && s->nr_left < STEADY_HUNG) {
		s->left[s->nr_left++] = (struct steady_left){ s->pidfd, pid, owner(pid) };
		s->pidfd = -1;
	}
	close_child(s);
	add_silent(s, pid);
}

bool steady_pardon(struct steady *s, uint32_t pid)
{
	struct steady_silent *silent = find_silent(s, pid);
	struct pollfd p = { .events = POLLIN };

	for (size_t i = 0; i < s->nr_left; i++) {
		p.fd = s->left[i].pidfd;
		if (s->left[i].pid == pid && poll(&p, 1, QUEUES_NS / 1000000) != 1)
			return false;
	}
	if (silent) {
		silent->until_ns = 0;
		silent->wait_ns /= 2; /* it has been added, and may be once more */
	}
	s->patient = true;
	return true;
}

/* --- questions --- */

static uint64_t patience_ns(const struct steady *s)
{
	if (s->patient)
		return QUEUES_NS;
	return s->nr_silent < TIRED ? HANGS_NS : s->nr_silent < WORN_OUT ? TIRED_NS : WORN_OUT_NS;
}

/* Until the child is done, dies (-EPIPE), or nothing comes of a row (-ETIMEDOUT). */
static int await(const struct steady *s)
{
	uint64_t since = now_ns(), done = 0, now, nr;
	struct pollfd p = { s->socket, POLLIN, 0 };
	struct nursery_report r;

	for (;;) {
		if (poll(&p, 1, LOOK_MS) == 1) {
			if (recv(s->socket, &r, sizeof(r), 0) != sizeof(r))
				return -EPIPE;
			if (r.done)
				return 0;
		}
		now = now_ns();
		nr = __atomic_load_n(&s->memory->nr_done, __ATOMIC_ACQUIRE);
		if (nr != done) {
			done = nr;
			since = now;
		} else if (cost_is_stopped(s->pid)) {
			return -EPIPE;
		} else if (now - since >= QUEUES_NS ||
			   (now - since >= patience_ns(s) && !cost_is_runnable(s->pid))) {
			return -ETIMEDOUT;
		}
	}
}

static size_t take_answer(const struct steady_memory *m, size_t nr,
			  void (*take)(void *arg, size_t i, const void *bytes, ssize_t sz),
			  void *arg)
{
	size_t done = __atomic_load_n(&m->nr_done, __ATOMIC_ACQUIRE), at = 0;
	size_t bytes = __atomic_load_n(&m->bytes, __ATOMIC_RELAXED);
	int64_t sz;

	for (size_t i = 0; i < done && i < nr; i++) {
		if (bytes > sizeof(m->answer) || at + sizeof(sz) > bytes)
			return i;
		memcpy(&sz, m->answer + at, sizeof(sz));
		at += sizeof(sz);
		if (sz > 0 && (uint64_t)sz > bytes - at)
			return i;
		take(arg, i, m->answer + at, sz);
		at += sz > 0 ? words(sz) : 0;
	}
	return done < nr ? done : nr;
}

size_t steady_ask(struct steady *s, uint32_t task, size_t row_sz, const void *rows, size_t nr,
		  int *err, void (*take)(void *arg, size_t i, const void *bytes, ssize_t sz),
		  void *arg)
{
	struct nursery_order o = { .task = task };
	size_t most = sizeof(s->memory->rows) / row_sz, done;
	uint32_t pid;

	if (nr > most)
		nr = most;
	o.question_sz = nr * row_sz;
	memcpy(s->memory->rows, rows, o.question_sz);
	s->memory->nr_done = s->memory->bytes = 0;
	*err = send(s->socket, &o, sizeof(o), MSG_NOSIGNAL) == sizeof(o) ? await(s) : -EPIPE;
	s->patient = false;
	done = take_answer(s->memory, nr, take, arg);
	if (s->memory->bytes > LARGE)
		madvise(s->memory, sizeof(*s->memory), MADV_REMOVE);
	if (*err == -EPIPE) {
		steady_stop(s);
	} else if (*err == -ETIMEDOUT && done < nr) {
		memcpy(&pid, (const uint8_t *)rows + done * row_sz, sizeof(pid));
		leave(s, pid);
		take(arg, done++, NULL, -ETIMEDOUT);
		*err = 0;
	} else if (*err == -ETIMEDOUT || !done) {
		steady_stop(s); /* it is not what it says */
		*err = -EPIPE;
	}
	return done;
}

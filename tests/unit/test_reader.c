/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Children that read for us: what they may, and what they cost when they hang, die or lie. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "reader/reader.h"

#define SECOND 1000000000ull

static int echo(struct reader_work *w)
{
	memcpy(w->answer, w->question, w->question_sz);
	w->sz = w->question_sz;
	return 0;
}

static int count_bytes(struct reader_work *w)
{
	char buf[256];
	ssize_t nr = pread(w->fds[0], buf, sizeof(buf), 0);

	*(int64_t *)w->answer = nr;
	w->sz = sizeof(int64_t);
	return 0;
}

static int refuse(struct reader_work *w)
{
	return -ENODATA;
}

static int hang(struct reader_work *w)
{
	char c;

	return read(w->fds[0], &c, 1) < 0 ? -errno : 0; /* of a pipe into which nobody writes */
}

static int spin(struct reader_work *w)
{
	volatile int i = 1;

	while (i)
		i |= 1;
	return i;
}

static int *nr_starved; /* shared with children */

/* The first that is asked has no CPU for itself: it is idle beside somebody who spins. */
static int starve(struct reader_work *w)
{
	const struct sched_param none = {};
	cpu_set_t one;

	if ((*nr_starved)++)
		return 0;
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	if (sched_setaffinity(0, sizeof(one), &one))
		return -errno;
	if (!fork()) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		spin(w);
	}
	return sched_setscheduler(0, SCHED_IDLE, &none) ? -errno : spin(w);
}

static int die(struct reader_work *w)
{
	abort();
}

static int lie(struct reader_work *w)
{
	w->sz = w->max_sz + 1;
	return 0;
}

static int opens(struct reader_work *w)
{
	w->fd = open(w->question, O_RDONLY | O_CLOEXEC);
	return w->fd < 0 ? -errno : 0;
}

/* Which of the things that a reader has no use for are possible: a bit each. */
static int escape(struct reader_work *w)
{
	uint64_t can = 0;

	can |= (open("/etc/passwd", O_RDONLY) >= 0) << 0;
	can |= (socket(AF_UNIX, SOCK_STREAM, 0) >= 0) << 1;
	can |= (!kill(getppid(), 0)) << 2;
	can |= (mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) !=
		MAP_FAILED)
	       << 3;
	can |= (fork() >= 0) << 4;
	can |= (syscall(SYS_ptrace, 0, 0, 0, 0) >= 0) << 5;
	can |= (syscall(SYS_bpf, 0, NULL, 0) >= 0 || errno != EPERM) << 6;
	can |= (syscall(SYS_execve, "/bin/true", NULL, NULL) >= 0 || errno != EPERM) << 7;
	can |= (syscall(SYS_newfstatat, AT_FDCWD, "/etc/passwd", w->answer, 0) >= 0) << 8;
	can |= (mprotect(w->answer, 4096, PROT_READ | PROT_EXEC) >= 0) << 9;
	*(uint64_t *)w->answer = can;
	w->sz = sizeof(can);
	return 0;
}

static int status(struct reader_work *w)
{
	w->sz = pread(w->fds[0], w->answer, 4000, 0);
	return 0;
}

static int eat(struct reader_work *w)
{
	for (size_t i = 0; i < 4096; i++) {
		char *p = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			       -1, 0);

		if (p == MAP_FAILED)
			return -errno;
		*p = 1;
	}
	return 0;
}

/* Rows about processes, which are numbers here. */
struct row {
	uint32_t pid, what;
};

enum { ANSWERS, HANGS, DIES, FAILS, LARGE, STOPS, LATE };

static ssize_t answer_row(const void *row, void *answer, size_t max)
{
	const struct row *q = row;
	size_t sz = q->what == LARGE ? 1 << 20 : 4;

	for (size_t i = 0; i < sz; i += 4)
		memcpy((char *)answer + i, &q->pid, 4);
	if (q->what == HANGS)
		pause();
	if (q->what == LATE)
		usleep(400000);
	if (q->what == DIES)
		raise(SIGKILL);
	if (q->what == STOPS)
		raise(SIGSTOP);
	return q->what == FAILS ? -EFAULT : (ssize_t)sz;
}

enum { ECHO_IT, COUNT, FAIL, HANG, SPIN, DIE, LIE, OPENS, ESCAPE, STATUS, EAT, ROWS, STARVE };

static const struct reader_task tasks[] = {
	{ .run = echo },	 { .run = count_bytes },
	{ .run = refuse },	 { .run = hang },
	{ .run = spin },	 { .run = die },
	{ .run = lie },		 { true, .run = opens },
	{ .run = escape },	 { .run = status },
	{ .run = eat },		 { .each = answer_row, .row_sz = sizeof(struct row) },
	{ true, .run = starve },
};

static struct reader *r;
static struct reader_answer a;

static int setup(void **state)
{
	if (!nr_starved)
		nr_starved = mmap(NULL, sizeof(*nr_starved), PROT_READ | PROT_WRITE,
				  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (nr_starved == MAP_FAILED)
		return 1;
	r = reader_new(tasks, sizeof(tasks) / sizeof(*tasks));
	return !r;
}

static int teardown(void **state)
{
	reader_free(r);
	return 0;
}

static int ask(unsigned int task, const void *bytes, size_t sz, int fd, uint64_t timeout_ns)
{
	struct reader_question q = { .task = task,
				     .bytes = bytes,
				     .sz = sz,
				     .fds = &fd,
				     .nr_fds = fd >= 0,
				     .timeout_ns = timeout_ns };

	return reader_ask(r, &q, &a);
}

static void answers_come_back(void **state)
{
	char *large = malloc(3000000);
	int fd = memfd_create("x", 0);

	memset(large, 'x', 3000000);
	assert_int_equal(ask(ECHO_IT, large, 3000000, -1, SECOND), 0);
	assert_int_equal(a.sz, 3000000);
	assert_memory_equal(a.bytes, large, 3000000);
	assert_int_equal(a.fd, -1);
	free(a.bytes);
	free(large);
	assert_int_equal(write(fd, "twelve bytes", 12), 12);
	for (int i = 0; i < 50; i++) {
		assert_int_equal(ask(COUNT, "", 0, fd, SECOND), 0);
		assert_int_equal(*(int64_t *)a.bytes, 12);
		free(a.bytes);
	}
	assert_int_equal(ask(FAIL, "", 0, -1, SECOND), -ENODATA);
	assert_null(a.bytes);
	assert_int_equal(ask(99, "", 0, -1, SECOND), -EPIPE);
	close(fd);
}

/* What hangs or spins is ended by its deadline, and the next question finds an answer. */
static void a_deadline_holds(void **state)
{
	uint64_t begin = now_ns();
	int pipes[2];

	assert_int_equal(pipe(pipes), 0);
	assert_in_range((uint64_t)-ask(HANG, "", 0, pipes[0], SECOND / 10), EPIPE, ETIMEDOUT);
	assert_in_range((uint64_t)-ask(SPIN, "", 0, -1, SECOND / 10), EPIPE, ETIMEDOUT);
	assert_true(now_ns() - begin < SECOND);
	assert_int_equal(ask(ECHO_IT, "x", 1, -1, SECOND), 0);
	free(a.bytes);
	close(pipes[0]);
	close(pipes[1]);
}

/* That somebody has no CPU is no answer. */
static void who_gets_no_cpu_is_asked_again(void **state)
{
	*nr_starved = 0;
	assert_int_equal(ask(STARVE, "", 0, -1, SECOND * 3 / 10), 0);
	assert_int_equal(*nr_starved, 2);
}

/* Who hangs is left before his deadline; who has work is not. Whoever interrupts need not wait. */
static void who_hangs_is_left_early(void **state)
{
	struct reader_question q = { .task = HANG, .nr_fds = 1, .idle_ns = SECOND / 5 };
	uint64_t begin = now_ns(), took;
	int pipes[2], wakes[2];

	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(pipe(wakes), 0);
	q.fds = &pipes[0];
	q.timeout_ns = 60 * SECOND;
	assert_int_equal(reader_ask(r, &q, &a), -ETIMEDOUT);
	took = now_ns() - begin;
	assert_in_range(took, SECOND / 5, 20 * SECOND);
	q.task = SPIN;
	q.nr_fds = 0;
	q.timeout_ns = SECOND;
	begin = now_ns();
	assert_in_range((uint64_t)-reader_ask(r, &q, &a), EPIPE, ETIMEDOUT);
	assert_true(now_ns() - begin >= SECOND);
	q = (struct reader_question){ .task = HANG,
				      .fds = &pipes[0],
				      .nr_fds = 1,
				      .timeout_ns = 60 * SECOND,
				      .interrupt = wakes[0] };
	assert_int_equal(write(wakes[1], "x", 1), 1);
	begin = now_ns();
	assert_int_equal(reader_ask(r, &q, &a), -EINTR);
	assert_true(now_ns() - begin < 20 * SECOND);
	for (int i = 0; i < 2; i++) {
		close(pipes[i]);
		close(wakes[i]);
	}
}

static void death_and_lies_are_found_out(void **state)
{
	assert_int_equal(ask(DIE, "", 0, -1, SECOND), -EPIPE);
	assert_int_equal(ask(LIE, "", 0, -1, SECOND), -EBADMSG);
	assert_null(a.bytes);
	assert_int_equal(ask(ECHO_IT, "x", 1, -1, SECOND), 0);
	free(a.bytes);
}

static void who_opens_passes_it_on(void **state)
{
	struct stat ours, theirs;

	assert_int_equal(ask(OPENS, "/proc/self/exe", 15, -1, SECOND), 0);
	assert_true(a.fd >= 0);
	assert_int_equal(fstat(a.fd, &theirs), 0);
	assert_int_equal(stat("/proc/self/exe", &ours), 0);
	assert_int_equal(ours.st_ino, theirs.st_ino);
	close(a.fd);
	assert_int_equal(ask(OPENS, "/no/such", 9, -1, SECOND), -ENOENT);
	assert_int_equal(a.fd, -1);
}

static void there_is_no_way_out(void **state)
{
	int fd = open("/proc/thread-self/status", O_RDONLY);

	assert_int_equal(ask(ESCAPE, "", 0, -1, SECOND), 0);
	assert_int_equal(*(uint64_t *)a.bytes, 0);
	free(a.bytes);
	close(fd);
}

static void memory_has_an_end(void **state)
{
#ifdef __SANITIZE_ADDRESS__
	skip();
#endif
	assert_int_equal(ask(EAT, "", 0, -1, 5 * SECOND), -ENOMEM);
}

static int nr_calls;

static void count_call(void *arg)
{
	nr_calls++;
}

static void others_have_their_turn(void **state)
{
	struct reader_question q = {
		.task = SPIN, .bytes = "", .timeout_ns = SECOND / 5, .meanwhile = count_call
	};

	assert_true(reader_ask(r, &q, &a) < 0);
	assert_true(nr_calls > 5);
}

/* Numbers of processes are not in the order of their births: they start again at the end. */
static void children_are_known(void **state)
{
	int nr = 0;

	assert_int_equal(ask(ECHO_IT, "x", 1, -1, SECOND), 0);
	free(a.bytes);
	assert_false(reader_is_child(r, getpid()));
	for (int pid = 1; pid < 1 << 22; pid++)
		nr += reader_is_child(r, pid);
	assert_true(nr > 1);
}

static void count_answer(void *arg, size_t i, const void *bytes, ssize_t sz)
{
	*(int *)arg += sz == 4;
}

/* Killed at any moment: another one takes its place. */
static void a_nursery_that_died_is_replaced(void **state)
{
	uint64_t begin = now_ns();
	char command[64];

	snprintf(command, sizeof(command), "pkill -KILL -P %d -x bpfprof-reader", getpid());
	for (int i = 0; i < 10; i++) {
		if (system(command))
			skip();
		assert_int_equal(ask(ECHO_IT, "x", 1, -1, SECOND), 0);
		free(a.bytes);
	}
	assert_true(now_ns() - begin < 5 * SECOND);
}

/* So is one that was stopped, and no question waits for its deadline. */
static void a_nursery_that_was_stopped_is_replaced(void **state)
{
	const struct row row = { 1, ANSWERS };
	uint64_t begin = now_ns();
	char command[64];
	int nr = 0;

	snprintf(command, sizeof(command), "pkill -STOP -P %d -x bpfprof-reader", getpid());
	for (int i = 0; i < 10; i++) {
		if (system(command))
			skip();
		if (i % 2)
			reader_ask_each(r, ROWS, &row, 1, count_answer, &nr);
		else
			assert_int_equal(ask(ECHO_IT, "x", 1, -1, 20 * SECOND), 0);
		free(a.bytes);
		a.bytes = NULL;
	}
	assert_int_equal(nr, 5);
	assert_true(now_ns() - begin < 10 * SECOND);
}

/* Nor does who began with one. */
static void children_that_were_stopped_are_ended(void **state)
{
	uint64_t begin = now_ns();
	int pipes[2], err;
	char command[64];
	pid_t pid;

	assert_int_equal(pipe(pipes), 0);
	snprintf(command, sizeof(command), "pkill -STOP -P $(pgrep -P %d -x bpfprof-reader)",
		 getpid());
	pid = fork();
	if (!pid)
		for (;;) {
			usleep(100000);
			if (system(command) < 0)
				_exit(1);
		}
	err = ask(HANG, NULL, 0, pipes[0], 60 * SECOND);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(pipes[0]);
	close(pipes[1]);
	assert_int_equal(err, -EPIPE);
	assert_true(now_ns() - begin < 20 * SECOND);
}

/* In memory of all: how many more that the nursery forks are stopped before they do anything. */
static int *nr_to_stop;

static void stop_first(void)
{
	if (nr_to_stop && __atomic_fetch_sub(nr_to_stop, 1, __ATOMIC_RELAXED) > 0)
		raise(SIGSTOP);
}

/* From now on; *nr_to_stop is 0. */
static void begin_to_stop(void)
{
	static bool begun;

	nr_to_stop = mmap(NULL, sizeof(*nr_to_stop), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(nr_to_stop, MAP_FAILED);
	if (!begun)
		assert_int_equal(pthread_atfork(NULL, NULL, stop_first), 0);
	begun = true;
}

static void end_to_stop(void)
{
	munmap(nr_to_stop, sizeof(*nr_to_stop));
	nr_to_stop = NULL;
}

/* Nor does who could not even say that it began; and none is left. */
static void who_was_stopped_at_birth_is_replaced(void **state)
{
	const struct row row = { 1, ANSWERS };
	uint64_t begin = now_ns();
	int nr = 0;

	begin_to_stop();
	assert_int_equal(setup(state), 0);
	for (int i = 0; i < 4; i++) {
		*nr_to_stop = 2;
		assert_int_equal(ask(ECHO_IT, "x", 1, -1, 20 * SECOND), 0);
		free(a.bytes);
		a.bytes = NULL;
	}
	*nr_to_stop = 2;
	reader_ask_each(r, ROWS, &row, 1, count_answer, &nr);
	assert_int_equal(nr, 1);
	assert_int_equal(*nr_to_stop, -1);
	teardown(state);
	end_to_stop();
	assert_true(now_ns() - begin < 10 * SECOND);
}

/* Whoever holds a file that we close keeps alive what it is of: a link, or a perf event. */
static void a_nursery_that_was_stopped_at_birth_holds_nothing(void **state)
{
	struct pollfd p = { .events = POLLIN };
	char command[64];
	int pipes[2];

	begin_to_stop();
	assert_int_equal(pipe(pipes), 0);
	p.fd = pipes[0];
	snprintf(command, sizeof(command), "pkill -KILL -P %d -x bpfprof-reader", getpid());
	if (system(command))
		skip();
	*nr_to_stop = 1000;
	assert_true(ask(ECHO_IT, "x", 1, -1, 20 * SECOND) < 0);
	close(pipes[1]);
	assert_int_equal(poll(&p, 1, 5000), 1);
	assert_true(p.revents & POLLHUP);
	close(pipes[0]);
	*nr_to_stop = 0;
	assert_int_equal(ask(ECHO_IT, "x", 1, -1, 20 * SECOND), 0);
	free(a.bytes);
	end_to_stop();
}

/* However many hang, all of them together cost little; and that is over one day. */
static void many_that_hang_cost_little(void **state)
{
	uint64_t begin = now_ns();
	int pipes[2], err = 0;

	assert_int_equal(pipe(pipes), 0);
	for (int i = 0; i < 100; i++)
		err = ask(HANG, "", 0, pipes[0], SECOND / 5);
	assert_int_equal(err, -EBUSY);
	assert_true(now_ns() - begin < 10 * SECOND);
	begin = now_ns();
	while ((err = ask(ECHO_IT, "x", 1, -1, SECOND)) == -EBUSY && now_ns() < begin + 60 * SECOND)
		usleep(100000);
	assert_int_equal(err, 0);
	free(a.bytes);
	close(pipes[0]);
	close(pipes[1]);
}

/* It has a minute, and nobody who waits for it. */
static void who_hangs_ends_with_us(void **state)
{
	struct reader *own = reader_new(tasks, sizeof(tasks) / sizeof(*tasks));
	struct reader_question q = { .task = HANG, .nr_fds = 1, .timeout_ns = 60 * SECOND };
	int pipes[2], wakes[2];
	struct pollfd p = {};
	uint64_t begin;

	assert_non_null(own);
	assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
	assert_int_equal(pipe(wakes), 0);
	assert_int_equal(write(wakes[1], "x", 1), 1);
	p.fd = pipes[1];
	q.fds = &pipes[0];
	q.interrupt = wakes[0];
	assert_int_equal(reader_ask(own, &q, &a), -EINTR);
	usleep(300000); /* it has given up its rights by then */
	reader_free(own);
	close(pipes[0]);
	begin = now_ns();
	do
		poll(&p, 1, 10);
	while (!(p.revents & POLLERR) && now_ns() < begin + 20 * SECOND);
	assert_true(p.revents & POLLERR); /* nobody could read from it any more */
	close(pipes[1]);
	close(wakes[0]);
	close(wakes[1]);
}

/* By the kernel's own sums, of children that we have waited for and of theirs. */
static uint64_t children_ns(void)
{
	struct rusage all;

	getrusage(RUSAGE_CHILDREN, &all);
	return (all.ru_utime.tv_sec + all.ru_stime.tv_sec) * SECOND +
	       (all.ru_utime.tv_usec + all.ru_stime.tv_usec) * 1000ull;
}

/* Also of a child that was ended by its deadline, and of a nursery that somebody killed. */
static void what_children_took_is_known(void **state)
{
	uint64_t before = children_ns(), others, spent;
	struct reader_cost cost;
	char command[64];
	void *large = calloc(20, 1 << 20);

	memset(large, 1, 20 << 20);
	assert_true(ask(SPIN, "", 0, -1, SECOND / 5) < 0);
	assert_int_equal(ask(ECHO_IT, large, 20 << 20, -1, SECOND), 0);
	free(a.bytes);
	assert_int_equal(ask(ECHO_IT, "x", 1, -1, SECOND), 0);
	free(a.bytes);
	assert_in_range(reader_running_ns(r), SECOND / 100, SECOND); /* nobody has waited for it */
	snprintf(command, sizeof(command), "pkill -KILL -P %d -x bpfprof-reader", getpid());
	others = children_ns();
	if (system(command))
		skip();
	others = children_ns() - others;
	assert_true(ask(SPIN, "", 0, -1, SECOND / 5) < 0);
	cost = reader_end(r);
	assert_int_equal(reader_running_ns(r), 0);
	spent = children_ns() - before - others;
	assert_in_range(spent, SECOND / 100, SECOND);
	assert_in_range(cost.cpu_ns, spent - spent / 10, spent + spent / 10);
	assert_in_range(cost.bytes, 40 << 20, 100 << 20); /* question and answer */
	assert_int_equal(reader_end(r).cpu_ns, cost.cpu_ns);
	free(large);
}

static ssize_t sizes[8000];
static size_t nr_taken, nr_wrong;

static void take_row(void *arg, size_t i, const void *bytes, ssize_t sz)
{
	const struct row *rows = arg;

	nr_wrong += i != nr_taken++;
	sizes[i] = sz;
	for (ssize_t at = 0; at < sz; at += 4)
		nr_wrong += memcmp((const char *)bytes + at, &rows[i].pid, 4) != 0;
}

static uint64_t ask_rows(struct row *rows, size_t nr)
{
	uint64_t begin = now_ns();

	nr_taken = nr_wrong = 0;
	reader_ask_each(r, ROWS, rows, nr, take_row, rows);
	assert_int_equal(nr_taken, nr);
	assert_int_equal(nr_wrong, 0);
	return now_ns() - begin;
}

/* More rows than go into one order, and more bytes than into one answer. */
static void rows_are_answered(void **state)
{
	static struct row rows[8000];

	for (uint32_t i = 0; i < 8000; i++)
		rows[i] = (struct row){ i, i % 3 ? ANSWERS : FAILS };
	ask_rows(rows, 8000);
	for (uint32_t i = 0; i < 8000; i++)
		assert_int_equal(sizes[i], i % 3 ? 4 : -EFAULT);
	for (uint32_t i = 0; i < 100; i++)
		rows[i].what = LARGE;
	ask_rows(rows, 100);
	for (uint32_t i = 0; i < 100; i++)
		assert_int_equal(sizes[i], 1 << 20);
}

/* Who hangs costs time once, and nothing of what others answer. */
static void who_hangs_is_remembered(void **state)
{
	struct row rows[] = { { 1, ANSWERS }, { 2, HANGS }, { 3, ANSWERS }, { 2, HANGS },
			      { 4, ANSWERS }, { 5, HANGS }, { 6, ANSWERS } };
	uint64_t first = ask_rows(rows, 7), again;

	for (size_t i = 0; i < 7; i++)
		assert_int_equal(sizes[i], rows[i].what == HANGS ? -ETIMEDOUT : 4);
	assert_in_range(first, SECOND / 5, SECOND);
	assert_true(reader_is_silent(r, 2) && reader_is_silent(r, 5));
	assert_false(reader_is_silent(r, 1));
	again = ask_rows(rows, 7);
	assert_true(again < SECOND / 10);
	assert_int_equal(sizes[6], 4);
	assert_int_equal(sizes[1], -ETIMEDOUT);
}

/* Who would refuse something for its sake asks once more: who was late answers then. */
static void who_was_late_is_asked_again(void **state)
{
	struct row rows[] = { { 1, LATE }, { 2, HANGS } };

	ask_rows(rows, 2);
	assert_int_equal(sizes[0], -ETIMEDOUT);
	assert_int_equal(sizes[1], -ETIMEDOUT);
	assert_true(reader_pardon(r, 1));
	ask_rows(rows, 1);
	assert_int_equal(sizes[0], 4);
	assert_false(reader_is_silent(r, 1));
	assert_true(reader_pardon(r, 2));
	rows[0] = rows[1];
	ask_rows(rows, 1);
	assert_int_equal(sizes[0], -ETIMEDOUT);
	assert_true(reader_is_silent(r, 2));
	/* The patience was for one question. */
	rows[0].pid = 3;
	assert_true(ask_rows(rows, 1) < SECOND / 2);
	assert_int_equal(sizes[0], -ETIMEDOUT);
}

/* Fifty cost little more than some, and those left behind are ended by the signal. */
static void many_may_hang(void **state)
{
	struct row rows[51] = { [50] = { 99, ANSWERS } };

	for (uint32_t i = 0; i < 50; i++)
		rows[i] = (struct row){ 100 + i, HANGS };
	assert_in_range(ask_rows(rows, 51), SECOND / 5, 3 * SECOND);
	/* On a busy machine they may not have ended by then, and as many as may be left are. */
	for (int i = 0; i < 10 && sizes[50] == -EBUSY; i++) {
		usleep(100000);
		rows[0] = rows[50];
		ask_rows(rows, 1);
		sizes[50] = sizes[0];
	}
	assert_int_equal(sizes[50], 4);
}

static void who_dies_is_replaced(void **state)
{
	struct row rows[] = { { 1, ANSWERS }, { 2, DIES }, { 3, ANSWERS } };

	ask_rows(rows, 3);
	assert_int_equal(sizes[0], 4);
	assert_int_equal(sizes[1], -EPIPE);
	assert_int_equal(sizes[2], 4);
}

static void who_was_stopped_is_replaced(void **state)
{
	struct row rows[] = { { 1, ANSWERS }, { 2, STOPS }, { 3, ANSWERS } };

	assert_true(ask_rows(rows, 3) < 5 * SECOND);
	assert_int_equal(sizes[0], 4);
	assert_int_equal(sizes[1], -EPIPE);
	assert_int_equal(sizes[2], 4);
	assert_false(reader_is_silent(r, 2));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(answers_come_back, setup, teardown),
		cmocka_unit_test_setup_teardown(a_deadline_holds, setup, teardown),
		cmocka_unit_test_setup_teardown(who_gets_no_cpu_is_asked_again, setup, teardown),
		cmocka_unit_test_setup_teardown(who_hangs_is_left_early, setup, teardown),
		cmocka_unit_test_setup_teardown(death_and_lies_are_found_out, setup, teardown),
		cmocka_unit_test_setup_teardown(who_opens_passes_it_on, setup, teardown),
		cmocka_unit_test_setup_teardown(there_is_no_way_out, setup, teardown),
		cmocka_unit_test_setup_teardown(memory_has_an_end, setup, teardown),
		cmocka_unit_test_setup_teardown(others_have_their_turn, setup, teardown),
		cmocka_unit_test_setup_teardown(children_are_known, setup, teardown),
		cmocka_unit_test_setup_teardown(a_nursery_that_died_is_replaced, setup, teardown),
		cmocka_unit_test_setup_teardown(a_nursery_that_was_stopped_at_birth_holds_nothing,
						setup, teardown),
		cmocka_unit_test_setup_teardown(a_nursery_that_was_stopped_is_replaced, setup,
						teardown),
		cmocka_unit_test(who_was_stopped_at_birth_is_replaced),
		cmocka_unit_test_setup_teardown(many_that_hang_cost_little, setup, teardown),
		cmocka_unit_test_setup_teardown(children_that_were_stopped_are_ended, setup,
						teardown),
		cmocka_unit_test(who_hangs_ends_with_us),
		cmocka_unit_test_setup_teardown(what_children_took_is_known, setup, teardown),
		cmocka_unit_test_setup_teardown(rows_are_answered, setup, teardown),
		cmocka_unit_test_setup_teardown(who_hangs_is_remembered, setup, teardown),
		cmocka_unit_test_setup_teardown(who_was_late_is_asked_again, setup, teardown),
		cmocka_unit_test_setup_teardown(many_may_hang, setup, teardown),
		cmocka_unit_test_setup_teardown(who_dies_is_replaced, setup, teardown),
		cmocka_unit_test_setup_teardown(who_was_stopped_is_replaced, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

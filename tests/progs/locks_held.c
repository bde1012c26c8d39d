/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* CFLAGS: -O2 -fomit-frame-pointer -momit-leaf-frame-pointer -pthread */
/* LDLIBS: -lpthread */
/*
 * locks_held CASE [ROUNDS]: who holds a lock is known, as is for how long another thread waits.
 *
 *	two	"holder-a" sleeps for 4 ms in work_a() with one mutex, "holder-b" for 3 ms in
 *		work_b() with another; "waiter-a" waits for the first one in want_a(), "waiter-b"
 *		for the other one in want_b()
 *	burn	the same with one mutex, under which "holder-a" computes in work_a()
 *	writer	"writer" sleeps in work_a() with a rwlock, "reader" and "writer-2" wait for it
 *	pi	as "two", with one mutex that inherits priorities
 *	robust	the same with a robust one
 *	yields	two threads on one CPU, each of which gives it away while it has a mutex, 100 times
 *		in a round: so the other one waits for that nearly each time
 *	relay	two threads on one CPU, for good: each gives the other one what it waits for, and
 *		then waits for a mutex of that one, which has not run yet: so at each switch
 *	free	four threads take and give a mutex of their own each
 *	condvar	"waiter-a" waits for a condition in want_a() that "signaller" signals in work_a()
 *	chain	"waiter-a" waits for a mutex of "middle", which waits for one of "holder-b"
 *	shared	a process of its own, "keeper", sleeps for 4 ms in work_a() with a mutex that it
 *		shares with "locks_held", which waits for it in want_shared()
 *	shared-pi, shared-robust	the same with such a mutex
 *	dead	"first" and "second" each hold what the other one wants; never ends
 */
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "waits.h"

static struct truth waited_a = { .name = "want_a" }, waited_b = { .name = "want_b" };
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t relay[3] = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
				    PTHREAD_MUTEX_INITIALIZER };
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t held, freed;
static unsigned long rounds;
static bool burns;

static CHAIN void work_a(void)
{
	uint64_t until = wall_ns() + 4 * NS_PER_MS;

	while (burns && wall_ns() < until)
		;
	if (!burns)
		sleep_ns(4 * NS_PER_MS);
	__asm__ volatile("");
}

static CHAIN void work_b(void)
{
	sleep_ns(3 * NS_PER_MS);
	__asm__ volatile("");
}

static CHAIN void want_a(void)
{
	struct mark from = mark_now();

	pthread_mutex_lock(&a);
	truth_add(&waited_a, from);
	pthread_mutex_unlock(&a);
}

static CHAIN void want_b(void)
{
	struct mark from = mark_now();

	pthread_mutex_lock(&b);
	truth_add(&waited_b, from);
	pthread_mutex_unlock(&b);
}

/* Each round begins when the holders have their locks, and ends when the waiters had them. */
static CHAIN void *holder_a(void *arg)
{
	unsigned long i;

	name_thread("holder-a");
	for (i = 0; i < rounds; i++) {
		pthread_mutex_lock(&a);
		pthread_barrier_wait(&held);
		work_a();
		pthread_mutex_unlock(&a);
		pthread_barrier_wait(&freed);
	}
	return arg;
}

static CHAIN void *holder_b(void *arg)
{
	unsigned long i;

	name_thread("holder-b");
	for (i = 0; i < rounds; i++) {
		pthread_mutex_lock(&b);
		pthread_barrier_wait(&held);
		work_b();
		pthread_mutex_unlock(&b);
		pthread_barrier_wait(&freed);
	}
	return arg;
}

static CHAIN void *waiter_a(void *arg)
{
	unsigned long i;

	name_thread("waiter-a");
	for (i = 0; i < rounds; i++) {
		pthread_barrier_wait(&held);
		sleep_ns(NS_PER_MS); /* the holder is at its work */
		want_a();
		pthread_barrier_wait(&freed);
	}
	return arg;
}

static CHAIN void *waiter_b(void *arg)
{
	unsigned long i;

	name_thread("waiter-b");
	for (i = 0; i < rounds; i++) {
		pthread_barrier_wait(&held);
		sleep_ns(NS_PER_MS);
		want_b();
		pthread_barrier_wait(&freed);
	}
	return arg;
}

static CHAIN void *writer(void *arg)
{
	unsigned long i;

	name_thread("writer");
	for (i = 0; i < rounds; i++) {
		pthread_rwlock_wrlock(&rwlock);
		pthread_barrier_wait(&held);
		work_a();
		pthread_rwlock_unlock(&rwlock);
		pthread_barrier_wait(&freed);
	}
	return arg;
}

static CHAIN void want_read(void)
{
	struct mark from = mark_now();

	pthread_rwlock_rdlock(&rwlock);
	truth_add(&waited_a, from);
	pthread_rwlock_unlock(&rwlock);
}

static CHAIN void want_write(void)
{
	struct mark from = mark_now();

	pthread_rwlock_wrlock(&rwlock);
	truth_add(&waited_b, from);
	pthread_rwlock_unlock(&rwlock);
}

static CHAIN void *reader(void *arg)
{
	unsigned long i;

	name_thread("reader");
	for (i = 0; i < rounds; i++) {
		pthread_barrier_wait(&held);
		sleep_ns(NS_PER_MS);
		want_read();
		pthread_barrier_wait(&freed);
	}
	return arg;
}

static CHAIN void *writer_2(void *arg)
{
	unsigned long i;

	name_thread("writer-2");
	for (i = 0; i < rounds; i++) {
		pthread_barrier_wait(&held);
		sleep_ns(NS_PER_MS);
		want_write();
		pthread_barrier_wait(&freed);
	}
	return arg;
}

static CHAIN void *yields(void *arg)
{
	unsigned long i;

	name_thread("yields");
	for (i = 0; i < rounds * 100; i++) {
		pthread_mutex_lock(&a);
		sched_yield();
		pthread_mutex_unlock(&a);
	}
	return arg;
}

/* "odd" has the second mutex at first, "even" the other two. */
static CHAIN void want_relay(pthread_mutex_t *m)
{
	pthread_mutex_lock(m);
	__asm__ volatile("");
}

static CHAIN void *relay_odd(void *arg)
{
	unsigned int i;

	name_thread("odd");
	pthread_mutex_lock(&relay[1]);
	pthread_barrier_wait(&held);
	for (i = 0;; i = (i + 2) % 3) {
		want_relay(&relay[i]);
		pthread_mutex_unlock(&relay[(i + 1) % 3]);
	}
	return arg;
}

static CHAIN void *relay_even(void *arg)
{
	unsigned int i;

	name_thread("even");
	pthread_mutex_lock(&relay[0]);
	pthread_mutex_lock(&relay[2]);
	pthread_barrier_wait(&held);
	sleep_ns(NS_PER_MS); /* the other one waits */
	for (i = 0;; i = (i + 2) % 3) {
		pthread_mutex_unlock(&relay[i]);
		want_relay(&relay[(i + 1) % 3]);
	}
	return arg;
}

/* Nobody is preempted by whom he wakes. */
static void be_patient(void)
{
	struct sched_param none = {};

	sched_setscheduler(0, SCHED_BATCH, &none);
}

static void stay_here(void)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(sched_getcpu(), &cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus);
}

static CHAIN void *owner(void *arg)
{
	pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
	unsigned long i;

	name_thread("owner");
	for (i = 0; i < rounds * 10000; i++) {
		pthread_mutex_lock(&own);
		pthread_mutex_unlock(&own);
	}
	return arg;
}

static CHAIN void want_condition(void)
{
	struct mark from = mark_now();

	pthread_mutex_lock(&a);
	pthread_barrier_wait(&held);
	pthread_cond_wait(&condition, &a);
	pthread_mutex_unlock(&a);
	truth_add(&waited_a, from);
}

static CHAIN void *condition_main(void *arg)
{
	unsigned long i;

	name_thread("waiter-a");
	for (i = 0; i < rounds; i++)
		want_condition();
	return arg;
}

static CHAIN void signal_condition(void)
{
	pthread_mutex_lock(&a);
	pthread_cond_signal(&condition);
	pthread_mutex_unlock(&a);
	__asm__ volatile("");
}

static CHAIN void *signaller(void *arg)
{
	unsigned long i;

	name_thread("signaller");
	for (i = 0; i < rounds; i++) {
		pthread_barrier_wait(&held);
		work_a();
		signal_condition();
	}
	return arg;
}

/* Has a, and wants b. */
static CHAIN void *middle(void *arg)
{
	unsigned long i;

	name_thread("middle");
	for (i = 0; i < rounds; i++) {
		pthread_mutex_lock(&a);
		pthread_barrier_wait(&held);
		sleep_ns(NS_PER_MS / 2); /* its holder is at its work */
		want_b();
		pthread_mutex_unlock(&a);
		pthread_barrier_wait(&freed);
	}
	return arg;
}

static CHAIN void *first(void *arg)
{
	name_thread("first");
	pthread_mutex_lock(&a);
	pthread_barrier_wait(&held);
	want_b();
	return arg;
}

static CHAIN void *second(void *arg)
{
	name_thread("second");
	pthread_mutex_lock(&b);
	pthread_barrier_wait(&held);
	want_a();
	return arg;
}

static void make_mutex(int protocol, int robust)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setprotocol(&attr, protocol);
	pthread_mutexattr_setrobust(&attr, robust);
	if (pthread_mutex_init(&a, &attr))
		exit(CANNOT);
}

static CHAIN void want_shared(pthread_mutex_t *m)
{
	struct mark from = mark_now();

	pthread_mutex_lock(m);
	truth_add(&waited_a, from);
	pthread_mutex_unlock(m);
}

static CHAIN void keep(pthread_mutex_t *m)
{
	prctl(PR_SET_NAME, "keeper");
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		pthread_mutex_lock(m);
		work_a();
		pthread_mutex_unlock(m);
		sleep_ns(NS_PER_MS / 2);
	}
}

static void share(int protocol, int robust)
{
	pthread_mutex_t *m =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_mutexattr_t attr;
	unsigned long i;
	pid_t child;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setprotocol(&attr, protocol);
	pthread_mutexattr_setrobust(&attr, robust);
	if (m == MAP_FAILED || pthread_mutex_init(m, &attr))
		exit(CANNOT);
	child = fork();
	if (!child)
		keep(m);
	waited_a.name = "want_shared";
	printf("lock shared %p\nkeeper %d\n", (void *)m, (int)child);
	fflush(stdout);
	for (i = 0; i < rounds; i++) {
		sleep_ns(NS_PER_MS);
		want_shared(m);
	}
	kill(child, SIGKILL);
	truth_print(&waited_a);
}

static const struct setting {
	const char *name;
	void *(*threads[4])(void *arg);
} settings[] = {
	{ "two", { holder_a, holder_b, waiter_a, waiter_b } },
	{ "burn", { holder_a, waiter_a } },
	{ "writer", { writer, reader, writer_2 } },
	{ "pi", { holder_a, waiter_a } },
	{ "robust", { holder_a, waiter_a } },
	{ "yields", { yields, yields } },
	{ "relay", { relay_odd, relay_even } },
	{ "free", { owner, owner, owner, owner } },
	{ "condvar", { condition_main, signaller } },
	{ "chain", { holder_b, middle, waiter_a } },
	{ "dead", { first, second } },
};

static void run(const struct setting *s)
{
	pthread_t threads[4];
	unsigned int nr, i;

	for (nr = 0; nr < 4 && s->threads[nr]; nr++)
		;
	pthread_barrier_init(&held, NULL, nr);
	pthread_barrier_init(&freed, NULL, nr);
	for (i = 0; i < nr; i++)
		thread_start(&threads[i], s->threads[i], NULL);
	printf("lock a %p\nlock b %p\nlock rwlock %p\n", (void *)&a, (void *)&b, (void *)&rwlock);
	fflush(stdout);
	for (i = 0; i < nr; i++)
		pthread_join(threads[i], NULL);
	truth_print(&waited_a);
	truth_print(&waited_b);
}

int main(int argc, char **argv)
{
	size_t i;

	rounds = arg_nr(argc, argv, 2, 100);
	burns = arg_is(argc, argv, 1, "burn");
	if (arg_is(argc, argv, 1, "yields") || arg_is(argc, argv, 1, "relay"))
		stay_here();
	if (arg_is(argc, argv, 1, "relay"))
		be_patient();
	if (arg_is(argc, argv, 1, "pi"))
		make_mutex(PTHREAD_PRIO_INHERIT, PTHREAD_MUTEX_STALLED);
	if (arg_is(argc, argv, 1, "robust"))
		make_mutex(PTHREAD_PRIO_NONE, PTHREAD_MUTEX_ROBUST);
	if (arg_is(argc, argv, 1, "shared"))
		return share(PTHREAD_PRIO_NONE, PTHREAD_MUTEX_STALLED), 0;
	if (arg_is(argc, argv, 1, "shared-pi"))
		return share(PTHREAD_PRIO_INHERIT, PTHREAD_MUTEX_STALLED), 0;
	if (arg_is(argc, argv, 1, "shared-robust"))
		return share(PTHREAD_PRIO_NONE, PTHREAD_MUTEX_ROBUST), 0;
	for (i = 0; i < sizeof(settings) / sizeof(*settings); i++)
		if (arg_is(argc, argv, 1, settings[i].name)) {
			run(&settings[i]);
			return 0;
		}
	fprintf(stderr, "which case?\n");
	return 1;
}

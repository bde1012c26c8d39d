/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* CFLAGS: -O2 -pthread */
/* LDLIBS: -lpthread */
/*
 * sched_known [ROUNDS [HOG_MS [alone]]]: threads whose life the kernel has counted when they are
 * done and sleep for good. "naps" burns 5 ms of its own CPU time and sleeps 15 ms, so often; "ping"
 * and "pong" answer each other on one CPU through pipes, ten times as often; "held" is woken by
 * "hog", which then keeps their CPU for HOG_MS by SCHED_FIFO. Prints, and then sends its parent
 * SIGINT, unless it is alone:
 *
 *	hog FROM_NS TO_NS		by CLOCK_MONOTONIC; not where SCHED_FIFO is not allowed
 *	thread NAME TID BORN_NS RAN_NS BLOCKED PREEMPTED
 *	end NS
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>

#include "waits.h"

#define BURN_NS (5 * NS_PER_MS)
#define NAP_NS	(15 * NS_PER_MS)

struct known {
	const char *name;
	void (*work)(void);
	int cpu; /* -1 = any */
	uint64_t born_ns;
	pid_t tid;
	atomic_bool done;
};

static unsigned long rounds = 20, hog_ms = 50;
static int there[2], back[2], wake[2];
static uint64_t hog_from, hog_to;

static void pass(const int pipe[2])
{
	if (write(pipe[1], "x", 1) != 1)
		fatal("write");
}

static void await(const int pipe[2])
{
	char c;

	if (read(pipe[0], &c, 1) != 1)
		fatal("read");
}

static void nap(void)
{
	for (unsigned long i = 0; i < rounds; i++) {
		uint64_t until = cpu_ns() + BURN_NS;

		while (cpu_ns() < until)
			;
		sleep_ns(NAP_NS);
	}
}

static void ping(void)
{
	for (unsigned long i = 0; i < 10 * rounds; i++) {
		pass(there);
		await(back);
	}
}

static void pong(void)
{
	for (unsigned long i = 0; i < 10 * rounds; i++) {
		await(there);
		pass(back);
	}
}

static void held(void)
{
	await(wake);
}

static void hog(void)
{
	struct sched_param first = { .sched_priority = 1 }, none = {};

	sleep_ns(100 * NS_PER_MS); /* held waits by now */
	if (sched_setscheduler(0, SCHED_FIFO, &first)) {
		pass(wake);
		return;
	}
	hog_from = wall_ns();
	pass(wake);
	while ((hog_to = wall_ns()) < hog_from + hog_ms * NS_PER_MS)
		;
	sched_setscheduler(0, SCHED_OTHER, &none);
}

static struct known threads[] = {
	{ "naps", nap, -1 }, { "ping", ping, 0 }, { "pong", pong, 0 },
	{ "held", held, 0 }, { "hog", hog, 0 },
};
#define NR (sizeof(threads) / sizeof(*threads))

static void *live(void *arg)
{
	struct known *k = arg;

	name_thread(k->name);
	k->work();
	k->done = true;
	for (;;)
		pause();
	return NULL;
}

static int first_cpu(void)
{
	cpu_set_t may;

	sched_getaffinity(0, sizeof(may), &may);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &may))
			return cpu;
	fatal("no CPU");
	return 0;
}

static void begin(struct known *k, int cpu)
{
	pthread_attr_t attr;
	pthread_t thread;
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	pthread_attr_init(&attr);
	if (k->cpu >= 0)
		pthread_attr_setaffinity_np(&attr, sizeof(one), &one);
	k->born_ns = wall_ns();
	if (pthread_create(&thread, &attr, live, k))
		fatal("pthread_create");
}

/* The thread of that name sleeps for good: what the kernel has counted of it stays. */
static bool tell(const struct known *k, pid_t tid)
{
	char path[64], line[128], name[32] = "", state = 0;
	uint64_t ran = 0, blocked = 0, preempted = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/status", tid);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f)) {
		sscanf(line, "Name: %31s", name);
		sscanf(line, "State: %c", &state);
		sscanf(line, "voluntary_ctxt_switches: %" SCNu64, &blocked);
		sscanf(line, "nonvoluntary_ctxt_switches: %" SCNu64, &preempted);
	}
	if (f)
		fclose(f);
	if (strcmp(name, k->name) || !k->done || state != 'S')
		return false;
	snprintf(path, sizeof(path), "/proc/self/task/%d/schedstat", tid);
	f = fopen(path, "r");
	if (!f || fscanf(f, "%" SCNu64, &ran) != 1)
		fatal(path);
	fclose(f);
	printf("thread %s %d %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", k->name, tid,
	       k->born_ns, ran, blocked, preempted);
	return true;
}

static bool tell_any(const struct known *k)
{
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *d;
	bool told = false;

	while (tasks && !told && (d = readdir(tasks)))
		told = atoi(d->d_name) && tell(k, atoi(d->d_name));
	closedir(tasks);
	return told;
}

int main(int argc, char **argv)
{
	int cpu = first_cpu();

	if (argc > 1)
		rounds = strtoul(argv[1], NULL, 10);
	if (argc > 2)
		hog_ms = strtoul(argv[2], NULL, 10);
	if (pipe(there) || pipe(back) || pipe(wake))
		fatal("pipe");
	for (size_t i = 0; i < NR; i++)
		begin(&threads[i], cpu);
	for (size_t i = 0; i < NR; i++)
		while (!tell_any(&threads[i]))
			sleep_ns(10 * NS_PER_MS);
	if (hog_from)
		printf("hog %" PRIu64 " %" PRIu64 "\n", hog_from, hog_to);
	printf("end %" PRIu64 "\n", wall_ns());
	fflush(stdout);
	if (argc < 4)
		kill(getppid(), SIGINT);
	pause();
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* CFLAGS: -pthread */
/* LDLIBS: -lpthread */
/*
 * accounts_work THREADS [UNITS]: with 3, threads work-50, work-30 and work-20 at once, which do so
 * many times UNITS of work; else threads worker-1, worker-2 … one after the other, each of one unit
 * that is smaller. A unit is a fixed number of instructions, then 10 page faults, then a nap. Each
 * ends with "truth NAME TID CPU_NS FAULTS".
 */
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "burn.h"

#define LOOPS	    1000000
#define FEWER_LOOPS 50000
#define FAULTS	    10

struct job {
	char name[16];
	unsigned int units, loops;
};

static KEEP void spin(unsigned int loops)
{
	unsigned int i, x = 1;

	for (i = 0; i < loops; i++)
		__asm__ volatile("" : "+r"(x));
}

static KEEP void fault(char *pages, long page)
{
	madvise(pages, FAULTS * page, MADV_DONTNEED);
	for (int i = 0; i < FAULTS; i++)
		pages[i * page] = 1;
}

static void *work(void *arg)
{
	const struct timespec nap = { .tv_nsec = 100000 };
	struct job *job = arg;
	long page = sysconf(_SC_PAGESIZE);
	char *pages = mmap(NULL, FAULTS * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			   -1, 0);

	if (pages == MAP_FAILED)
		exit(1);
	pthread_setname_np(pthread_self(), job->name);
	for (unsigned int i = 0; i < job->units; i++) {
		spin(job->loops);
		fault(pages, page);
		nanosleep(&nap, NULL);
	}
	munmap(pages, FAULTS * page);
	printf("truth %s %ld %llu %u\n", job->name, syscall(SYS_gettid),
	       (unsigned long long)cpu_ns(), job->units * FAULTS);
	return NULL;
}

static int at_once(unsigned int units)
{
	static struct job jobs[] = { { "work-50", 50 }, { "work-30", 30 }, { "work-20", 20 } };
	pthread_t threads[3];

	for (int i = 0; i < 3; i++) {
		jobs[i].units *= units;
		jobs[i].loops = LOOPS;
		if (pthread_create(&threads[i], NULL, work, &jobs[i]))
			return 1;
	}
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

static int in_turn(unsigned int nr)
{
	struct job job = { .units = 1, .loops = FEWER_LOOPS };
	pthread_t thread;

	for (unsigned int i = 1; i <= nr; i++) {
		snprintf(job.name, sizeof(job.name), "worker-%u", i);
		if (pthread_create(&thread, NULL, work, &job))
			return 1;
		pthread_join(thread, NULL);
	}
	return 0;
}

int main(int argc, char **argv)
{
	unsigned int nr = argc > 1 ? atoi(argv[1]) : 3, units = argc > 2 ? atoi(argv[2]) : 2;

	return nr == 3 ? at_once(units) : in_turn(nr);
}

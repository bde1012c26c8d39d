/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* CFLAGS: -O2 -pthread */
/* LDLIBS: -lpthread */
/*
 * paces FILE [SECONDS]: one thread goes round: a call of paced(), of malloc() and free(), of a
 * mutex, and of the kernel each. FILE has two numbers of 8 bytes, which it raises: its rounds, and
 * its CPU time in ns. A second thread takes the mutex, and has it for 2 ms, ten times a second.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define KEEP __attribute__((noinline, noclone))
#define ONCE 1000 /* rounds between two looks at the clock */

struct pace {
	uint64_t rounds, cpu_ns;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile uint64_t sum;

KEEP uint64_t paced(uint64_t n)
{
	for (int i = 0; i < 20; i++)
		n = n * 6364136223846793005u + 1;
	return n;
}

static void round_once(void)
{
	void *volatile memory = malloc(64);

	free(memory);
	pthread_mutex_lock(&lock);
	sum += paced(sum);
	pthread_mutex_unlock(&lock);
	syscall(SYS_getppid);
}

static void sleep_ms(long ms)
{
	nanosleep(&(struct timespec){ ms / 1000, ms % 1000 * 1000000 }, NULL);
}

static void *disturb(void *arg)
{
	for (;;) {
		sleep_ms(100);
		pthread_mutex_lock(&lock);
		sleep_ms(2);
		pthread_mutex_unlock(&lock);
	}
	return arg;
}

int main(int argc, char **argv)
{
	int fd = argc > 1 ? open(argv[1], O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
	time_t end = time(NULL) + (argc > 2 ? atol(argv[2]) : 10);
	struct timespec t;
	struct pace *pace;
	pthread_t other;

	if (fd < 0 || ftruncate(fd, sizeof(*pace)))
		return perror("paces FILE"), 1;
	pace = mmap(NULL, sizeof(*pace), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (pace == MAP_FAILED || pthread_create(&other, NULL, disturb, NULL))
		return perror("paces"), 1;
	while (time(NULL) < end) {
		for (int i = 0; i < ONCE; i++)
			round_once();
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
		pace->cpu_ns = t.tv_sec * 1000000000ull + t.tv_nsec;
		__atomic_add_fetch(&pace->rounds, ONCE, __ATOMIC_RELEASE);
	}
	return 0;
}

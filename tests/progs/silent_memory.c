/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* LDLIBS: -lpthread */
/*
 * Whoever looks at its memory waits, once it got SIGUSR1 and FILE is on a file system that has
 * stopped to answer: one thread reads FILE's page by /proc/self/mem, which keeps the lock of all
 * mappings for readers, and another wants to map something, behind which no reader gets in.
 *
 *	silent_memory FILE [busy|stack]
 *
 * busy: it burns CPU time from then on, in burn(). In any case another thread waits for a mutex
 * that the main thread holds. stack: instead of all that, a thread sleeps whose stack pointer is in
 * that page, so that whoever reads its stack waits for the file.
 */
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* All threads are there before: a new one's stack has to be mapped, too. */
static sem_t may_read, may_map;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void *page;

static void *read_page(void *unused)
{
	int fd = open("/proc/self/mem", O_RDONLY);
	char byte;

	sem_wait(&may_read);
	if (pread(fd, &byte, 1, (off_t)(uintptr_t)page) != 1)
		perror("pread");
	return NULL;
}

static void *map_some(void *unused)
{
	sem_wait(&may_map);
	return mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void *want_mutex(void *unused)
{
	pthread_mutex_lock(&mutex);
	return NULL;
}

static void start_threads(void)
{
	void *(*const run[])(void *) = { read_page, map_some, want_mutex };
	pthread_t thread;

	sem_init(&may_read, 0, 0);
	sem_init(&may_map, 0, 0);
	pthread_mutex_lock(&mutex);
	for (size_t i = 0; i < sizeof(run) / sizeof(*run); i++)
		pthread_create(&thread, NULL, run[i], NULL);
}

static __attribute__((noinline)) void burn(void)
{
	for (volatile unsigned long i = 0;; i++)
		;
}

/* Without touching the stack again. */
static void sleep_on_page(void)
{
	char *top = (char *)page + 1024;

#if defined(__x86_64__)
	__asm__ volatile("mov %0, %%rsp\n mov %0, %%rbp\n1: mov %1, %%eax\n syscall\n jmp 1b"
			 :
			 : "r"(top), "i"(SYS_pause)
			 : "rcx", "r11", "rax");
#elif defined(__aarch64__)
	__asm__ volatile(
		"mov sp, %0\n mov x29, %0\n1: mov x0, #0\n mov x1, #0\n mov x2, #0\n mov x3, #0\n"
		" mov x8, %1\n svc #0\n b 1b"
		:
		: "r"(top), "i"(SYS_ppoll)
		: "x0", "x1", "x2", "x3", "x8");
#endif
	__builtin_unreachable();
}

int main(int argc, char **argv)
{
	int fd = argc >= 2 ? open(argv[1], O_RDONLY) : -1, nr;
	sigset_t set;

	page = fd < 0 ? MAP_FAILED : mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	start_threads();
	if (page == MAP_FAILED || write(STDOUT_FILENO, "ready\n", 6) != 6) {
		perror("silent_memory");
		return 1;
	}
	sigwait(&set, &nr);
	if (argc == 3 && !strcmp(argv[2], "stack"))
		sleep_on_page();
	sem_post(&may_read);
	usleep(100000);
	sem_post(&may_map);
	usleep(100000);
	if (argc == 3)
		burn();
	for (;;)
		pause();
}

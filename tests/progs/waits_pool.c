/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* CFLAGS: -O2 -fomit-frame-pointer -momit-leaf-frame-pointer -pthread */
/* LDLIBS: -lpthread */
/*
 * waits_pool [SECONDS [WORKERS]]: threads "worker" wait for work in idle_worker(), on a condition,
 * and a thread "reactor" in idle_reactor(), by epoll_wait. There is none: after so long all go.
 */
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include "waits.h"

static struct truth worked = { .name = "idle_worker" }, polled = { .name = "idle_reactor" };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool done;
static int event_fd;

static CHAIN void idle_worker(void)
{
	struct mark from = mark_now();

	pthread_mutex_lock(&lock);
	while (!done)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
	truth_add(&worked, from);
}

static CHAIN void idle_reactor(int epoll)
{
	struct mark from = mark_now();
	struct epoll_event event;

	while (epoll_wait(epoll, &event, 1, -1) != 1)
		if (errno != EINTR)
			fatal("epoll_wait");
	truth_add(&polled, from);
}

static CHAIN void *worker_main(void *arg)
{
	name_thread("worker");
	idle_worker();
	return NULL;
}

static CHAIN void *reactor_main(void *arg)
{
	struct epoll_event event = { .events = EPOLLIN };
	int epoll = epoll_create1(EPOLL_CLOEXEC);

	name_thread("reactor");
	if (epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, event_fd, &event))
		fatal("epoll");
	idle_reactor(epoll);
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned long i, nr = arg_nr(argc, argv, 2, 4);
	pthread_t *workers = calloc(nr, sizeof(*workers)), reactor;
	uint64_t one = 1;

	event_fd = eventfd(0, EFD_CLOEXEC);
	thread_start(&reactor, reactor_main, NULL);
	for (i = 0; workers && i < nr; i++)
		thread_start(&workers[i], worker_main, NULL);
	sleep_ns(arg_ns(argc, argv, 1, 2));
	pthread_mutex_lock(&lock);
	done = true;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	if (write(event_fd, &one, sizeof(one)) != sizeof(one))
		fatal("eventfd");
	pthread_join(reactor, NULL);
	for (i = 0; workers && i < nr; i++)
		pthread_join(workers[i], NULL);
	free(workers);
	truth_print(&worked);
	truth_print(&polled);
	return 0;
}

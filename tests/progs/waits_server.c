/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* CFLAGS: -O2 -fomit-frame-pointer -momit-leaf-frame-pointer -pthread */
/* LDLIBS: -lpthread */
/*
 * waits_server [unix|tcp [REQUESTS]]: a thread "client" rests for 3 ms in rest(), sends a request
 * and waits for the reply in await_reply(), by recv. A thread "server" waits in serve(), by
 * epoll_wait, and takes 2 ms for each in think(). Without a loopback device tcp is exit status 77.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "waits.h"

static struct truth served = { .name = "serve" }, thought = { .name = "think" };
static struct truth rested = { .name = "rest" }, replied = { .name = "await_reply" };
static unsigned long requests;
static int ends[2]; /* the client's, the server's */

static CHAIN void serve(int epoll)
{
	struct mark from = mark_now();
	struct epoll_event event;

	while (epoll_wait(epoll, &event, 1, -1) != 1)
		if (errno != EINTR)
			fatal("epoll_wait");
	truth_add(&served, from);
}

static CHAIN void think(void)
{
	struct mark from = mark_now();

	sleep_ns(2 * NS_PER_MS);
	truth_add(&thought, from);
}

static CHAIN void rest(void)
{
	struct mark from = mark_now();

	sleep_ns(3 * NS_PER_MS);
	truth_add(&rested, from);
}

static CHAIN void await_reply(void)
{
	struct mark from = mark_now();
	char c;

	if (recv(ends[0], &c, 1, 0) != 1)
		fatal("recv");
	truth_add(&replied, from);
}

static CHAIN void *server_main(void *arg)
{
	struct epoll_event event = { .events = EPOLLIN };
	int epoll = epoll_create1(EPOLL_CLOEXEC);
	unsigned long i;
	char c;

	name_thread("server");
	if (epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, ends[1], &event))
		fatal("epoll");
	for (i = 0; i < requests; i++) {
		serve(epoll);
		if (recv(ends[1], &c, 1, 0) != 1)
			fatal("recv");
		think();
		if (send(ends[1], "y", 1, 0) != 1)
			fatal("send");
	}
	close(epoll);
	return NULL;
}

static CHAIN void *client_main(void *arg)
{
	unsigned long i;

	name_thread("client");
	for (i = 0; i < requests; i++) {
		rest();
		if (send(ends[0], "x", 1, 0) != 1)
			fatal("send");
		await_reply();
	}
	return NULL;
}

static void connect_tcp(void)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	int one = 1, listener = socket(AF_INET, SOCK_STREAM, 0);
	socklen_t len = sizeof(to);

	ends[0] = socket(AF_INET, SOCK_STREAM, 0);
	if (listener < 0 || ends[0] < 0 || bind(listener, (struct sockaddr *)&to, len) ||
	    listen(listener, 1) || getsockname(listener, (struct sockaddr *)&to, &len) ||
	    connect(ends[0], (struct sockaddr *)&to, len)) {
		perror("loopback");
		exit(CANNOT);
	}
	ends[1] = accept(listener, NULL, NULL);
	if (ends[1] < 0)
		fatal("accept");
	setsockopt(ends[0], IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	setsockopt(ends[1], IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	close(listener);
}

int main(int argc, char **argv)
{
	pthread_t client, server;

	requests = arg_nr(argc, argv, 2, 200);
	if (arg_is(argc, argv, 1, "tcp"))
		connect_tcp();
	else if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
		fatal("socketpair");
	thread_start(&server, server_main, NULL);
	thread_start(&client, client_main, NULL);
	pthread_join(server, NULL);
	pthread_join(client, NULL);
	truth_print(&served);
	truth_print(&thought);
	truth_print(&rested);
	truth_print(&replied);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * renames: who calls counted(), and how often: 100 times as "first", 200 as "second", with the
 * names in turn; 1,500 threads that live one after the other 3 times each as "short"; four at once
 * 5,000 times each as "much"; a child 50 times as "child"; 1,200 children, one after the other, 3
 * times each as "brood", more than there are hints of where counts are. 28,450 calls in all, in
 * 2,905 of call().
 */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

struct part {
	const char *name;
	int calls;
};

__attribute__((noinline, noclone)) void counted(void)
{
	static volatile int calls;

	calls++;
}

__attribute__((noinline, noclone)) void call(const char *name, int calls)
{
	prctl(PR_SET_NAME, name);
	for (int i = 0; i < calls; i++)
		counted();
}

static void *run(void *arg)
{
	const struct part *p = arg;

	call(p->name, p->calls);
	return NULL;
}

static int child(const char *name, int calls)
{
	int status = 1;

	if (!fork()) {
		call(name, calls);
		_exit(0);
	}
	wait(&status);
	return status;
}

static pthread_t begin(const struct part *p)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, run, (void *)p))
		exit(1);
	return thread;
}

int main(void)
{
	static const struct part brief = { "short", 3 }, much = { "much", 5000 };
	pthread_t at_once[4];
	int status;

	for (int i = 0; i < 100; i++) {
		call("first", 1);
		call("second", 2);
	}
	for (int i = 0; i < 1500; i++)
		pthread_join(begin(&brief), NULL);
	for (int i = 0; i < 4; i++)
		at_once[i] = begin(&much);
	for (int i = 0; i < 4; i++)
		pthread_join(at_once[i], NULL);
	status = child("child", 50);
	for (int i = 0; i < 1200; i++)
		status |= child("brood", 3);
	return status != 0;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* CFLAGS: -shared -fPIC -fno-stack-protector */
/* LDLIBS: -ldl */
/*
 * A library to preload: the k-th call of a system call fails, as if the kernel had refused it. What
 * is written with syscall() is seen, which all of libbpf and of bpfprof is that has no function in
 * the C library.
 *
 *	REFUSE_CALL=bpf|perf_event_open REFUSE_AT=K REFUSE_ERRNO=NUMBER [REFUSE_ON=1]
 *
 * K counts from 1; 0 only counts. REFUSE_ON: all calls from the k-th on. The process that was
 * started appends to the file $REFUSE_LOG what it did: "CALLS calls, REFUSED refused, COMMAND of
 * the first one".
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static long number = -1, at, error, first_command = -1;
static int on;
static long nr_calls, nr_refused;
static pid_t owner;

static long from_env(const char *name)
{
	const char *s = getenv(name);

	return s ? strtol(s, NULL, 10) : 0;
}

__attribute__((constructor)) static void begin(void)
{
	const char *call = getenv("REFUSE_CALL");

	if (!call)
		return;
	number = !strcmp(call, "bpf") ? SYS_bpf : SYS_perf_event_open;
	at = from_env("REFUSE_AT");
	error = from_env("REFUSE_ERRNO");
	on = from_env("REFUSE_ON") != 0;
	owner = getpid();
	/* What this program starts is not meant. */
	unsetenv("REFUSE_CALL");
}

__attribute__((destructor)) static void end(void)
{
	const char *path = getenv("REFUSE_LOG");
	FILE *f = path && owner == getpid() && nr_calls ? fopen(path, "ae") : NULL;

	if (!f)
		return;
	fprintf(f, "%ld calls, %ld refused, %ld of the first one\n", nr_calls, nr_refused,
		first_command);
	fclose(f);
}

static int is_refused(long nr, long command)
{
	if (nr != number || getpid() != owner)
		return 0;
	nr_calls++;
	if (!at || (on ? nr_calls < at : nr_calls != at))
		return 0;
	if (!nr_refused++)
		first_command = command;
	return 1;
}

long syscall(long nr, ...)
{
	static long (*next)(long nr, ...);
	long a[6];
	va_list ap;

	va_start(ap, nr);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	if (!next)
		next = (long (*)(long nr, ...))dlsym(RTLD_NEXT, "syscall");
	if (is_refused(nr, a[0])) {
		errno = (int)error;
		return -1;
	}
	return next(nr, a[0], a[1], a[2], a[3], a[4], a[5]);
}

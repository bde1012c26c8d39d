/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Made-up waits, for the tests of what is made of them. Include behind cmocka.h. */
#ifndef BPFPROF_TESTS_UNIT_MADE_H
#define BPFPROF_TESTS_UNIT_MADE_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profile/profile.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#define TASK_S 1
#define TASK_D 2

static inline struct profile *made_profile(const char *command)
{
	struct profile *p = profile_new();

	p->meta.command = profile_string(p, command);
	p->meta.arch = profile_string(p, "x86_64");
	p->meta.target = profile_string(p, "process 100 (app)");
	p->meta.duration_ns = 10000000000;
	p->meta.nr_cpus = 2;
	p->meta.is_time = 1;
	return p;
}

/* Names leaf first, between semicolons; "" is no stack. */
static inline uint32_t made_stack(struct profile *p, enum frame_kind kind, const char *names)
{
	char *copy = strdup(names), *rest = copy, *name;
	uint32_t frames[64], nr = 0;

	while (*names && (name = strsep(&rest, ";"))) {
		uint32_t s = profile_string(p, name), id = profile_frame(p, kind, 0, s);

		profile_name_frame(p, id, s, 0);
		frames[nr++] = id;
	}
	free(copy);
	return nr ? profile_stack(p, frames, nr, UNWIND_END_CFI_ROOT, 0) : 0;
}

/* Of thread tid of process 100. */
static inline struct sample *made_wait(struct profile *p, uint32_t tid, const char *thread,
				       uint32_t wait, uint64_t ns, const char *user,
				       const char *kernel)
{
	struct sample s = { .pid = 100, .tid = tid, .count = 1, .weight = ns, .wait = wait };

	s.process = profile_string(p, "app");
	s.thread = profile_string(p, thread);
	s.ustack = made_stack(p, FRAME_USER, user);
	s.kstack = made_stack(p, FRAME_KERNEL, kernel);
	if (s.ustack)
		p->stacks[s.ustack].flags = STACK_ROOTED;
	profile_add_sample(p, &s);
	return &p->samples[p->nr_samples - 1];
}

/* What fn(arg) prints on stderr, to free(). */
static inline char *made_errors(int (*fn)(void *arg), void *arg, int *result)
{
	char path[] = "/tmp/test_made.XXXXXX", *text = calloc(1, 4096);
	int err = dup(STDERR_FILENO), fd = mkstemp(path);

	dup2(fd, STDERR_FILENO);
	*result = fn(arg);
	dup2(err, STDERR_FILENO);
	close(err);
	if (pread(fd, text, 4095, 0) < 0)
		*text = '\0';
	close(fd);
	unlink(path);
	return text;
}

#endif

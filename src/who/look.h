/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the kernel itself says of a process: text that nobody can hold up. */
#ifndef BPFPROF_WHO_LOOK_H
#define BPFPROF_WHO_LOOK_H

#include <stdbool.h>
#include <stdint.h>

#include "who/container.h"
#include "who/fact.h"

/* A process that is being looked at; all of it is 0 but the pid when it is gone. */
struct look {
	uint32_t pid;
	uint64_t start;	  /* in ticks since the machine was started: no other one has both */
	uint64_t program; /* another number after execve(), 0 = the kernel does not say */
	bool is_kernel;	  /* a kernel thread */
	char comm[16], *exe;
	struct container_place place;
	char *facts[FACT_NR]; /* for who.c, which fills them */
};

/* Below a root folder. */
void look_begin(struct look *l, int root, uint32_t pid);
void look_release(struct look *l);

/* Only what tells it from another one that has or had its number. False: it is gone. */
bool look_stat(int root, uint32_t pid, struct look *l);

/* Of the text of /proc/PID/stat. False: not understood. */
bool look_parse_stat(const char *text, struct look *l);

#endif

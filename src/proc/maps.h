/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reading /proc/PID: executable mappings and names. */
#ifndef BPFPROF_PROC_MAPS_H
#define BPFPROF_PROC_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct maps_line {
	uint64_t start, end, file_offset, ino;
	uint32_t dev_major, dev_minor;
	const char *path; /* "" for anonymous memory */
};

/* Calls fn for each executable mapping of pid, in address order. 0 or negative errno. */
int maps_read(uint32_t pid, void (*fn)(void *arg, const struct maps_line *line), void *arg);

/* The same of such text, which is changed. */
void maps_take(char *text, size_t len, void (*fn)(void *arg, const struct maps_line *line),
	       void *arg);

/*
 * The lines of executable mappings, of the first thread that still runs: how many bytes of them, or
 * negative errno.
 */
ssize_t maps_copy(uint32_t pid, char *to, size_t max);

/* One line of /proc/PID/maps; cut in place. False when it is not executable or not understood. */
bool maps_parse(char *text, struct maps_line *line);

/* Name of the process (of its first thread) as the kernel has it. 0 or negative errno. */
int maps_read_name(uint32_t pid, char *name, size_t sz);

/* The user whose process it is; root's where its memory is not to be seen. 0 or negative errno. */
int maps_read_owner(uint32_t pid, uint32_t *uid);

/*
 * Where the stack of its program began: different for every exec, unless the host does not
 * randomize addresses. 0 or negative errno.
 */
int maps_read_start_stack(uint32_t pid, uint64_t *start_stack);

/*
 * The process itself or, when its first thread has exited, one that goes on: in /proc that number
 * shows what the process has mapped, and its root.
 */
uint32_t maps_living_thread(uint32_t pid);

/* Does any thread of the process still run? False for zombies, which only wait to be reaped. */
bool maps_is_alive(uint32_t pid);

#endif

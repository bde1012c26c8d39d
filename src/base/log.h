/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Messages to stderr. Log once, at the layer that knows the name of the thing, and return in the
 * same line:
 *
 *	return log_err(-errno, "cannot open %s", path);
 */
#ifndef BPFPROF_BASE_LOG_H
#define BPFPROF_BASE_LOG_H

#include <stdio.h>

/*
 * "bpfprof: MESSAGE: strerror(err)"; err 0 leaves the reason away. Returns err (negative errno), or
 * -1 for 0.
 */
__attribute__((format(printf, 2, 3))) int log_err(int err, const char *fmt, ...);
/* The same without the reason: the message has it. Returns err, which is not 0. */
__attribute__((format(printf, 2, 3))) int log_as(int err, const char *fmt, ...);
__attribute__((format(printf, 1, 2))) void log_warn(const char *fmt, ...);
/* Shown only with -v. */
__attribute__((format(printf, 1, 2))) void log_info(const char *fmt, ...);

/*
 * 0: errors and warnings; 1 (-v): also log_info and libbpf's own messages; 2 (-vv): libbpf's debug
 * output.
 */
extern int log_verbosity;

/*
 * A progress line on stderr, redrawn in place; every message above first erases it. Does nothing
 * unless stderr is a terminal. NULL erases and ends it.
 */
void log_progress(const char *fmt, ...);

/* From now on messages go there instead: who is asked gives his to who asked. */
void log_to(FILE *out);

/* From now on this process shows none: another one does. */
void log_progress_off(void);

#endif

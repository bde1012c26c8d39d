/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Pipes that nobody reads any more. When it is standard output, the program ends, as any other does
 * (bpfprof … | head). Messages, and files that are pipes, take nothing with them: to write there is
 * an error, and the other results are written.
 */
#ifndef BPFPROF_BASE_PIPES_H
#define BPFPROF_BASE_PIPES_H

#include <stdbool.h>

/*
 * Once, in the beginning. What the caller ignores stays ignored; programs that we start have the
 * default.
 */
void pipes_begin(void);

/*
 * Between these two this thread writes to something else than standard output. They may be nested.
 */
void pipes_spare(void);
void pipes_spare_end(void);

/* No pipe, or one that somebody reads. */
bool pipes_is_read(int fd);

#endif

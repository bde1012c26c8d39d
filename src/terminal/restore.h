/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The terminal as it was, whatever ends or stops the program: signals that end it, also those of
 * its own mistakes, exit(), Ctrl-Z, and back again. What that takes is prepared beforehand, so that
 * a signal's handler only writes bytes and sets modes.
 */
#ifndef BPFPROF_TERMINAL_RESTORE_H
#define BPFPROF_TERMINAL_RESTORE_H

#include <stdbool.h>

/*
 * Keeps the modes of the terminal behind standard input, and what signals do, before the library
 * changes both. 0 or negative errno.
 */
int restore_keep(void);

/*
 * From now on the screen is taken, in the modes that the terminal has now. Takes messages away
 * from standard error, which would be written across the screen.
 */
void restore_arm(int rows);

/* The modes and handlers as they were; messages appear that came meanwhile. */
void restore_disarm(void);

/* Waits for input: 1 there is some, 0 too late or a signal came, -1 the terminal is gone. */
int restore_wait(int timeout_ms);

/* True once after the program was stopped and went on: the screen has to be drawn again. */
bool restore_went_on(void);

/* The last message that was logged meanwhile, without "bpfprof: "; NULL = none. To be freed. */
char *restore_message(void);

#endif

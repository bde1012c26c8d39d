/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Debug files from servers (DEBUGINFOD_URLS), by build-id. That tells these servers what runs here,
 * so it happens on request only. libdebuginfod does it, loaded when it is first needed: it brings a
 * client of HTTP with it, which nobody else should have. It keeps what it got in its own cache.
 */
#ifndef BPFPROF_SYMBOL_DEBUGINFOD_H
#define BPFPROF_SYMBOL_DEBUGINFOD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The library is here, and this program can load it: one that is linked statically cannot. */
bool debuginfod_has_library(void);

/* 0, or -ENOENT after a message: there is no server, or no library. */
int debuginfod_check(void);

enum debuginfod_answer {
	DEBUGINFOD_NOT_ASKED,
	DEBUGINFOD_FOUND,
	DEBUGINFOD_NONE,    /* no server has it */
	DEBUGINFOD_NOBODY,  /* no server was reached */
	DEBUGINFOD_TIMEOUT, /* none answered in time */
	DEBUGINFOD_ERROR,   /* one at least failed, and none has it */
};

/*
 * An open file, -1 when no server has it before deadline_ns (CLOCK_MONOTONIC); *answer says why,
 * and *status with which code of HTTP a server failed.
 */
int debuginfod_open(const uint8_t *build_id, size_t len, uint64_t deadline_ns,
		    enum debuginfod_answer *answer, uint16_t *status);

/*
 * The last code of HTTP that is an error other than "not found" in what the library tells of its
 * work (debuginfod_set_verbose_fd()); 0 = there is none.
 */
uint16_t debuginfod_status_of(const char *told);

/* DEBUGINFOD_URLS as it may be shown, without user names and passwords; to be freed. */
char *debuginfod_servers(void);

#endif

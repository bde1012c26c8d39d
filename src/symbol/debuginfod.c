/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* libdebuginfod by dlopen(): four functions, whose types its header gives. */
#include "symbol/debuginfod.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/shared.h"

#define LIBRARY "libdebuginfod.so.1"

struct client;

struct library {
	struct client *(*begin)(void);
	void (*end)(struct client *c);
	int (*find)(struct client *c, const unsigned char *id, int len, char **path);
	void (*set_progress)(struct client *c, int (*progress)(struct client *c, long a, long b));
};

bool debuginfod_has_library(void)
{
	return shared_open(LIBRARY) != NULL;
}

static bool library_open(struct library *l)
{
	void *handle = shared_open(LIBRARY);

	if (!handle)
		return false;
	*(void **)&l->begin = dlsym(handle, "debuginfod_begin");
	*(void **)&l->end = dlsym(handle, "debuginfod_end");
	*(void **)&l->find = dlsym(handle, "debuginfod_find_debuginfo");
	*(void **)&l->set_progress = dlsym(handle, "debuginfod_set_progressfn");
	return l->begin && l->end && l->find && l->set_progress;
}

int debuginfod_check(void)
{
	const char *urls = getenv("DEBUGINFOD_URLS");
	struct library l;

	if (!urls || !*urls) {
		log_err(0, "--debuginfod: DEBUGINFOD_URLS names no server (sudo drops it: sudo "
			   "--preserve-env=DEBUGINFOD_URLS ...)");
		return -ENOENT;
	}
	if (!library_open(&l))
		return shared_refuse("--debuginfod", LIBRARY, "libdebuginfod1");
	return 0;
}

/* Of the download that goes on: the library hands its own client to the function below only. */
static uint64_t until_ns;

/* Not 0 ends a download. */
static int is_late(struct client *c, long a, long b)
{
	return now_ns() > until_ns;
}

int debuginfod_open(const uint8_t *build_id, size_t len, uint64_t deadline_ns)
{
	struct client *c;
	struct library l;
	int fd;

	if (now_ns() > deadline_ns || !library_open(&l))
		return -1;
	c = l.begin();
	if (!c)
		return -1;
	until_ns = deadline_ns;
	l.set_progress(c, is_late);
	fd = l.find(c, build_id, len, NULL);
	l.end(c);
	return fd < 0 ? -1 : fd;
}

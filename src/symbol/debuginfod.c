/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* libdebuginfod by dlopen(): a few functions, whose types its header gives. */
#include "symbol/debuginfod.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/shared.h"

#define LIBRARY	  "libdebuginfod.so.1"
#define TOLD	  65536 /* bytes of what the library tells of its work */
#define NOT_FOUND 404

struct client;

struct library {
	struct client *(*begin)(void);
	void (*end)(struct client *c);
	int (*find)(struct client *c, const unsigned char *id, int len, char **path);
	void (*set_progress)(struct client *c, int (*progress)(struct client *c, long a, long b));
	void (*set_verbose)(struct client *c, int fd); /* NULL: before 0.186 */
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
	*(void **)&l->set_verbose = dlsym(handle, "debuginfod_set_verbose_fd");
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

uint16_t debuginfod_status_of(const char *told)
{
	static const char begin[] = "header HTTP/";
	unsigned int status = 0, code;

	for (const char *at = told; (at = strstr(at, begin)); at++)
		if ((at == told || at[-1] == '\n') &&
		    sscanf(at + sizeof(begin) - 1, "%*[0-9.] %3u", &code) == 1 && code >= 400 &&
		    code != NOT_FOUND)
			status = code;
	return status;
}

/* The library says "not found" of what a server failed to answer, too. */
static uint16_t status_told(int told)
{
	char *text = xcalloc(TOLD + 1, 1);
	uint16_t status = 0;

	if (pread(told, text, TOLD, 0) > 0)
		status = debuginfod_status_of(text);
	free(text);
	return status;
}

static enum debuginfod_answer answer_of(int fd, uint16_t status)
{
	if (fd >= 0)
		return DEBUGINFOD_FOUND;
	if (status)
		return DEBUGINFOD_ERROR;
	if (now_ns() > until_ns || fd == -ETIME || fd == -ETIMEDOUT)
		return DEBUGINFOD_TIMEOUT;
	return fd == -ENOENT ? DEBUGINFOD_NONE : DEBUGINFOD_NOBODY;
}

int debuginfod_open(const uint8_t *build_id, size_t len, uint64_t deadline_ns,
		    enum debuginfod_answer *answer, uint16_t *status)
{
	struct client *c;
	struct library l;
	int fd, told = -1;

	*status = 0;
	*answer = DEBUGINFOD_TIMEOUT;
	if (now_ns() > deadline_ns)
		return -1;
	*answer = DEBUGINFOD_NOBODY;
	if (!library_open(&l))
		return -1;
	c = l.begin();
	if (!c)
		return -1;
	until_ns = deadline_ns;
	l.set_progress(c, is_late);
	if (l.set_verbose && !getenv("DEBUGINFOD_VERBOSE"))
		told = memfd_create("bpfprof-debuginfod", MFD_CLOEXEC);
	if (told >= 0)
		l.set_verbose(c, told);
	fd = l.find(c, build_id, len, NULL);
	l.end(c);
	if (told >= 0) {
		*status = status_told(told);
		close(told);
	}
	*answer = answer_of(fd, *status);
	return fd < 0 ? -1 : fd;
}

/* "https://user:password@host/path" without the part that is nobody's business. */
static void put_server(FILE *out, const char *url, size_t len)
{
	const char *host = memmem(url, len, "://", 3), *at;

	host = host ? host + 3 : url;
	at = memrchr(host, '@', strcspn(host, "/ "));
	fwrite(url, 1, host - url, out);
	host = at ? at + 1 : host;
	fwrite(host, 1, url + len - host, out);
}

char *debuginfod_servers(void)
{
	const char *urls = getenv("DEBUGINFOD_URLS");
	char *shown;
	size_t sz, len;
	FILE *out = open_memstream(&shown, &sz);

	for (const char *url = urls ? urls : ""; *url; url += len) {
		len = strcspn(url, " ");
		put_server(out, url, len);
		len += strspn(url + len, " ");
		if (url[len])
			fputc(' ', out);
	}
	fclose(out);
	return shown;
}

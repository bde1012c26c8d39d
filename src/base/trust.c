/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/trust.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"

#define OPENS (1u << CAP_DAC_OVERRIDE | 1u << CAP_DAC_READ_SEARCH)

/* This thread's capabilities; root opens all without any. What rests stays permitted. */
int trust_open(const char *path, int flags)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct was[2], now[2];
	bool rests = getuid() && !syscall(SYS_capget, &head, was);
	int fd;

	if (rests) {
		memcpy(now, was, sizeof(now));
		now[0].effective &= ~OPENS;
		rests = !syscall(SYS_capset, &head, now);
	}
	fd = open(path, flags | O_RDONLY | O_CLOEXEC | O_NOCTTY);
	fd = fd < 0 ? -errno : fd;
	if (rests)
		syscall(SYS_capset, &head, was);
	return fd;
}

FILE *trust_fopen(const char *path)
{
	int fd = trust_open(path, 0);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");

	if (fd < 0)
		errno = -fd;
	else if (!f)
		close(fd);
	return f;
}

/* text has room for a byte behind len. */
static int check_token(const char *path, char *text, ssize_t len)
{
	if (len < 0)
		return log_err(-errno, "cannot read the token in %s", path);
	while (len && isspace((unsigned char)text[len - 1]))
		len--;
	text[len] = '\0';
	if (!len)
		return log_as(-EINVAL, "%s has no token", path);
	for (ssize_t i = 0; i < len; i++)
		if (!isgraph((unsigned char)text[i]))
			return log_as(-EINVAL,
				      "%s holds something else than a token, which is one "
				      "word",
				      path);
	return 0;
}

char *trust_token(const char *path, int *err)
{
	int fd = trust_open(path, O_NONBLOCK);
	char text[TRUST_MAX_TOKEN + 1], *token = NULL;
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		*err = log_err(fd < 0 ? fd : -errno, "cannot open the token in %s", path);
	else if (!S_ISREG(st.st_mode))
		*err = log_as(-EINVAL, "%s is not a regular file", path);
	else if (st.st_mode & S_IRWXO)
		*err = log_as(-EPERM, "everybody can read the token in %s: chmod o= %s", path,
			      path);
	else
		*err = check_token(path, text, read(fd, text, TRUST_MAX_TOKEN));
	if (!*err)
		token = xstrdup(text);
	explicit_bzero(text, sizeof(text));
	if (fd >= 0)
		close(fd);
	return token;
}

void trust_forget(char *token)
{
	if (token)
		explicit_bzero(token, strlen(token));
	free(token);
}

bool trust_loopback(const char *host, size_t len)
{
	char name[64];
	struct in_addr in;

	if (len >= sizeof(name))
		return false;
	memcpy(name, host, len);
	name[len] = '\0';
	return !strcasecmp(name, "localhost") || !strcmp(name, "[::1]") ||
	       (inet_pton(AF_INET, name, &in) == 1 && ntohl(in.s_addr) >> 24 == 127);
}

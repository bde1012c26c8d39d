/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "serve/access.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"

#define MAX_TOKEN 1024
#define MIN_TOKEN 16

static int take_token(struct access *a, const char *file, char *text, ssize_t len)
{
	if (len < 0)
		return log_err(-errno, "cannot read the token in %s", file);
	text[len] = '\0';
	text[strcspn(text, " \t\r\n")] = '\0';
	if (strlen(text) < MIN_TOKEN)
		return log_as(-EINVAL,
			      "%s: the token has less than %d characters; make one: "
			      "(umask 077; openssl rand -hex 32 >%s)",
			      file, MIN_TOKEN, file);
	a->token = xstrdup(text);
	return 0;
}

int access_load(struct access *a, const char *token_file)
{
	int fd = open(token_file, O_RDONLY | O_CLOEXEC | O_NONBLOCK), err;
	char text[MAX_TOKEN + 1];
	struct stat st;

	if (fd < 0 || fstat(fd, &st)) {
		err = log_err(-errno, "cannot open the token in %s", token_file);
	} else if (st.st_mode & S_IRWXO) {
		err = log_as(-EACCES, "%s: everybody can read the token: chmod o= %s", token_file,
			     token_file);
	} else {
		err = take_token(a, token_file, text, read(fd, text, MAX_TOKEN));
	}
	explicit_bzero(text, sizeof(text));
	if (fd >= 0)
		close(fd);
	return err;
}

void access_release(struct access *a)
{
	if (a->token)
		explicit_bzero(a->token, strlen(a->token));
	free(a->token);
	a->token = NULL;
}

/* How long it takes says nothing of where they differ. */
static bool is_token(const struct access *a, const char *s, size_t len)
{
	size_t want = strlen(a->token);
	unsigned char differ = len != want;

	for (size_t i = 0; i < want; i++)
		differ |= (unsigned char)(a->token[i] ^ (i < len ? s[i] : 0));
	return !differ;
}

static int digit_of(char c)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *at = c ? strchr(digits, c) : NULL;

	return at ? (int)(at - digits) : -1;
}

/* Bytes in to, of MAX_TOKEN + 256. */
static size_t decode(const char *s, char *to)
{
	uint32_t bits = 0;
	size_t nr = 0;
	int have = 0;

	for (; digit_of(*s) >= 0 && nr < MAX_TOKEN + 256; s++) {
		bits = bits << 6 | (uint32_t)digit_of(*s);
		have += 6;
		if (have >= 8)
			to[nr++] = (char)(bits >> (have -= 8));
	}
	return nr;
}

/* "user:token" */
static bool is_basic(const struct access *a, const char *s)
{
	char text[MAX_TOKEN + 256];
	size_t len = decode(s, text);
	const char *colon = memchr(text, ':', len);
	bool yes = colon && is_token(a, colon + 1, len - (colon + 1 - text));

	explicit_bzero(text, sizeof(text));
	return yes;
}

static bool knows_token(const struct access *a, const char *authorization)
{
	const char *s;

	if (!authorization)
		return false;
	s = authorization + strcspn(authorization, " ");
	s += strspn(s, " ");
	if (!strncasecmp(authorization, "Bearer ", 7))
		return is_token(a, s, strlen(s));
	return !strncasecmp(authorization, "Basic ", 6) && is_basic(a, s);
}

/* "localhost", "127.0.0.1" and so on, "[::1]", each with or without a port. */
static bool is_loopback(const char *host)
{
	char name[64];
	struct in_addr in;
	size_t len;

	if (!strncmp(host, "[::1]", 5))
		return !host[5] || host[5] == ':';
	len = strcspn(host, ":");
	if (len >= sizeof(name))
		return false;
	memcpy(name, host, len);
	name[len] = '\0';
	return !strcasecmp(name, "localhost") ||
	       (inet_pton(AF_INET, name, &in) == 1 && ntohl(in.s_addr) >> 24 == 127);
}

enum access_verdict access_check(const struct access *a, const char *host,
				 const char *authorization)
{
	if (a->token)
		return knows_token(a, authorization) ? ACCESS_OK : ACCESS_NO_TOKEN;
	return a->is_socket || (host && is_loopback(host)) ? ACCESS_OK : ACCESS_WRONG_HOST;
}

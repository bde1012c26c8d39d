/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "serve/access.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/log.h"
#include "base/trust.h"

#define MAX_BASIC (TRUST_MAX_TOKEN + 256) /* with the name before it */
#define MIN_TOKEN 16

int access_load(struct access *a, const char *token_file)
{
	int err;

	a->token = trust_token(token_file, &err);
	if (!a->token || strlen(a->token) >= MIN_TOKEN)
		return err;
	access_release(a);
	return log_as(-EINVAL,
		      "%s: the token has less than %d characters; make one: "
		      "(umask 077; openssl rand -hex 32 >%s)",
		      token_file, MIN_TOKEN, token_file);
}

void access_release(struct access *a)
{
	trust_forget(a->token);
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

/* Bytes in to, of MAX_BASIC. */
static size_t decode(const char *s, char *to)
{
	uint32_t bits = 0;
	size_t nr = 0;
	int have = 0;

	for (; digit_of(*s) >= 0 && nr < MAX_BASIC; s++) {
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
	char text[MAX_BASIC];
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

/* What a request was sent to, with or without a port. */
static bool is_loopback(const char *host)
{
	size_t len = *host == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":");

	len = strnlen(host, len);
	return (!host[len] || host[len] == ':') && trust_loopback(host, len);
}

enum access_verdict access_check(const struct access *a, const char *host,
				 const char *authorization)
{
	if (a->token)
		return knows_token(a, authorization) ? ACCESS_OK : ACCESS_NO_TOKEN;
	return a->is_socket || (host && is_loopback(host)) ? ACCESS_OK : ACCESS_WRONG_HOST;
}

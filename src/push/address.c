/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Options, then the variables that exporters of OpenTelemetry honour, then defaults. */
#include "push/address.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/trust.h"

#define TOKEN	  "BPFPROF_PUSH_TOKEN"
#define OTLP_HOST "http://localhost:4318"
#define MS_NS	  1000000ull

static const char *otel(const char *name)
{
	char *variable = xasprintf("OTEL_EXPORTER_OTLP_%s", name);
	const char *value = getenv(variable);

	free(variable);
	return value && *value ? value : NULL;
}

static char *copy_or(const char *option, const char *variable)
{
	const char *value = option ? option : variable ? otel(variable) : NULL;

	return value ? xstrdup(value) : NULL;
}

static int refused(const char *word, const char *why)
{
	char *shown = text_cleaned(word);

	log_err(0, "'%s': %s", shown, why);
	free(shown);
	return -EINVAL;
}

/* The host of a URL, with its length: "[::1]", "localhost". */
static const char *host_of(const char *url, size_t *len)
{
	const char *host = strstr(url, "://");

	if (!host)
		return NULL;
	host += 3;
	*len = *host == '[' ? strcspn(host, "]/") + (strchr(host, ']') != NULL)
			    : strcspn(host, ":/?#");
	return *len ? host : NULL;
}

/* Behind the host: nothing, or a port of its own. */
static bool has_good_port(const char *at)
{
	char *end;
	unsigned long port;

	if (*at != ':')
		return !*at || strchr("/?#", *at);
	if (!isdigit((unsigned char)at[1]))
		return false;
	port = strtoul(at + 1, &end, 10);
	return port > 0 && port <= 65535 && (!*end || strchr("/?#", *end));
}

static int check_url(const char *url, bool insecure)
{
	size_t len;
	const char *host = host_of(url, &len);
	bool https = !strncasecmp(url, "https://", 8);

	if (!host || (!https && strncasecmp(url, "http://", 7)))
		return refused(url, "an address is http://HOST:PORT or https://HOST:PORT");
	for (const char *c = url; *c; c++)
		if (iscntrl((unsigned char)*c) || *c == ' ')
			return refused(url, "an address has no spaces");
	if (memchr(host, '@', strcspn(host, "/")))
		return refused("URL", "names and passwords do not belong into addresses, which "
				      "others can see; use --token-file");
	if (!has_good_port(host + len))
		return refused(url, "behind the ':' of an address is a port from 1 to 65535");
	if (!https && !insecure && !trust_loopback(host, len))
		return refused(url, "profiles go to other hosts by https; --insecure sends them "
				    "unencrypted");
	return 0;
}

/* With the engine's path behind it, unless it is there. */
static char *with_path(const char *url, const char *path)
{
	size_t len = strlen(url), nr = strlen(path);

	while (len && url[len - 1] == '/')
		len--;
	if (len >= nr && !strncmp(url + len - nr, path, nr))
		return xstrndup(url, len);
	return xasprintf("%.*s%s", (int)len, url, path);
}

static char *otlp_url(const struct engine *e)
{
	const char *all = otel("PROFILES_ENDPOINT"), *base = otel("ENDPOINT");

	return all ? xstrdup(all) : with_path(base ? base : OTLP_HOST, e->path);
}

/* "%41" is 'A'. In place. */
static void decode(char *s)
{
	char *to = s;

	for (; *s; s++) {
		char hex[3] = { s[0] == '%' ? s[1] : 0, s[0] == '%' && s[1] ? s[2] : 0, 0 };

		if (isxdigit((unsigned char)hex[0]) && isxdigit((unsigned char)hex[1])) {
			*to++ = strtoul(hex, NULL, 16);
			s += 2;
		} else {
			*to++ = *s;
		}
	}
	*to = '\0';
}

/* "k=v,k=v". A value that would end its line is left out. */
static void add_headers(struct address *a, const char *list)
{
	char *copy = xstrdup(list), *rest = copy, *word;

	while ((word = strsep(&rest, ","))) {
		char *value = strchr(word, '=');

		if (!value)
			continue;
		*value++ = '\0';
		decode(value);
		word += strspn(word, " ");
		if (!*word || strpbrk(value, "\r\n") || strpbrk(word, "\r\n: "))
			continue;
		a->headers = xgrow(a->headers, a->nr_headers, &a->cap_headers, sizeof(*a->headers));
		a->headers[a->nr_headers++] = xasprintf("%s: %s", word, value);
	}
	free(copy);
}

static int honour_otel(struct address *a)
{
	const char *protocol = otel("PROTOCOL"), *timeout = otel("TIMEOUT");
	const char *compression = otel("COMPRESSION"), *headers = otel("HEADERS");

	if (protocol && strcmp(protocol, "http/protobuf"))
		return refused(protocol,
			       "OTEL_EXPORTER_OTLP_PROTOCOL: bpfprof knows http/protobuf");
	if (timeout && atoll(timeout) > 0)
		a->timeout_ns = atoll(timeout) * MS_NS;
	a->plain = compression && !strcmp(compression, "none");
	if (headers)
		add_headers(a, headers);
	return 0;
}

static const struct engine *engine_of(const char *word, const char **url)
{
	const char *names[8];
	char *name = xstrndup(word, strcspn(word, "=")), *meant;
	const struct engine *e = engine_find(name);

	*url = word[strlen(name)] ? word + strlen(name) + 1 : NULL;
	for (size_t i = 0; i < nr_engines; i++)
		names[i] = engines[i].name;
	if (!e) {
		char *shown = text_cleaned(name);

		meant = text_meant("", text_nearest(name, names, nr_engines));
		log_err(0, "unknown engine '%s'%s (pyroscope=URL, parca=URL or otlp=URL)", shown,
			meant);
		free(meant);
		free(shown);
	}
	free(name);
	return e;
}

/* What TLS needs is there now, not only when the first window is to be sent. */
static int check_files(const struct address *a)
{
	const char *const files[] = { a->ca_file, a->cert_file, a->key_file };

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		if (files[i] && access(files[i], R_OK))
			return log_err(-errno, "cannot open %s", files[i]);
	return 0;
}

int address_init(struct address *a, const char *word, const struct push_opts *o)
{
	const char *url;
	const struct engine *e = engine_of(word, &url);
	bool otlp = e && !strcmp(e->name, "otlp"), insecure = o->insecure;
	int err = 0;

	*a = (struct address){ .engine = e, .timeout_ns = PUSH_TIMEOUT_NS };
	if (!e)
		return -EINVAL;
	if (!otlp && (!url || !*url))
		return refused(word, "which address? engine=URL");
	a->url = url && *url ? with_path(url, e->path) : otlp_url(e);
	a->ca_file = copy_or(o->ca_file, otlp ? "CERTIFICATE" : NULL);
	a->cert_file = copy_or(o->cert_file, otlp ? "CLIENT_CERTIFICATE" : NULL);
	a->key_file = copy_or(o->key_file, otlp ? "CLIENT_KEY" : NULL);
	a->token_file = copy_or(o->token_file, NULL);
	a->tenant = copy_or(o->tenant, NULL);
	if (otlp) {
		insecure |= otel("INSECURE") && !strcasecmp(otel("INSECURE"), "true");
		err = honour_otel(a);
	}
	if (o->timeout_ns)
		a->timeout_ns = o->timeout_ns;
	if (!err && a->tenant && strpbrk(a->tenant, "\r\n"))
		err = refused(a->tenant, "a tenant is one line");
	if (!err)
		err = check_url(a->url, insecure);
	return err ? err : check_files(a);
}

void address_release(struct address *a)
{
	for (size_t i = 0; i < a->nr_headers; i++)
		free(a->headers[i]);
	free(a->headers);
	free(a->url);
	free(a->ca_file);
	free(a->cert_file);
	free(a->key_file);
	free(a->token_file);
	free(a->tenant);
}

char *address_token(const struct address *a, int *err)
{
	const char *variable = getenv(TOKEN);

	*err = 0;
	if (a->token_file)
		return trust_token(a->token_file, err);
	return variable && *variable && !strpbrk(variable, "\r\n") ? xstrdup(variable) : NULL;
}

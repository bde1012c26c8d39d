/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "who/environment.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

static const struct {
	const char *variable; /* with its '=' */
	enum fact fact;
} variables[] = {
	{ "OTEL_SERVICE_NAME=", FACT_SERVICE_VARIABLE },
	{ "DD_SERVICE=", FACT_SERVICE_DATADOG },
	{ "DD_ENV=", FACT_ENVIRONMENT_DATADOG },
	{ "DD_VERSION=", FACT_VERSION_DATADOG },
	{ "HOSTNAME=", FACT_HOSTNAME },
};
#define ATTRIBUTES "OTEL_RESOURCE_ATTRIBUTES="

static const struct {
	const char *key;
	enum fact fact;
} attributes[] = {
	{ "service.name", FACT_SERVICE_ATTRIBUTE },
	{ "service.version", FACT_VERSION_ATTRIBUTE },
	{ "deployment.environment.name", FACT_ENVIRONMENT_ATTRIBUTE },
	{ "deployment.environment", FACT_ENVIRONMENT_ATTRIBUTE },
};

static int digit(char c)
{
	return isdigit((unsigned char)c) ? c - '0' : tolower((unsigned char)c) - 'a' + 10;
}

/* Into to, of FACT_MAX_LEN bytes; what is longer is cut. False: an error. */
static bool decode(const char *s, size_t len, char *to, size_t *nr)
{
	*nr = 0;
	for (size_t i = 0; i < len; i++) {
		char c = s[i];

		if (c == '%') {
			if (len - i < 3 || !isxdigit((unsigned char)s[i + 1]) ||
			    !isxdigit((unsigned char)s[i + 2]))
				return false;
			c = (char)(16 * digit(s[i + 1]) + digit(s[i + 2]));
			i += 2;
		}
		if (!c)
			return false;
		if (*nr < FACT_MAX_LEN)
			to[(*nr)++] = c;
	}
	return true;
}

static void trim(const char **s, size_t *len)
{
	while (*len && isspace((unsigned char)**s)) {
		(*s)++;
		(*len)--;
	}
	while (*len && isspace((unsigned char)(*s)[*len - 1]))
		(*len)--;
}

static void tell(const char *key, size_t len, const char *value, size_t value_len, fact_fn fn,
		 void *arg)
{
	for (size_t i = 0; i < sizeof(attributes) / sizeof(*attributes); i++)
		if (strlen(attributes[i].key) == len && !memcmp(attributes[i].key, key, len))
			fn(arg, attributes[i].fact, value, value_len);
}

/* Twice: nothing is told before all of it is known to be right. */
static bool walk_attributes(const char *text, size_t len, fact_fn fn, void *arg)
{
	char value[FACT_MAX_LEN];

	while (len) {
		const char *end = memchr(text, ',', len), *key = text, *equals, *from;
		size_t part = end ? (size_t)(end - text) : len, key_len, from_len, nr;

		text += part + !!end;
		len -= part + !!end;
		equals = memchr(key, '=', part);
		if (!equals) {
			trim(&key, &part);
			if (part)
				return false;
			continue;
		}
		key_len = equals - key;
		from = equals + 1;
		from_len = part - key_len - 1;
		trim(&key, &key_len);
		trim(&from, &from_len);
		if (!key_len || !decode(from, from_len, value, &nr))
			return false;
		if (fn)
			tell(key, key_len, value, nr, fn, arg);
	}
	return true;
}

void environment_attributes(const char *text, size_t len, fact_fn fn, void *arg)
{
	if (walk_attributes(text, len, NULL, NULL))
		walk_attributes(text, len, fn, arg);
}

static void look_at(const char *entry, size_t len, fact_fn fn, void *arg)
{
	size_t name;

	for (size_t i = 0; i < sizeof(variables) / sizeof(*variables); i++) {
		name = strlen(variables[i].variable);
		if (len <= name || memcmp(entry, variables[i].variable, name))
			continue;
		len -= name;
		fn(arg, variables[i].fact, entry + name, len < FACT_MAX_LEN ? len : FACT_MAX_LEN);
		return;
	}
	name = strlen(ATTRIBUTES);
	if (len > name && !memcmp(entry, ATTRIBUTES, name))
		environment_attributes(entry + name, len - name, fn, arg);
}

void environment_parse(const char *block, size_t len, fact_fn fn, void *arg)
{
	while (len) {
		size_t entry = strnlen(block, len);

		look_at(block, entry, fn, arg);
		entry += entry < len;
		block += entry;
		len -= entry;
	}
}

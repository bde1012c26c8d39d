/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One pass over the name, then its end again and again until nothing is left to take. */
#include "profile/stable_name.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define RUST_DIGITS 16

static const char *const suffixes[] = { ".constprop", ".isra",	   ".part",	 ".cold",
					".llvm",      ".lto_priv", ".localalias" };

static bool is_hex(char c)
{
	return isdigit((unsigned char)c) || (c >= 'a' && c <= 'f');
}

/* "0x1f3a" as "0x": the frame keeps its place in the name, the address goes. */
static char *without_addresses(const char *name)
{
	char *to = xmalloc(strlen(name) + 1);
	size_t nr = 0;

	while (*name) {
		bool address = name[0] == '0' && name[1] == 'x' && is_hex(name[2]) &&
			       (!nr || !isalnum((unsigned char)to[nr - 1]));

		to[nr++] = *name++;
		if (!address)
			continue;
		to[nr++] = *name++;
		while (is_hex(*name))
			name++;
	}
	to[nr] = '\0';
	return to;
}

/* A name without its last len bytes, when they are what text says; anything in front must stay. */
static bool ends_in_hash(const char *name, size_t len)
{
	const char *hash;

	if (len <= RUST_DIGITS + 3)
		return false;
	hash = name + len - RUST_DIGITS;
	if (strncmp(hash - 3, "::h", 3))
		return false;
	for (int i = 0; i < RUST_DIGITS; i++)
		if (!is_hex(hash[i]))
			return false;
	return true;
}

/* Where ".isra.3" begins that ends at end, or end: a word of the list, numbers behind it. */
static size_t suffix_begin(const char *name, size_t end)
{
	size_t at = end;

	while (at && (isdigit((unsigned char)name[at - 1]) || name[at - 1] == '.'))
		at--;
	if (at < end && name[at] != '.')
		return end; /* digits of the name itself */
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++) {
		size_t len = strlen(suffixes[i]);

		if (at > len && !strncmp(name + at - len, suffixes[i], len))
			return at - len;
	}
	return end;
}

/* The same as demanglers show it, " [clone .isra.3]". */
static size_t clone_begin(const char *name, size_t end)
{
	static const char clone[] = " [clone ";
	size_t at = end;

	if (!end || name[end - 1] != ']')
		return end;
	while (at && name[at - 1] != '[')
		at--;
	at = at >= 2 ? at - 2 : end;
	return at && at < end && !strncmp(name + at, clone, sizeof(clone) - 1) ? at : end;
}

char *stable_name(const char *name)
{
	char *stable = without_addresses(name);
	size_t len = strlen(stable), before;

	do {
		before = len;
		if (ends_in_hash(stable, len))
			len -= RUST_DIGITS + 3;
		len = suffix_begin(stable, len);
		len = clone_begin(stable, len);
		stable[len] = '\0';
	} while (len < before);
	return stable;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One search through the constants of a file. */
#include "symbol/crate_version.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "elf/section.h"

#define MAX_RODATA   (32u << 20)
#define MAX_RUNTIMES 200 /* bytes of their names */

static const char needle[] = "/tokio-";

/* "1.54.1/src/": how long the number is, 0 = it is none. */
static size_t version_length(const char *at)
{
	size_t len = strspn(at, "0123456789."), all = len + strcspn(at + len, "/ \n");
	int dots = 0;

	for (size_t i = 0; i < len; i++)
		dots += at[i] == '.';
	return dots == 2 && all < CRATE_VERSION_BYTES && !strncmp(at + all, "/src/", 5) ? len : 0;
}

void crate_version(const struct elf_file *f, char version[CRATE_VERSION_BYTES])
{
	const Elf64_Shdr *s = section_find(f, ".rodata");
	size_t sz = 0, len = 0;
	char *bytes = s ? section_read(f, s, MAX_RODATA, &sz) : NULL;

	*version = '\0';
	/* A NUL stands behind the last byte. */
	for (char *at = bytes; at && !len; at = at + 1) {
		at = memmem(at, bytes + sz - at, needle, sizeof(needle) - 1);
		if (!at)
			break;
		at += sizeof(needle) - 2;
		len = version_length(at + 1);
		if (len) {
			memcpy(version, at + 1, len);
			version[len] = '\0';
		}
	}
	free(bytes);
}

void crate_version_note(struct profile *p, const struct module *m, const char *version)
{
	const char *before = profile_str(p, p->meta.runtimes);
	char *text;

	if (!*version || strlen(before) > MAX_RUNTIMES)
		return;
	text = xasprintf("%s%stokio %s in %s", before, *before ? ", " : "", version,
			 profile_str(p, m->path));
	p->meta.runtimes = profile_string(p, text);
	free(text);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* "WORD\tKEY\tDETAIL\n" a finding, all fit to be printed. */
#include "profile/lacks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

#define MAX_BYTES (256u << 10) /* some thousand files */

static const char *const words[LACK_NR] = {
	[LACK_BUILD_ID] = "no-build-id",
	[LACK_ELF] = "no-elf",
	[LACK_SECTIONS] = "no-sections",
	[LACK_READ] = "not-read",
	[LACK_LINKED] = "no-linked",
	[LACK_LINKED_BUILD] = "other-linked",
	[LACK_SERVER] = "no-server",
	[LACK_SERVER_TIME] = "late-server",
	[LACK_SERVER_FILE] = "not-served",
	[LACK_SERVER_NAMES] = "served",
	[LACK_MAP_OWNER] = "map-owner",
	[LACK_MAP_TYPE] = "map-type",
	[LACK_MAP_LINK] = "map-link",
	[LACK_MAP_RIGHTS] = "map-rights",
	[LACK_MAP_LARGE] = "map-large",
	[LACK_MAP_AGE] = "map-age",
	[LACK_MAP_LINES] = "map-lines",
	[LACK_NO_TABLE] = "no-section-table",
	[LACK_JAVA] = "java",
	[LACK_SERVER_ERROR] = "server-failed",
	[LACK_DWARF_PACKED] = "dwarf-packed",
	[LACK_DWARF_LARGE] = "dwarf-large",
	[LACK_DWARF_MEMORY] = "dwarf-memory",
	[LACK_DWARF_DIED] = "dwarf-died",
	[LACK_SERVERS] = "servers",
	[LACK_PYTHON] = "python",
	[LACK_PYTHON_OTHER] = "python-other",
};

static void append(struct lacks *l, const char *line, size_t len)
{
	while (l->cap - l->sz <= len)
		l->text = xgrow(l->text, l->cap, &l->cap, 1);
	memcpy(l->text + l->sz, line, len);
	l->sz += len;
	l->text[l->sz] = '\0';
}

/* Up to the detail. A path may hold anything, also what would end a line. */
static char *begin_of(enum lack what, const char *key)
{
	char *clean = text_cleaned(key), *begin = xasprintf("%s\t%s\t", words[what], clean);

	free(clean);
	return begin;
}

void lacks_add(struct lacks *l, enum lack what, const char *key, const char *detail)
{
	char *line, *begin, *clean;

	if (l->sz > MAX_BYTES)
		return;
	begin = begin_of(what, key);
	clean = text_cleaned(detail ? detail : "");
	line = xasprintf("%s%s\n", begin, clean);
	append(l, line, strlen(line));
	free(line);
	free(begin);
	free(clean);
}

/* The line that begins so, among whole lines. */
static const char *find(const char *text, const char *begin, size_t len)
{
	while (*text && strncmp(text, begin, len)) {
		text += strcspn(text, "\n");
		text += *text == '\n';
	}
	return *text ? text : NULL;
}

void lacks_release(struct lacks *l)
{
	free(l->text);
	*l = (struct lacks){};
}

/* Lines that are not there yet; also to fresh, if it is not NULL. A text is whole lines. */
static void append_new(struct lacks *all, const char *text, struct lacks *fresh)
{
	size_t len;

	for (const char *line = text; line[strcspn(line, "\n")]; line += len) {
		len = strcspn(line, "\n") + 1;
		if (all->sz > MAX_BYTES || (all->sz && find(all->text, line, len)))
			continue;
		append(all, line, len);
		if (fresh)
			append(fresh, line, len);
	}
}

void lacks_join(struct profile *p, const char *text)
{
	const char *before = profile_str(p, p->meta.lacks);
	struct lacks all = {};

	if (!*text || !strcmp(before, text))
		return;
	append(&all, before, strlen(before));
	append_new(&all, text, NULL);
	p->meta.lacks = profile_string(p, all.text);
	lacks_release(&all);
}

void lacks_move(struct lacks *l, struct profile *p)
{
	if (l->sz)
		lacks_join(p, l->text);
	lacks_release(l);
}

void lacks_tell(struct lacks *told, const char *text, struct profile *p)
{
	struct lacks fresh = {};

	append_new(told, text, &fresh);
	p->meta.lacks = fresh.sz ? profile_string(p, fresh.text) : 0;
	lacks_release(&fresh);
}

const char *lacks_key(uint32_t pid, char key[LACKS_KEY_MAX])
{
	snprintf(key, LACKS_KEY_MAX, "pid %u", pid);
	return key;
}

/* A recording from elsewhere may say anything. */
static char *rest_of_line(const char *at)
{
	char *raw = xasprintf("%.*s", (int)strcspn(at, "\n"), at), *clean = text_cleaned(raw);

	free(raw);
	return clean;
}

char *lacks_detail(const struct profile *p, enum lack what, const char *key)
{
	char *begin = begin_of(what, key);
	size_t len = strlen(begin);
	const char *line = find(profile_str(p, p->meta.lacks), begin, len);

	free(begin);
	return line ? rest_of_line(line + len) : NULL;
}

char *lacks_first(const struct profile *p, enum lack what)
{
	char *begin = xasprintf("%s\t", words[what]);
	const char *line = find(profile_str(p, p->meta.lacks), begin, strlen(begin)), *detail;

	free(begin);
	detail = line ? strchr(strchr(line, '\t') + 1, '\t') : NULL;
	return detail ? rest_of_line(detail + 1) : NULL;
}

bool lacks_has(const struct profile *p, enum lack what, const char *key)
{
	char *detail = lacks_detail(p, what, key);

	free(detail);
	return detail;
}

size_t lacks_count(const struct profile *p, enum lack what)
{
	const char *line = profile_str(p, p->meta.lacks);
	size_t nr = 0, len = strlen(words[what]);

	while ((line = find(line, words[what], len))) {
		nr += line[len] == '\t';
		line += len;
		line += strcspn(line, "\n");
		line += *line == '\n';
	}
	return nr;
}

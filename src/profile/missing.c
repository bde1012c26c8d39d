/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Lines of a text, which a saved profile may have from anywhere. */
#include "profile/missing.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define MAX_BYTES 16384

/* What would end a field, or a line. */
static char *field(const char *text)
{
	char *s = xstrdup(text);

	for (char *c = s; *c; c++)
		if (*c == '\t' || *c == '\n')
			*c = '?';
	return s;
}

void missing_note(struct profile *p, const struct missing *m)
{
	char *path = field(m->path), *alt = field(m->alt), *dwo = field(m->dwo);
	char *text = xasprintf("%s%s\t%s\t%s\t%u\n", profile_str(p, p->meta.debug_missing), path,
			       alt, dwo, m->nr);

	if (strlen(text) <= MAX_BYTES)
		p->meta.debug_missing = profile_string(p, text);
	free(text);
	free(path);
	free(alt);
	free(dwo);
}

static char *take(const char **at)
{
	size_t len = strcspn(*at, "\t\n");
	char *s = xstrndup(*at, len);

	*at += len + ((*at)[len] == '\t');
	return s;
}

bool missing_next(const struct profile *p, size_t *at, struct missing *m)
{
	const char *list = profile_str(p, p->meta.debug_missing), *line = list + *at;
	char *nr;

	if (!*line)
		return false;
	m->path = take(&line);
	m->alt = take(&line);
	m->dwo = take(&line);
	nr = take(&line);
	m->nr = strtoul(nr, NULL, 10);
	free(nr);
	line += strcspn(line, "\n");
	*at = line - list + (*line == '\n');
	return true;
}

void missing_release(struct missing *m)
{
	free(m->path);
	free(m->alt);
	free(m->dwo);
}

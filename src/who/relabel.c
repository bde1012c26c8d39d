/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Applying rules, and reading their file. */
#include "who/relabel.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/trust.h"
#include "who/relabel_parts.h"
#include "who/under.h"

#define MAX_BYTES (256u << 10)

static const char *value_of(const struct labels *l, const char *name)
{
	const char *value = labels_get(l, name);

	return value ? value : "";
}

static bool is_match(const struct relabel_match *m, const struct labels *l)
{
	const char *value = value_of(l, m->name);
	bool is = m->is_regex ? !regexec(&m->regex, value, 0, NULL, 0) : !strcmp(value, m->value);

	return is != m->is_not;
}

static bool all_match(const struct relabel_rule *r, const struct labels *l)
{
	for (size_t i = 0; i < r->nr; i++)
		if (!is_match(&r->matches[i], l))
			return false;
	return true;
}

/* "$" and a name, into out; how many characters that were. */
static size_t put_variable(FILE *out, const char *s, const struct labels *l)
{
	size_t len = 1;
	char *name;

	while (isalnum((unsigned char)s[len]) || s[len] == '_')
		len++;
	if (len == 1) {
		fputc('$', out);
		return 1 + (s[1] == '$');
	}
	name = xstrndup(s + 1, len - 1);
	fputs(value_of(l, name), out);
	free(name);
	return len;
}

static void set(const struct relabel_rule *r, struct labels *l)
{
	char *value = NULL;
	size_t sz = 0;
	FILE *out = open_memstream(&value, &sz);

	if (!out)
		return;
	for (const char *s = r->value; *s;) {
		if (*s == '$') {
			s += put_variable(out, s, l);
		} else {
			fputc(*s++, out);
		}
	}
	fclose(out);
	labels_set(l, r->name, value);
	free(value);
}

uint32_t relabel_apply(const struct relabel *r, struct labels *l)
{
	for (size_t i = 0; r && i < r->nr; i++) {
		const struct relabel_rule *rule = &r->rules[i];
		bool matches = all_match(rule, l);

		if ((rule->action == RELABEL_DROP && matches) ||
		    (rule->action == RELABEL_KEEP && !matches))
			return rule->line;
		if (rule->action == RELABEL_LABEL && matches)
			set(rule, l);
	}
	return 0;
}

bool relabel_sets(const struct relabel *r, const char *name)
{
	for (size_t i = 0; r && i < r->nr; i++)
		if (r->rules[i].action == RELABEL_LABEL && !strcmp(r->rules[i].name, name))
			return true;
	return false;
}

static void free_rule(struct relabel_rule *r)
{
	for (size_t i = 0; i < r->nr; i++) {
		free(r->matches[i].name);
		free(r->matches[i].value);
		if (r->matches[i].is_regex)
			regfree(&r->matches[i].regex);
	}
	free(r->matches);
	free(r->name);
	free(r->value);
}

void relabel_free(struct relabel *r)
{
	for (size_t i = 0; r && i < r->nr; i++)
		free_rule(&r->rules[i]);
	if (r)
		free(r->rules);
	free(r);
}

/* One byte more than may be: a file that is too long is not cut silently. */
static char *read_file(const char *path, size_t *len)
{
	int fd = trust_open(path, O_NONBLOCK);
	char *text = xmalloc(MAX_BYTES + 1);
	long got = fd < 0 ? fd : under_read(fd, text, MAX_BYTES + 1);

	if (fd >= 0)
		close(fd);
	if (got > MAX_BYTES)
		got = -EFBIG;
	*len = got < 0 ? 0 : got;
	if (got >= 0)
		return text;
	free(text);
	errno = -(int)got;
	return NULL;
}

struct relabel *relabel_load(const char *path)
{
	struct relabel *r;
	char *text, *error;
	size_t len;

	text = read_file(path, &len);
	if (!text) {
		log_err(-errno, "cannot read the rules in %s", path);
		return NULL;
	}
	r = relabel_parse(text, len, &error);
	free(text);
	if (r)
		return r;
	log_err(0, "%s:%s", path, error);
	free(error);
	errno = EINVAL;
	return NULL;
}

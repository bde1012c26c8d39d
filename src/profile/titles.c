/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Of command lines that belong to one name the words that all begin with say nothing. What a
 * program wrote over its arguments ("postgres: checkpointer") is shown as it is.
 */
#include "profile/titles.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define MAX_TITLES 512
#define MAX_BYTES  64 /* that are shown */

static int by_name(const void *x, const void *y)
{
	const struct title_row *a = x, *b = y;

	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	return a->pid < b->pid ? -1 : a->pid > b->pid;
}

/* All processes that anything is said of, in order of their names. */
static struct title_row *all_rows(const struct profile *p, size_t *nr)
{
	struct title_row *rows = xcalloc(p->nr_samples + p->nr_threads + 1, sizeof(*rows));
	size_t left = 0;

	*nr = 0;
	for (size_t i = 0; i < p->nr_samples; i++)
		rows[(*nr)++] = (struct title_row){ .pid = p->samples[i].pid,
						    .process = p->samples[i].process };
	for (size_t i = 0; i < p->nr_threads; i++)
		rows[(*nr)++] = (struct title_row){ .pid = p->threads[i].pid,
						    .process = p->threads[i].process };
	qsort(rows, *nr, sizeof(*rows), by_name);
	for (size_t i = 0; i < *nr; i++)
		if (!i || by_name(&rows[i], &rows[left - 1]))
			rows[left++] = rows[i];
	*nr = left;
	return rows;
}

struct title_row *titles_wanted(const struct profile *p, size_t *nr)
{
	size_t all, left = 0;
	struct title_row *rows = all_rows(p, &all);

	for (size_t i = 0; i < all && left < MAX_TITLES; i++)
		if (rows[i].pid && ((i && rows[i - 1].process == rows[i].process) ||
				    (i + 1 < all && rows[i + 1].process == rows[i].process)))
			rows[left++] = rows[i];
	*nr = left;
	return rows;
}

/* Where the word after the one at this place begins; len at the end. */
static size_t next_word(const struct title_row *row, size_t at)
{
	const char *end = memchr(row->line + at, '\0', row->len - at);

	return end ? (size_t)(end - row->line) + 1 : row->len;
}

/* Bytes of whole words that all rows begin with; rows that nothing is known of do not count. */
static size_t common_words(const struct title_row *rows, size_t nr)
{
	const struct title_row *first = NULL;
	size_t at, next = 0;

	for (size_t i = 0; i < nr && !first; i++)
		first = rows[i].len ? &rows[i] : NULL;
	if (!first)
		return 0;
	do {
		at = next;
		next = next_word(first, at);
		for (size_t i = 0; i < nr; i++)
			if (rows[i].len &&
			    (rows[i].len < next || memcmp(rows[i].line, first->line, next)))
				return at;
	} while (next < first->len);
	return next;
}

/* What is behind '=' in words that sound like a secret is nobody's business. */
static bool is_secret(const char *word, size_t len)
{
	static const char *const names[] = { "pass", "secret", "token", "key" };
	const char *equals = memchr(word, '=', len);
	char *start = equals ? xstrndup(word, equals - word) : NULL;
	bool found = false;

	for (size_t i = 0; start && i < sizeof(names) / sizeof(*names); i++)
		found |= strcasestr(start, names[i]) != NULL;
	free(start);
	return found;
}

static size_t put_word(char *text, size_t used, const char *word, size_t len)
{
	if (is_secret(word, len))
		len = strcspn(word, "=") + 1;
	for (size_t i = 0; i < len && used < MAX_BYTES; i++)
		text[used++] = word[i];
	return used;
}

/* Does it begin with its name, and a colon? Then the program wrote it. */
static bool is_written(const struct profile *p, const struct title_row *row)
{
	const char *name = profile_str(p, row->process);
	size_t len = strlen(name);

	return row->len > len && !memcmp(row->line, name, len) && row->line[len] == ':';
}

/* The first word may say no more than the name does: "/usr/bin/python3". */
static size_t first_word(const struct profile *p, const struct title_row *row)
{
	const char *name = profile_str(p, row->process), *slash;
	size_t end = next_word(row, 0), len = strnlen(row->line, end);

	slash = memrchr(row->line, '/', len);
	if (slash)
		len -= slash + 1 - row->line;
	return len >= strlen(name) && !memcmp(slash ? slash + 1 : row->line, name, strlen(name))
		       ? end
		       : 0;
}

/* In text; how many bytes. Behind the name stands what is not common to all. */
static size_t title_of(const struct profile *p, const struct title_row *row, size_t common,
		       char text[MAX_BYTES])
{
	const char *name = profile_str(p, row->process);
	bool written = is_written(p, row);
	size_t used = written ? 0 : put_word(text, 0, name, strlen(name)), begin = used, next;

	if (!written && !common)
		common = first_word(p, row);
	for (size_t at = written ? 0 : common; at < row->len; at = next) {
		next = next_word(row, at);
		if (used && used < MAX_BYTES)
			text[used++] = ' ';
		used = put_word(text, used, row->line + at, strnlen(row->line + at, next - at));
	}
	while (used > begin && isspace((unsigned char)text[used - 1]))
		used--;
	return used > begin ? used : 0;
}

static void add_titles(struct profile *p, const struct title_row *rows, size_t nr)
{
	size_t common = common_words(rows, nr), len;
	char text[MAX_BYTES];

	for (size_t i = 0; i < nr; i++) {
		len = rows[i].len ? title_of(p, &rows[i], common, text) : 0;
		if (!len)
			continue;
		p->titles = xgrow(p->titles, p->nr_titles, &p->cap_titles, sizeof(*p->titles));
		p->titles[p->nr_titles++] =
			(struct title){ rows[i].pid, profile_string_n(p, text, len) };
	}
}

void titles_add(struct profile *p, const struct title_row *rows, size_t nr)
{
	size_t to;

	for (size_t from = 0; from < nr; from = to) {
		for (to = from + 1; to < nr && rows[to].process == rows[from].process;)
			to++;
		add_titles(p, rows + from, to - from);
	}
}

uint32_t titles_find(const struct profile *p, uint32_t pid)
{
	for (size_t i = 0; i < p->nr_titles; i++)
		if (p->titles[i].pid == pid)
			return p->titles[i].text;
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* From the words of -p to processes. */
#include "cmd/selection.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "proc/running.h"

#define SEPARATORS    ", \t\n"
#define LONG_SECONDS  3600 /* a number above is rather a process than a duration */
#define ASKED_SECONDS 60   /* one above has to be meant as a duration */

/* Digits only, and in the range of process ids; else 0. */
static uint32_t number_of(const char *word)
{
	unsigned long n = strspn(word, "0123456789") == strlen(word) ? strtoul(word, NULL, 10) : 0;

	return n <= INT32_MAX ? n : 0;
}

static int no_such_number(const char *word)
{
	log_err(0, "-p %s: process numbers go from 1 to %d", word, INT32_MAX);
	return -EINVAL;
}

static int no_such_name(const struct running *r, const char *name)
{
	const char **names = xcalloc(2 * r->nr + 1, sizeof(*names));
	char *shown = text_frame(name, strlen(name), 0), *hint;
	size_t nr = 0;

	for (size_t i = 0; i < r->nr; i++) {
		names[nr++] = r->v[i].name;
		if (*r->v[i].program)
			names[nr++] = r->v[i].program;
	}
	hint = text_meant("", text_nearest(name, names, nr));
	log_err(0, "-p %s: no process has this name%s (-n selects threads by their names)", shown,
		hint);
	free(hint);
	free(shown);
	free(names);
	return -ESRCH;
}

static int add_name(const struct running *r, const char *name, struct opt_ids *pids)
{
	bool any = false;

	for (size_t i = 0; i < r->nr; i++) {
		if (!running_is_named(&r->v[i], name))
			continue;
		opt_ids_add(pids, r->v[i].pid);
		any = true;
	}
	return any ? 0 : no_such_name(r, name);
}

static int add_list(const struct running *r, const char *list, struct opt_ids *pids)
{
	char *words = xstrdup(list), *next = words, *word;
	size_t nr = 0;
	int err = 0;

	while (!err && (word = strsep(&next, SEPARATORS))) {
		if (!*word)
			continue;
		nr++;
		if (number_of(word))
			opt_ids_add(pids, number_of(word));
		else if (word[strspn(word, "0123456789")] == '\0')
			err = no_such_number(word);
		else
			err = add_name(r, word, pids);
	}
	if (!nr) {
		log_err(0, "-p '': no process given (did the command that lists them find none?)");
		err = -EINVAL;
	}
	free(words);
	return err;
}

static bool is_called_like_any(const struct running *r, const struct running_process *p,
			       const struct opt_ids *pids)
{
	const struct running_process *other;

	for (size_t i = 0; i < pids->nr; i++) {
		other = running_find(r, pids->v[i]);
		if (other && (!strcmp(other->name, p->name) ||
			      (*p->program && !strcmp(other->program, p->program))))
			return true;
	}
	return false;
}

static void take_words(const struct running *r, struct opt_ids *pids, char ***words, int *nr)
{
	const struct running_process *p;

	for (; *nr && pids->nr; ++*words, --*nr) {
		p = running_find(r, number_of(**words));
		if (!p || p->is_kernel || opt_ids_has(pids, p->pid) || p->pid <= ASKED_SECONDS ||
		    (p->pid <= LONG_SECONDS && !is_called_like_any(r, p, pids)))
			return;
		opt_ids_add(pids, p->pid);
	}
}

static int check_word(const struct running *r, const char *word)
{
	const struct running_process *p = running_find(r, number_of(word));
	char *name;

	if (!p || p->is_kernel || p->pid <= ASKED_SECONDS)
		return 0;
	name = text_cleaned(p->name);
	log_err(0, "'%s' is a process (%s): write -p %s, or -d %s for that many seconds", word,
		name, word, word);
	free(name);
	return -EINVAL;
}

int selection_make(const struct selection *s, char ***words, int *nr)
{
	struct running running;
	int err = 0;

	if (!s->lists->nr && !*nr)
		return 0;
	running_read(&running, "");
	for (size_t i = 0; i < s->lists->nr && !err; i++)
		err = add_list(&running, s->lists->v[i], s->pids);
	if (!err)
		take_words(&running, s->pids, words, nr);
	if (!err && *nr && !s->lists->nr && !s->others)
		err = check_word(&running, **words);
	running_release(&running);
	return err;
}

int selection_check_end(const struct opt_ids *pids, bool ends)
{
	if (pids->nr != 1 || *pids->v != 1 || ends || isatty(STDERR_FILENO))
		return 0;
	log_err(0, "-p 1 is the first process and never ends: say how long (-d SECONDS), or was "
		   "the list before it empty?");
	return -EINVAL;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How a program was built. DWARF has the compiler with its flags, .comment the compiler alone. The
 * program may be anybody's, so one child opens its file and another one looks into it.
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "collect/stability.h"
#include "elf/section.h"
#include "reader/reader.h"
#include "symbol/debug_image.h"

#define MAX_TEXT   400
#define TIMEOUT_NS 1000000000ull
#define NO_FLAGS   " (flags are not recorded: build with -g to have them here)"

static int do_open(struct reader_work *w)
{
	char path[4096];

	if (!w->question_sz || w->question_sz > sizeof(path))
		return -EINVAL;
	memcpy(path, w->question, w->question_sz);
	path[w->question_sz - 1] = '\0';
	w->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	return w->fd < 0 ? -errno : 0;
}

/* Of the first unit that a compiler made; an assembler has no flags. */
static bool producer(const struct elf_file *f, char *to, size_t sz)
{
	struct debug_image *image = debug_image_new(f, NULL);
	Dwarf_CU *cu = NULL;
	Dwarf_Attribute attr;
	const char *text = NULL;
	Dwarf_Die die;

	while (image && !text &&
	       !dwarf_get_units(debug_image_dwarf(image), cu, &cu, NULL, NULL, &die, NULL)) {
		text = dwarf_formstring(dwarf_attr(&die, DW_AT_producer, &attr));
		if (text && !strncmp(text, "GNU AS", 6))
			text = NULL;
	}
	if (text)
		snprintf(to, sz, "%s", text);
	debug_image_free(image);
	return text;
}

static bool comment(const struct elf_file *f, char *to, size_t sz)
{
	const Elf64_Shdr *s = section_find(f, ".comment");
	size_t len;
	char *text = s ? section_read(f, s, MAX_TEXT, &len) : NULL;

	if (!text)
		return false;
	snprintf(to, sz, "%.*s" NO_FLAGS, (int)strnlen(text, len), text);
	free(text);
	return true;
}

static int do_read(struct reader_work *w)
{
	struct elf_file *f = elf_file_open(w->fds[0]);
	char *to = w->answer;

	if (!f)
		return -errno;
	if (producer(f, to, MAX_TEXT) || comment(f, to, MAX_TEXT))
		w->sz = strnlen(to, MAX_TEXT - 1) + 1;
	elf_file_close(f);
	return w->sz ? 0 : -ENODATA;
}

static const struct reader_task tasks[] = { { .opens = true, .run = do_open }, { .run = do_read } };

/* As execvp() finds it; the caller frees it. */
static char *find(const char *name)
{
	char *dirs = xstrdup(getenv("PATH") ? getenv("PATH") : ""), *at = dirs, *dir, *path;

	path = strchr(name, '/') ? xstrdup(name) : NULL;
	while (!path && (dir = strsep(&at, ":"))) {
		path = xasprintf("%s/%s", *dir ? dir : ".", name);
		if (access(path, X_OK)) {
			free(path);
			path = NULL;
		}
	}
	free(dirs);
	return path ? path : xstrdup(name);
}

static char *ask(struct reader *reader, const char *path)
{
	struct reader_question q = {
		.task = 0, .bytes = path, .sz = strlen(path) + 1, .timeout_ns = TIMEOUT_NS
	};
	struct reader_answer file = { .fd = -1 }, text = { .fd = -1 };
	char *found = NULL;

	if (reader_ask(reader, &q, &file) || file.fd < 0) {
		found = xstrdup("its file could not be opened");
	} else {
		q = (struct reader_question){
			.task = 1, .fds = &file.fd, .nr_fds = 1, .timeout_ns = TIMEOUT_NS
		};
		if (!reader_ask(reader, &q, &text) && text.sz)
			found = xstrndup(text.bytes, text.sz);
	}
	if (file.fd >= 0)
		close(file.fd);
	free(file.bytes);
	free(text.bytes);
	return found;
}

void stability_read_build(struct stat_report *r, const char *name)
{
	struct reader *reader = reader_new(tasks, 2);
	char *path = find(name), *found = reader ? ask(reader, path) : NULL;

	free(path);
	reader_free(reader);
	r->facts = xreallocarray(r->facts, r->nr_facts + 1, sizeof(*r->facts));
	r->facts[r->nr_facts++] =
		(struct stat_fact){ xstrdup("Build"),
				    found ? found : xstrdup("its file does not say"), xstrdup("") };
}

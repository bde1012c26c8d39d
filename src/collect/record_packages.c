/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which packages have the debug symbols that a recording lacks. Lists of dpkg come from a disk, and
 * whether the path of a file is that file here a file system says, which may be anybody's: a copy
 * of ourselves asks, for so long and no longer.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "collect/record_parts.h"
#include "profile/nameless.h"
#include "reader/fork.h"
#include "symbol/debug_package.h"

#define MAX_FILES 8
/* Who has to wait for a CPU is waited for: on a busy machine the advice must not be another one. */
#define TIMEOUT_NS 1000000000ull
#define IDLE_NS	   300000000ull /* that a disk or a file system may keep it waiting */

struct lookup {
	const struct profile *p;
	const struct symbol_file *sources;
	size_t nr_sources;
	uint32_t modules[MAX_FILES];
	size_t nr;
};

static void choose(struct lookup *l, const struct nameless *n)
{
	const struct nameless_row *row;

	for (size_t i = 0; i < n->nr && l->nr < MAX_FILES; i++) {
		row = &n->rows[i];
		if (100.0 * row->weight < NAMELESS_LISTED * n->all)
			break;
		if (row->is_packaged && row->module < l->nr_sources &&
		    file_id_is_known(&l->sources[row->module].id))
			l->modules[l->nr++] = row->module;
	}
}

/* Containers have files of their own at such paths. */
static bool is_here(const char *path, const struct file_id *id)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct file_id here;
	bool yes;

	if (fd < 0)
		return false;
	here = file_id_read(fd);
	yes = file_id_equals(&here, id);
	close(fd);
	return yes;
}

static ssize_t look_up(void *arg, void *answer, size_t max)
{
	const struct lookup *l = arg;
	struct debug_package files[MAX_FILES];
	const struct module *m[MAX_FILES];
	bool asks_dnf = debug_package_asks_dnf("");
	size_t nr = 0, len;
	char *text;
	FILE *out = open_memstream(&text, &len);

	for (size_t i = 0; i < l->nr; i++) {
		m[nr] = &l->p->modules[l->modules[i]];
		files[nr] = (struct debug_package){ .path = profile_str(l->p, m[nr]->path) };
		nr += is_here(files[nr].path, &l->sources[l->modules[i]].id);
	}
	debug_packages_find("", files, nr);
	for (size_t i = 0; i < nr; i++) {
		const char *name = files[i].name;

		if (debug_file_is_installed("", m[i]->build_id, m[i]->build_id_len))
			name = NAMELESS_INSTALLED;
		else if (!*name && asks_dnf)
			name = NAMELESS_OF_RPM;
		if (*name)
			fprintf(out, "%s %s\n", files[i].path, name);
	}
	fclose(out);
	if (len > max)
		len = 0;
	memcpy(answer, text, len);
	return len;
}

static void ask(struct profile *p, struct lookup *l)
{
	const struct reader_copy c = {
		.run = look_up, .arg = l, .folder = -1, .timeout_ns = TIMEOUT_NS, .idle_ns = IDLE_NS
	};
	struct reader_cost cost = { p->meta.readers_ns, p->meta.readers_bytes };
	struct reader_left left = {};
	struct reader_answer got;
	int err = reader_copy_run(&c, &left, &got, &cost);

	reader_left_release(&left);
	p->meta.readers_ns = cost.cpu_ns;
	p->meta.readers_bytes = cost.bytes;
	if (err)
		log_info("packages of debug symbols were not found within %s", text_ns(TIMEOUT_NS));
	else
		p->meta.debug_packages = profile_string_n(p, got.bytes, got.sz);
	free(got.bytes);
}

void record_find_packages(struct record *r)
{
	struct lookup l = { .p = r->profile,
			    .sources = r->capture.sources,
			    .nr_sources = r->capture.nr_sources };
	struct nameless n;

	nameless_init(&n, r->profile);
	choose(&l, &n);
	if (l.nr)
		ask(r->profile, &l);
	nameless_release(&n);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Generated code as a source of names: jit_names.h, for one process. */
#include <stdlib.h>
#include <sys/stat.h>

#include "base/log.h"
#include "base/mem.h"
#include "symbol/answers.h"
#include "symbol/jit_names.h"
#include "symbol/source.h"

struct jit {
	struct jit_names names;
	char name[JIT_NAME_MAX + 1], file[JIT_NAME_MAX + 1];
};

/* An empty map is one whose runtime had nothing to say. */
static uint8_t map_lacks(int fd, size_t nr_lines)
{
	struct stat st;

	if (fstat(fd, &st) || !st.st_size)
		return 0;
	return (nr_lines ? 0 : ANSWERS_MAP_LINES) |
	       ((uint64_t)st.st_size > JIT_FILE_MAX ? ANSWERS_MAP_LARGE : 0);
}

/* What jitdump says is told later, and more exact. */
static void *open_jit(const struct symbol_module *m)
{
	struct jit *j;
	size_t map = 0, dump = 0;

	if (!m->jit || (m->jit->map < 0 && m->jit->dump < 0))
		return NULL;
	j = xcalloc(1, sizeof(*j));
	jit_names_init(&j->names, m->addresses, m->nr);
	if (m->jit->map >= 0)
		map = jit_map_read(&j->names, m->jit->map);
	if (m->jit->map >= 0 && m->jit_lacks)
		*m->jit_lacks = map_lacks(m->jit->map, map);
	if (m->jit->dump >= 0)
		dump = jit_dump_read(&j->names, m->jit->dump);
	log_info("process %u: %zu pieces of code in its perf map, %zu in its jitdump file", m->pid,
		 map, dump);
	return j;
}

static bool find_jit(void *source, uint64_t address, struct symbol_found *found)
{
	struct jit *j = source;
	const struct jit_name *known = jit_names_at(&j->names, address);

	if (!known || !jit_text_read(known->fd, &known->name, j->name, sizeof(j->name)) ||
	    !j->name[0])
		return false;
	found->chain[found->nr++] = (struct symbol_function){ .name = j->name };
	if (known->file.len && jit_text_read(known->fd, &known->file, j->file, sizeof(j->file))) {
		found->chain[0].file = j->file;
		found->chain[0].line = known->line;
	}
	return true;
}

static void close_jit(void *source)
{
	struct jit *j = source;

	jit_names_release(&j->names);
	free(j);
}

const struct symbol_source_ops symbol_source_jit = {
	.name = "what its runtime wrote of generated code",
	.group = SYMBOL_NAMES,
	.kind = FRAME_ANON,
	.open = open_jit,
	.find = find_jit,
	.close = close_jit,
};

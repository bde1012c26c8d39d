/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names of Go functions from .gopclntab: with source lines and the calls that were inlined, and in
 * stripped programs too. C functions of such a program are not in it: other sources are asked.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "elf/gopclntab.h"
#include "symbol/source.h"

struct go {
	const struct elf_file *file;
	struct gopclntab *table;
};

static void *open_go(const struct symbol_module *m)
{
	struct gopclntab *table = m->file ? gopclntab_open(m->file) : NULL;
	struct go *g;

	if (!table)
		return NULL;
	g = xmalloc(sizeof(*g));
	*g = (struct go){ m->file, table };
	return g;
}

static bool find(void *source, uint64_t address, struct symbol_found *found)
{
	struct gopclntab_call calls[FRAME_MAX_FUNCTIONS];
	const struct go *g = source;
	uint64_t vaddr;
	size_t nr;

	if (!elf_file_vaddr(g->file, address, &vaddr))
		return false;
	nr = gopclntab_calls(g->table, vaddr, calls, FRAME_MAX_FUNCTIONS);
	for (size_t i = 0; i < nr; i++)
		found->chain[found->nr++] = (struct symbol_function){ .name = calls[i].name,
								      .file = calls[i].file,
								      .line = calls[i].line };
	return nr;
}

static void close_go(void *source)
{
	struct go *g = source;

	gopclntab_close(g->table);
	free(g);
}

const struct symbol_source_ops symbol_source_gopclntab = {
	".gopclntab", SYMBOL_OWN_LINES, FRAME_USER, open_go, find, close_go,
};

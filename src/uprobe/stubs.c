/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* From a stub to its name, and from the name to a function. */
#include "uprobe/stubs.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "elf/section.h"
#include "symbol/source.h"

#define NR(a) (sizeof(a) / sizeof(*(a)))

struct stubs {
	const struct functions *functions;
	const Elf64_Shdr *sections[4];
	struct symbol_module module;
	void *names; /* NULL: no stub has one */
};

struct stubs *stubs_new(const struct functions *fs)
{
	static const char *const sections[] = { ".plt", ".plt.sec", ".plt.got", ".iplt" };
	struct stubs *s = xcalloc(1, sizeof(*s));

	s->functions = fs;
	s->module.file = functions_file(fs);
	for (size_t i = 0; i < NR(sections); i++)
		s->sections[i] = section_find(s->module.file, sections[i]);
	s->names = symbol_source_plt.open(&s->module);
	return s;
}

void stubs_free(struct stubs *s)
{
	if (!s)
		return;
	if (s->names)
		symbol_source_plt.close(s->names);
	free(s);
}

bool stubs_has(const struct stubs *s, uint64_t address)
{
	for (size_t i = 0; i < NR(s->sections); i++)
		if (s->sections[i] && address - s->sections[i]->sh_addr < s->sections[i]->sh_size)
			return true;
	return false;
}

static bool is_called(const struct uprobe_function *f, const char *name, size_t len)
{
	for (size_t i = 0; i < f->nr_names; i++)
		if (!strncmp(f->names[i], name, len) && !f->names[i][len])
			return true;
	return false;
}

const struct uprobe_function *stubs_lead_to(struct stubs *s, uint64_t address)
{
	struct symbol_found found = {};
	const struct uprobe_function *all;
	const char *at;
	uint64_t offset;
	size_t nr;

	if (!s->names || !elf_file_offset(s->module.file, address, &offset) ||
	    !symbol_source_plt.find(s->names, offset, &found) || !found.nr)
		return NULL;
	at = strchr(found.chain[0].name, '@');
	all = functions_all(s->functions, &nr);
	for (size_t i = 0; i < nr && at; i++)
		if (is_called(&all[i], found.chain[0].name, at - found.chain[0].name))
			return &all[i];
	return NULL;
}

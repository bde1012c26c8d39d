/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The table of symbol sources, and going through it for one module. */
#include "symbol/source.h"

#include "base/log.h"

static const struct symbol_source_ops *const rows[] = {
#define X(name) &symbol_source_##name,
	SYMBOL_SOURCES(X)
#undef X
};

void symbol_sources_open(struct symbol_sources *s, const struct symbol_module *m)
{
	*s = (struct symbol_sources){ .module = m };
}

static void open_group(struct symbol_sources *s, enum symbol_group group)
{
	s->groups[group].tried = true;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]) && !s->groups[group].source; i++) {
		if (rows[i]->group != group || rows[i]->kind != s->module->kind)
			continue;
		s->groups[group].ops = rows[i];
		s->groups[group].source = rows[i]->open(s->module);
		if (s->groups[group].source)
			log_info("%s: %s", s->module->path, rows[i]->name);
	}
}

bool symbol_sources_find(struct symbol_sources *s, uint64_t address, struct symbol_found *found)
{
	for (enum symbol_group i = 0; i < SYMBOL_NR_GROUPS; i++) {
		if (!s->groups[i].tried)
			open_group(s, i);
		*found = (struct symbol_found){};
		if (s->groups[i].source &&
		    s->groups[i].ops->find(s->groups[i].source, address, found))
			return true;
	}
	return false;
}

void symbol_sources_close(struct symbol_sources *s)
{
	for (size_t i = 0; i < SYMBOL_NR_GROUPS; i++)
		if (s->groups[i].source)
			s->groups[i].ops->close(s->groups[i].source);
}

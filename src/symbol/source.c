/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The table of symbol sources, and going through it for one module. */
#include "symbol/source.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"

static const struct symbol_source_ops *const rows[] = {
#define X(name) &symbol_source_##name,
	SYMBOL_SOURCES(X)
#undef X
};

void symbol_missing_set(char to[256], const char *path)
{
	size_t len = strlen(path);

	if (len < 256)
		strcpy(to, path);
	else
		snprintf(to, 256, "...%s", path + len - 252);
}

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
			log_info("%s%s%s", s->module->path, *s->module->path ? ": " : "",
				 rows[i]->name);
	}
}

static bool ask(struct symbol_sources *s, enum symbol_group group, uint64_t address,
		struct symbol_found *found)
{
	if (!s->groups[group].tried)
		open_group(s, group);
	*found = (struct symbol_found){};
	return s->groups[group].source &&
	       s->groups[group].ops->find(s->groups[group].source, address, found);
}

/* The name of the symbol that begins where the function does; of code without a function, any. */
static const char *name_of_own(struct symbol_sources *s, uint64_t address, uint64_t start)
{
	struct symbol_found found;

	if (start && !elf_file_offset(s->module->file, start, &address))
		return NULL;
	if (!ask(s, SYMBOL_NAMES, address, &found) || (start && found.start != start))
		return NULL;
	return found.chain[found.nr - 1].name;
}

/* False: DWARF has a line at most, and nobody a name for it. */
static bool ask_lines(struct symbol_sources *s, uint64_t address, struct symbol_found *found)
{
	struct symbol_function *own;
	const char *name;

	if (!ask(s, SYMBOL_LINES, address, found))
		return false;
	own = &found->chain[found->nr - 1];
	name = name_of_own(s, address, found->start);
	if (name)
		own->name = name;
	return own->name;
}

/* One answer holds as far as what it says, and the silence of those who were asked before. */
struct range {
	uint64_t from, to; /* to 0: of this address only */
};

static void narrow(struct range *r, const struct symbol_found *found)
{
	r->from = found->from > r->from ? found->from : r->from;
	r->to = found->to < r->to ? found->to : r->to;
}

static bool find_name(struct symbol_sources *s, uint64_t address, struct symbol_found *found,
		      struct range *r)
{
	for (enum symbol_group i = SYMBOL_LINES + 1; i < SYMBOL_NR_GROUPS; i++) {
		bool is = ask(s, i, address, found);

		if (s->groups[i].source)
			narrow(r, found);
		if (is)
			return true;
	}
	return false;
}

bool symbol_sources_find(struct symbol_sources *s, uint64_t address, struct symbol_found *found)
{
	struct range r = { 0, UINT64_MAX };
	bool is = ask(s, SYMBOL_OWN_LINES, address, found) || ask_lines(s, address, found);
	bool has_lines = s->groups[SYMBOL_OWN_LINES].source || s->groups[SYMBOL_LINES].source;

	if (!is)
		is = find_name(s, address, found, &r);
	/* What only its place is known of is called by it, and lines are of each address. */
	if (!is || has_lines || r.to <= address || r.from > address)
		r = (struct range){};
	found->from = r.from;
	found->to = r.to;
	return is;
}

void symbol_sources_close(struct symbol_sources *s)
{
	for (size_t i = 0; i < SYMBOL_NR_GROUPS; i++)
		if (s->groups[i].source)
			s->groups[i].ops->close(s->groups[i].source);
}

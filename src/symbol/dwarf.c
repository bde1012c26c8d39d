/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * DWARF as a source of names: inlined calls and source lines, of all addresses at once. libdw is a
 * parser here: asked address by address it takes thirty times as long. So the units are gone
 * through in the order of the file; those that have code of a wanted address are read, answer for
 * it and are dropped. Of several that claim an address the first one with a function counts: the
 * linker keeps one copy of an inline function, and the DWARF of each unit points at it.
 */
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "profile/missing.h"
#include "symbol/debug_image.h"
#include "symbol/dwarf_cache.h"
#include "symbol/dwarf_index.h"
#include "symbol/dwarf_split.h"
#include "symbol/dwarf_unit.h"
#include "symbol/source.h"

/* Strings of source.strings, 0 = not known. */
struct function {
	uint32_t name, file, line, begin;
};

struct answer {
	uint64_t start;	    /* of the function; 0 = not known */
	uint32_t first, nr; /* functions */
	bool has_function;  /* else a line at most */
};

/* An address as it is linked, and whose it is. */
struct wanted {
	uint64_t vaddr;
	size_t i; /* of module.addresses and of answers */
};

/*
 * A unit that is to be kept. That takes as long as a seventh of all else, as names are read that
 * nobody asked for: it is done when all have their answers (source.h).
 */
struct waiting {
	uint64_t die;
	struct dwarf_unit unit;
};
#define MAX_WAITING (48ull << 20) /* bytes; of more, each is kept at once */

struct source {
	const struct symbol_module *module;
	struct symbol_lines *limits;
	uint64_t deadline_ns;
	const struct elf_file *from;	 /* that has the DWARF */
	struct debug_image *image, *alt; /* of it, once it is needed */
	struct dwarf_split *split;	 /* the same, of its first skeleton */
	struct dwarf_cache *cache;
	struct waiting *waiting;
	size_t nr_waiting, cap_waiting;
	uint64_t waiting_bytes;
	struct dwarf_sources parts;
	struct dwarf_index index;
	struct wanted *wanted; /* ascending */
	struct answer *answers;
	struct function *functions;
	size_t nr_functions, cap_functions;
	struct strings strings;
};

static int by_vaddr(const void *pa, const void *pb)
{
	const struct wanted *a = pa, *b = pb;

	if (a->vaddr != b->vaddr)
		return a->vaddr < b->vaddr ? -1 : 1;
	return a->i < b->i ? -1 : a->i > b->i;
}

static void take_wanted(struct source *s)
{
	const struct symbol_module *m = s->module;

	s->wanted = xcalloc(m->nr, sizeof(*s->wanted));
	s->answers = xcalloc(m->nr, sizeof(*s->answers));
	for (size_t i = 0; i < m->nr; i++) {
		s->wanted[i].i = i;
		if (!elf_file_vaddr(m->file, m->addresses[i], &s->wanted[i].vaddr))
			s->wanted[i].vaddr = 0; /* which no unit has */
	}
	qsort(s->wanted, m->nr, sizeof(*s->wanted), by_vaddr);
}

/* The first wanted address that is not below. */
static size_t wanted_from(const struct source *s, uint64_t vaddr)
{
	size_t low = 0, high = s->module->nr;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (s->wanted[mid].vaddr < vaddr)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* --- answers --- */

static uint32_t keep(struct source *s, const struct dwarf_unit *u, uint32_t string)
{
	const char *text = u->strings.bytes + string;

	return string ? strings_add(&s->strings, text, strlen(text)) : 0;
}

static void add_function(struct source *s, struct answer *a, struct function f)
{
	s->functions =
		xgrow(s->functions, s->nr_functions, &s->cap_functions, sizeof(*s->functions));
	s->functions[s->nr_functions++] = f;
	a->nr++;
}

/* A chain that is too long loses its outer calls: the last one that stays is the function. */
static void answer_chain(struct source *s, struct dwarf_unit *u, struct answer *a, uint32_t node,
			 struct function f)
{
	const struct dwarf_node *n = dwarf_unit_node(u, node);

	for (; n->parent != DWARF_NO_NODE; n = dwarf_unit_node(u, n->parent)) {
		f.name = keep(s, u, n->name);
		f.begin = n->begin_line;
		if (!s->limits->no_inline && a->nr < FRAME_MAX_FUNCTIONS - 1)
			add_function(s, a, f);
		f.file = keep(s, u, n->call_file);
		f.line = f.file ? n->call_line : 0;
	}
	f.name = keep(s, u, n->name);
	f.begin = n->begin_line;
	add_function(s, a, f);
}

static void answer(struct source *s, struct dwarf_unit *u, const struct wanted *w)
{
	const struct dwarf_range *r = dwarf_unit_find(u, w->vaddr);
	struct answer *a = &s->answers[w->i];
	struct function f = {};
	uint32_t file;

	dwarf_unit_line(u, w->vaddr, &file, &f.line);
	f.file = keep(s, u, file);
	if (!r && (a->nr || !f.file))
		return;
	*a = (struct answer){ .first = s->nr_functions, .has_function = r };
	if (!r) {
		add_function(s, a, f);
		return;
	}
	a->start = r->start - r->entry;
	answer_chain(s, u, a, r->node, f);
}

/* --- units --- */

static void take_parts(struct source *s)
{
	struct dwarf_line_sections *l = &s->parts.lines;

	s->parts.file = s->module->file;
	s->parts.deadline_ns = l->deadline_ns = s->deadline_ns;
	l->line = debug_image_section(s->image, ".debug_line", &l->line_sz);
	l->line_str = debug_image_section(s->image, ".debug_line_str", &l->line_str_sz);
	l->str = debug_image_section(s->image, ".debug_str", &l->str_sz);
}

static bool open_image(struct source *s)
{
	const struct debug_files *d = s->module->debug_files;

	if (s->image)
		return true;
	if (d && d->no_alt)
		symbol_missing_set(s->limits->missing.alt, d->no_alt);
	if (d && d->alt)
		s->alt = debug_image_new(d->alt, NULL);
	s->image = debug_image_new(s->from, s->alt);
	if (s->image)
		take_parts(s);
	else
		s->limits->missing.unread = debug_image_unread(s->from);
	return s->image;
}

static bool is_wanted(const struct source *s, size_t from, size_t to)
{
	for (size_t p = from; p < to; p++)
		for (size_t i = wanted_from(s, s->index.places[p].low);
		     i < s->module->nr && s->wanted[i].vaddr < s->index.places[p].high; i++)
			if (!s->answers[s->wanted[i].i].has_function)
				return true;
	return false;
}

static void answer_places(struct source *s, struct dwarf_unit *u, size_t from, size_t to)
{
	for (size_t p = from; p < to; p++)
		for (size_t i = wanted_from(s, s->index.places[p].low);
		     i < s->module->nr && s->wanted[i].vaddr < s->index.places[p].high; i++)
			if (!s->answers[s->wanted[i].i].has_function)
				answer(s, u, &s->wanted[i]);
}

/* The other half of a skeleton; the first one that is missing is remembered. */
static bool find_half(struct source *s, Dwarf_Die *skeleton, struct dwarf_half *half)
{
	const struct debug_files *d = s->module->debug_files;
	char *path;
	bool found;

	if (!s->split)
		s->split = dwarf_split_new(s->from, s->image, d ? d->packages : NULL,
					   d ? d->nr_packages : 0);
	found = dwarf_split_find(s->split, skeleton, half, &path);
	half->lines.deadline_ns = s->deadline_ns;
	if (!found && path && !s->limits->missing.nr_dwo++)
		symbol_missing_set(s->limits->missing.dwo, path);
	free(path);
	return found;
}

static bool make_unit(struct source *s, struct dwarf_unit *u, uint64_t offset, bool *is_skeleton)
{
	struct dwarf_half half;
	uint8_t type = 0;
	Dwarf_Die die;
	bool has_half;

	*u = (struct dwarf_unit){};
	if (!open_image(s))
		return false;
	if (!dwarf_offdie(debug_image_dwarf(s->image), offset, &die))
		return true;
	dwarf_cu_info(die.cu, NULL, &type, NULL, NULL, NULL, NULL, NULL);
	*is_skeleton = type == DW_UT_skeleton;
	has_half = *is_skeleton && find_half(s, &die, &half);
	return dwarf_unit_make(u, &s->parts, &die, has_half ? &half : NULL);
}

/* Only what nothing but the file itself can change. */
static bool may_be_kept(const struct source *s, bool is_skeleton)
{
	const struct debug_files *d = s->module->debug_files;

	return !is_skeleton && !(d && d->no_alt) && now_ns() < s->deadline_ns;
}

/* What its arrays take, with a DIE for each node: about. */
static uint64_t bytes_of(const struct dwarf_unit *u)
{
	return u->nr_ranges * sizeof(*u->ranges) + u->nr_rows * sizeof(*u->rows) +
	       u->nr_nodes * (sizeof(*u->nodes) + sizeof(Dwarf_Die)) + u->strings.cap;
}

/* Takes u over, or leaves it to be released. */
static void keep_unit(struct source *s, uint64_t die, struct dwarf_unit *u)
{
	uint64_t bytes = bytes_of(u);

	if (!s->cache)
		return;
	if (bytes > MAX_WAITING - s->waiting_bytes) {
		dwarf_cache_put(s->cache, die, u);
		return;
	}
	s->waiting = xgrow(s->waiting, s->nr_waiting, &s->cap_waiting, sizeof(*s->waiting));
	s->waiting[s->nr_waiting++] = (struct waiting){ die, *u };
	s->waiting_bytes += bytes;
	*u = (struct dwarf_unit){};
}

static bool answer_unit(struct source *s, uint64_t die, size_t from, size_t to)
{
	bool cached, in_time = true, is_skeleton = false;
	struct dwarf_unit u;

	cached = dwarf_cache_get(s->cache, die, &u);
	if (!cached)
		in_time = make_unit(s, &u, die, &is_skeleton);
	if (in_time)
		answer_places(s, &u, from, to);
	if (in_time && !cached && u.maker && may_be_kept(s, is_skeleton))
		keep_unit(s, die, &u);
	dwarf_unit_release(&u);
	return in_time;
}

static bool answer_units(struct source *s)
{
	bool in_time = true;
	size_t end;

	for (size_t i = 0; i < s->index.nr && in_time; i = end) {
		end = dwarf_index_end(&s->index, i);
		if (is_wanted(s, i, end))
			in_time = answer_unit(s, s->index.places[i].die, i, end);
	}
	return in_time;
}

/* --- the source --- */

static bool read_all(struct source *s)
{
	take_wanted(s);
	s->cache = dwarf_cache_open(s->limits->cache_dir, s->module->file, s->from);
	if (!dwarf_cache_index(s->cache, &s->index) &&
	    (!open_image(s) ||
	     !dwarf_index_make(&s->index, debug_image_dwarf(s->image), s->deadline_ns)))
		return false;
	return answer_units(s);
}

static void keep_waiting(struct source *s)
{
	for (size_t i = 0; i < s->nr_waiting; i++) {
		dwarf_cache_put(s->cache, s->waiting[i].die, &s->waiting[i].unit);
		dwarf_unit_release(&s->waiting[i].unit);
	}
	free(s->waiting);
	s->waiting = NULL;
	s->nr_waiting = 0;
}

/* All but the answers. */
static void drop_parts(struct source *s)
{
	keep_waiting(s);
	dwarf_cache_close(s->cache, &s->index);
	s->cache = NULL;
	dwarf_index_release(&s->index);
	dwarf_split_free(s->split);
	debug_image_free(s->image);
	debug_image_free(s->alt);
	free(s->wanted);
	s->split = NULL;
	s->image = s->alt = NULL;
	s->wanted = NULL;
}

static void close_dwarf(void *source)
{
	struct source *s = source;

	drop_parts(s);
	strings_release(&s->strings);
	free(s->functions);
	free(s->answers);
	free(s);
}

static uint64_t count_late(const struct source *s)
{
	uint64_t nr = 0;

	for (size_t i = 0; i < s->module->nr; i++)
		nr += !s->answers || !s->answers[i].nr;
	return nr;
}

/* Where a file's DWARF is: in itself, or in its debug file. */
static const struct elf_file *dwarf_of(const struct symbol_module *m)
{
	if (!m->file || !m->lines || !m->nr)
		return NULL;
	if (debug_image_is_there(m->file))
		return m->file;
	return m->debug_files && m->debug_files->debug &&
			       debug_image_is_there(m->debug_files->debug)
		       ? m->debug_files->debug
		       : NULL;
}

static void *open_dwarf(const struct symbol_module *m)
{
	const struct elf_file *f = dwarf_of(m);
	uint64_t begin_ns = now_ns();
	struct source *s;

	if (!f)
		return NULL;
	s = xcalloc(1, sizeof(*s));
	strings_init(&s->strings);
	s->module = m;
	s->limits = m->lines;
	s->limits->missing = (struct symbol_missing){};
	s->from = f;
	s->deadline_ns = begin_ns;
	if (m->lines->deadline_ns > begin_ns)
		s->deadline_ns += (m->lines->deadline_ns - begin_ns) / 2;
	if ((s->deadline_ns == begin_ns || !read_all(s)) && !m->lines->missing.unread)
		m->lines->nr_late += count_late(s);
	if (!s->nr_waiting)
		drop_parts(s);
	log_info("%s: DWARF of %zu addresses in %.1f ms", m->path, m->nr,
		 (now_ns() - begin_ns) / 1e6);
	if (s->nr_functions)
		return s;
	close_dwarf(s);
	return NULL;
}

static const char *text(const struct source *s, uint32_t string)
{
	return string ? s->strings.bytes + string : NULL;
}

static int by_address(const void *key, const void *element)
{
	uint64_t a = *(const uint64_t *)key, b = *(const uint64_t *)element;

	return a < b ? -1 : a > b;
}

static bool find(void *source, uint64_t address, struct symbol_found *found)
{
	const struct source *s = source;
	const uint64_t *at =
		bsearch(&address, s->module->addresses, s->module->nr, sizeof(*at), by_address);
	const struct answer *a = at ? &s->answers[at - s->module->addresses] : NULL;

	if (!a || !a->nr)
		return false;
	for (size_t i = 0; i < a->nr; i++) {
		const struct function *f = &s->functions[a->first + i];

		found->chain[i] = (struct symbol_function){ text(s, f->name), text(s, f->file),
							    f->line, f->begin };
		if (!f->name && i + 1 < a->nr)
			found->chain[i].name = PROFILE_INLINED;
	}
	found->nr = a->nr;
	found->start = a->start;
	return true;
}

const struct symbol_source_ops symbol_source_dwarf = {
	"DWARF", SYMBOL_LINES, FRAME_USER, open_dwarf, find, close_dwarf,
};

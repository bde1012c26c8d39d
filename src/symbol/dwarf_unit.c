/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Walks the tree of a unit for what has code, and turns the nested intervals that it finds into
 * ranges that do not overlap. Names are read later: most are of code that nobody asks for.
 */
#include "symbol/dwarf_unit.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/index.h"
#include "base/mem.h"

#define MAX_DEPTH 256
#define MAX_OPEN  512  /* intervals over one address */
#define LOOK_EACH 0x3f /* steps between two looks at the clock, less one */

/* Code of a node. */
struct interval {
	uint64_t low, high;
	uint32_t node, function; /* function: its node */
	uint32_t depth;		 /* 0 = the function itself */
};

/* Where a node stands; names that were read, by where they stand. */
struct dwarf_maker {
	const struct dwarf_sources *sources;
	struct dwarf_lines lines;
	struct dwarf_lines half_lines; /* whose files are those of calls … */
	bool has_half_lines;	       /* … of a split unit with a table of its own */
	Dwarf_Die die;		       /* of the unit, or its skeleton */
	const char *comp_dir;
	uint32_t *files; /* by number in the line table: string + 1 */
	Dwarf_Die *dies; /* of nodes */
	bool *done;	 /* of nodes */
	size_t cap_dies, cap_done;
	struct interval *intervals;
	size_t nr, cap;
	struct origin {
		const void *die;
		uint32_t name;
	} * origins;
	size_t nr_origins, cap_origins;
	struct index by_origin;
	uint64_t steps;
	bool stopped;
};

static bool goes_on(struct dwarf_maker *m)
{
	if (!(++m->steps & LOOK_EACH) && now_ns() > m->sources->deadline_ns)
		m->stopped = true;
	return !m->stopped;
}

/* --- the tree --- */

/* Code that the linker dropped stands at 0, at 1 or right below 0. */
static bool has_code(const struct elf_file *f, uint64_t low, uint64_t high)
{
	if (!low || high <= low)
		return false;
	for (size_t i = 0; i < f->nr_segments; i++) {
		const Elf64_Phdr *p = &f->segments[i];

		if (p->p_type == PT_LOAD && p->p_flags & PF_X && low >= p->p_vaddr &&
		    low - p->p_vaddr < p->p_memsz)
			return true;
	}
	return false;
}

static bool add_intervals(struct dwarf_maker *m, Dwarf_Die *die, const struct interval *like)
{
	Dwarf_Addr base, low, high;
	ptrdiff_t next = 0;
	bool any = false;

	while (goes_on(m) && (next = dwarf_ranges(die, next, &base, &low, &high)) > 0) {
		if (!has_code(m->sources->file, low, high))
			continue;
		if (m->nr == DWARF_MAX_RANGES) {
			m->stopped = true;
			break;
		}
		m->intervals = xgrow(m->intervals, m->nr, &m->cap, sizeof(*m->intervals));
		m->intervals[m->nr] = *like;
		m->intervals[m->nr].low = low;
		m->intervals[m->nr++].high = high;
		any = true;
	}
	return any;
}

/* A node for a DIE when that has code; DWARF_NO_NODE: it has none. */
static uint32_t add_node(struct dwarf_unit *u, Dwarf_Die *die, uint32_t parent,
			 const struct interval *around)
{
	struct dwarf_maker *m = u->maker;
	uint32_t node = u->nr_nodes;
	struct interval like = { .node = node,
				 .function = around ? around->function : node,
				 .depth = around ? around->depth + 1 : 0 };

	if (!add_intervals(m, die, &like))
		return DWARF_NO_NODE;
	m->dies = xgrow(m->dies, node, &m->cap_dies, sizeof(*m->dies));
	m->done = xgrow(m->done, node, &m->cap_done, sizeof(*m->done));
	u->nodes = xgrow(u->nodes, node, &u->cap_nodes, sizeof(*u->nodes));
	m->dies[node] = *die;
	m->done[node] = false;
	u->nodes[node] = (struct dwarf_node){ .parent = parent };
	return u->nr_nodes++;
}

static void walk(struct dwarf_unit *u, Dwarf_Die *parent, const struct interval *around,
		 unsigned int depth);

/* around is what has the code of the DIE's parent; NULL outside of functions. */
static void walk_die(struct dwarf_unit *u, Dwarf_Die *die, const struct interval *around,
		     unsigned int depth)
{
	struct interval inner;
	uint32_t node;

	switch (dwarf_tag(die)) {
	case DW_TAG_subprogram: /* also without code of its own: local classes have functions */
		node = add_node(u, die, DWARF_NO_NODE, NULL);
		inner = (struct interval){ .node = node, .function = node };
		walk(u, die, node == DWARF_NO_NODE ? NULL : &inner, depth);
		break;
	case DW_TAG_inlined_subroutine:
		node = around ? add_node(u, die, around->node, around) : DWARF_NO_NODE;
		if (node == DWARF_NO_NODE)
			break;
		inner = (struct interval){ .node = node,
					   .function = around->function,
					   .depth = around->depth + 1 };
		walk(u, die, &inner, depth);
		break;
	case DW_TAG_lexical_block:
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
	case DW_TAG_enumeration_type: /* Rust has functions there */
		walk(u, die, around, depth);
		break;
	}
}

/* Children stand behind their parents and in order; whoever says otherwise wants us to turn. */
static void walk(struct dwarf_unit *u, Dwarf_Die *parent, const struct interval *around,
		 unsigned int depth)
{
	Dwarf_Die die, next;

	if (depth == MAX_DEPTH || dwarf_child(parent, &die))
		return;
	while (goes_on(u->maker)) {
		walk_die(u, &die, around, depth + 1);
		if (dwarf_siblingof(&die, &next) || next.addr <= die.addr)
			return;
		die = next;
	}
}

/* --- ranges --- */

static int by_low(const void *pa, const void *pb)
{
	const struct interval *a = pa, *b = pb;

	if (a->low != b->low)
		return a->low < b->low ? -1 : 1;
	if (a->function != b->function)
		return a->function < b->function ? -1 : 1;
	return a->depth < b->depth ? -1 : a->depth > b->depth;
}

/* The intervals over the place that the sweep has come to. */
struct sweep {
	const struct interval *open[MAX_OPEN];
	size_t nr;
	uint64_t at;
};

/*
 * The linker keeps one copy of functions that are the same, and the DWARF of each points at it: one
 * function is chosen, the first of the unit, and only its inlined calls count.
 */
static const struct interval *innermost(const struct sweep *s, const struct interval **function)
{
	const struct interval *best = NULL;

	for (size_t i = 0; i < s->nr; i++) {
		const struct interval *o = s->open[i];

		if (!best || o->function < best->function ||
		    (o->function == best->function && o->depth >= best->depth))
			best = o;
	}
	for (size_t i = 0; i < s->nr; i++)
		if (best && s->open[i]->function == best->function && !s->open[i]->depth)
			*function = s->open[i];
	return best;
}

static void add_range(struct dwarf_unit *u, uint64_t start, uint32_t node, uint64_t entry)
{
	const struct dwarf_range *last = u->nr_ranges ? &u->ranges[u->nr_ranges - 1] : NULL;
	uint64_t before = start - entry;

	if (last && last->node == node && last->start - last->entry == entry)
		return;
	if (u->nr_ranges == DWARF_MAX_RANGES) {
		u->maker->stopped = true;
		return;
	}
	u->ranges = xgrow(u->ranges, u->nr_ranges, &u->cap_ranges, sizeof(*u->ranges));
	u->ranges[u->nr_ranges++] =
		(struct dwarf_range){ start, node, before < UINT32_MAX ? before : 0 };
}

/* Emits what is open up to an address, and closes what ends before it. */
static void advance(struct dwarf_unit *u, struct sweep *s, uint64_t to)
{
	while (s->at < to && goes_on(u->maker)) {
		const struct interval *function = NULL, *best;
		uint64_t end = to;
		size_t kept = 0;

		for (size_t i = 0; i < s->nr; i++)
			if (s->open[i]->high > s->at)
				s->open[kept++] = s->open[i];
		s->nr = kept;
		for (size_t i = 0; i < kept; i++)
			if (s->open[i]->high < end)
				end = s->open[i]->high;
		best = innermost(s, &function);
		if (best)
			add_range(u, s->at, best->node, function ? function->low : s->at);
		else
			add_range(u, s->at, DWARF_NO_NODE, s->at);
		s->at = kept ? end : to;
	}
	s->at = to;
}

static void make_ranges(struct dwarf_unit *u)
{
	struct dwarf_maker *m = u->maker;
	struct sweep s = {};
	uint64_t last = 0;

	if (!m->nr)
		return;
	qsort(m->intervals, m->nr, sizeof(*m->intervals), by_low);
	s.at = m->intervals[0].low;
	for (size_t i = 0; i < m->nr && !m->stopped; i++) {
		advance(u, &s, m->intervals[i].low);
		if (s.nr < MAX_OPEN)
			s.open[s.nr++] = &m->intervals[i];
		if (m->intervals[i].high > last)
			last = m->intervals[i].high;
	}
	advance(u, &s, last);
	add_range(u, last, DWARF_NO_NODE, last);
	free(m->intervals);
	m->intervals = NULL;
	m->nr = m->cap = 0;
}

/* --- files and lines --- */

static const char *string_attribute(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute a;

	return dwarf_formstring(dwarf_attr(die, name, &a));
}

static uint32_t add_path(struct dwarf_unit *u, char *path)
{
	uint32_t id = path ? strings_add(&u->strings, path, strlen(path)) : 0;

	free(path);
	return id;
}

/* A file of the unit's own line table. */
static uint32_t file_of(struct dwarf_unit *u, uint32_t file)
{
	struct dwarf_maker *m = u->maker;

	if (file >= m->lines.nr_files)
		return 0;
	if (!m->files[file])
		m->files[file] = 1 + add_path(u, dwarf_lines_path(&m->lines, file, m->comp_dir));
	return m->files[file] - 1;
}

/* What a DIE calls a file: a split unit has a list of its own. */
static uint32_t file_of_call(struct dwarf_unit *u, uint64_t file)
{
	struct dwarf_maker *m = u->maker;
	uint32_t number = file < UINT32_MAX ? file : UINT32_MAX;

	if (!m->has_half_lines)
		return file_of(u, number);
	return add_path(u, dwarf_lines_path(&m->half_lines, number, m->comp_dir));
}

static void take_lines(struct dwarf_unit *u)
{
	struct dwarf_maker *m = u->maker;
	Dwarf_Attribute a;
	Dwarf_Word offset;

	m->comp_dir = string_attribute(&m->die, DW_AT_comp_dir);
	if (dwarf_formudata(dwarf_attr(&m->die, DW_AT_stmt_list, &a), &offset))
		return;
	dwarf_lines_load(&m->lines, &m->sources->lines, offset);
	m->stopped |= m->sources->lines.deadline_ns && now_ns() > m->sources->lines.deadline_ns;
	m->files = xcalloc(m->lines.nr_files + 1, sizeof(*m->files));
	u->rows = m->lines.rows;
	u->nr_rows = m->lines.nr_rows;
	m->lines.rows = NULL;
	for (size_t i = 0; i < u->nr_rows; i++)
		if (u->rows[i].file != DWARF_NO_FILE)
			u->rows[i].file = file_of(u, u->rows[i].file);
}

bool dwarf_unit_make(struct dwarf_unit *u, const struct dwarf_sources *s, Dwarf_Die *die,
		     struct dwarf_half *half)
{
	struct dwarf_maker *m = xcalloc(1, sizeof(*m));

	*u = (struct dwarf_unit){ .maker = m };
	strings_init(&u->strings);
	m->sources = s;
	m->die = *die;
	m->has_half_lines = half && half->lines.line;
	if (m->has_half_lines)
		dwarf_lines_load(&m->half_lines, &half->lines, 0);
	take_lines(u);
	walk(u, half ? &half->die : die, NULL, 0);
	make_ranges(u);
	return !m->stopped;
}

static void maker_free(struct dwarf_maker *m)
{
	if (!m)
		return;
	dwarf_lines_release(&m->lines);
	dwarf_lines_release(&m->half_lines);
	index_release(&m->by_origin);
	free(m->origins);
	free(m->intervals);
	free(m->files);
	free(m->dies);
	free(m->done);
	free(m);
}

void dwarf_unit_release(struct dwarf_unit *u)
{
	maker_free(u->maker);
	strings_release(&u->strings);
	free(u->ranges);
	free(u->nodes);
	free(u->rows);
	*u = (struct dwarf_unit){};
}

/* --- names --- */

static bool is_origin(const void *arg, uint32_t id)
{
	const struct dwarf_maker *m = ((const void *const *)arg)[0];

	return m->origins[id].die == ((const void *const *)arg)[1];
}

/* Both attributes follow where the DIE came from. */
static uint32_t read_name(struct dwarf_unit *u, Dwarf_Die *die)
{
	const char *name;
	Dwarf_Attribute a;

	name = dwarf_formstring(dwarf_attr_integrate(die, DW_AT_linkage_name, &a));
	if (!name)
		name = dwarf_formstring(dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &a));
	if (!name)
		name = dwarf_diename(die);
	return name && *name ? strings_add(&u->strings, name, strlen(name)) : 0;
}

/* Inlined calls of one function share a DIE that has its name. */
static uint32_t name_of(struct dwarf_unit *u, Dwarf_Die *die)
{
	struct dwarf_maker *m = u->maker;
	Dwarf_Attribute a;
	Dwarf_Die origin;
	uint32_t hash, id;

	if (!dwarf_formref_die(dwarf_attr(die, DW_AT_abstract_origin, &a), &origin))
		return read_name(u, die);
	hash = index_hash(0, &origin.addr, sizeof(origin.addr));
	if (index_find(&m->by_origin, hash, is_origin, (const void *[]){ m, origin.addr }, &id))
		return m->origins[id].name;
	m->origins = xgrow(m->origins, m->nr_origins, &m->cap_origins, sizeof(*m->origins));
	m->origins[m->nr_origins] = (struct origin){ origin.addr, read_name(u, &origin) };
	index_add(&m->by_origin, hash, m->nr_origins);
	return m->origins[m->nr_origins++].name;
}

/* Where it is defined, by the DIE or the one that it comes from. */
static uint32_t begin_of(Dwarf_Die *die)
{
	Dwarf_Attribute a;
	Dwarf_Word line;

	if (dwarf_formudata(dwarf_attr_integrate(die, DW_AT_decl_line, &a), &line))
		return 0;
	return line < UINT32_MAX ? line : 0;
}

static uint64_t number_attribute(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute a;
	Dwarf_Word value;

	return dwarf_formudata(dwarf_attr(die, name, &a), &value) ? 0 : value;
}

const struct dwarf_node *dwarf_unit_node(struct dwarf_unit *u, uint32_t node)
{
	struct dwarf_maker *m = u->maker;
	struct dwarf_node *n = &u->nodes[node];
	uint64_t line;

	if (!m || m->done[node])
		return n;
	n->name = name_of(u, &m->dies[node]);
	n->begin_line = begin_of(&m->dies[node]);
	if (n->parent != DWARF_NO_NODE) {
		line = number_attribute(&m->dies[node], DW_AT_call_line);
		n->call_line = line < UINT32_MAX ? line : 0;
		n->call_file = file_of_call(u, number_attribute(&m->dies[node], DW_AT_call_file));
	}
	m->done[node] = true;
	return n;
}

void dwarf_unit_complete(struct dwarf_unit *u)
{
	for (size_t i = 0; i < u->nr_nodes; i++)
		dwarf_unit_node(u, i);
	maker_free(u->maker);
	u->maker = NULL;
}

const struct dwarf_range *dwarf_unit_find(const struct dwarf_unit *u, uint64_t address)
{
	size_t low = 0, high = u->nr_ranges;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (u->ranges[mid].start <= address)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low || u->ranges[low - 1].node == DWARF_NO_NODE)
		return NULL;
	return &u->ranges[low - 1];
}

void dwarf_unit_line(const struct dwarf_unit *u, uint64_t address, uint32_t *file, uint32_t *line)
{
	const struct dwarf_row *r = dwarf_lines_find(u->rows, u->nr_rows, address);

	*file = r ? r->file : 0;
	*line = r ? r->line : 0;
}

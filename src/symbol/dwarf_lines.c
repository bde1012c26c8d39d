/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Runs a line program. Its sequences stand in the order of the sections that the compiler made, so
 * they are sorted afterwards; within one, addresses ascend.
 */
#include "symbol/dwarf_lines.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/cursor.h"
#include "base/mem.h"

#define LOOK_EACH 0x3fff /* steps between two looks at the clock, less one */

struct sequence {
	uint64_t start;
	size_t first, nr; /* rows */
};

struct program {
	struct dwarf_lines *out;
	const struct dwarf_line_sections *sections;
	struct cursor code;
	struct cursor header; /* what is left of it: directories and files */
	bool wide;	      /* 64-bit DWARF */
	uint8_t version, address_size, min_length, line_range, opcode_base;
	int8_t line_base;
	uint8_t lengths[256];
	/* The machine. */
	uint64_t address;
	uint32_t file, line;
	/* The sequence that is being written, and those written. */
	struct sequence *sequences;
	size_t nr_sequences, cap_sequences;
	size_t first;
	bool descends, full;
};

/* --- header --- */

static const char *take_string(struct cursor *c)
{
	const uint8_t *end = memchr(c->at, 0, c->end - c->at);
	const char *s = (const char *)c->at;

	if (!end) {
		c->bad = true;
		return NULL;
	}
	c->at = end + 1;
	return s;
}

static const char *string_at(const uint8_t *section, size_t sz, uint64_t at)
{
	return section && at < sz && memchr(section + at, 0, sz - at) ? (const char *)section + at
								      : NULL;
}

/* A value of a directory or file entry: a string or a number; what is of no use here is passed. */
static void take_form(struct program *p, uint64_t form, const char **string, uint64_t *number)
{
	const struct dwarf_line_sections *s = p->sections;
	struct cursor *c = &p->header;
	size_t offset_sz = p->wide ? 8 : 4;

	*string = NULL;
	*number = 0;
	switch (form) {
	case DW_FORM_string:
		*string = take_string(c);
		return;
	case DW_FORM_line_strp:
		*string = string_at(s->line_str, s->line_str_sz, cursor_uint(c, offset_sz));
		return;
	case DW_FORM_strp:
		*string = string_at(s->str, s->str_sz, cursor_uint(c, offset_sz));
		return;
	case DW_FORM_udata:
	case DW_FORM_strx:
		*number = cursor_uleb(c);
		return;
	case DW_FORM_data1:
	case DW_FORM_strx1:
		*number = cursor_uint(c, 1);
		return;
	case DW_FORM_data2:
	case DW_FORM_strx2:
		*number = cursor_uint(c, 2);
		return;
	case DW_FORM_data4:
	case DW_FORM_strx4:
		*number = cursor_uint(c, 4);
		return;
	case DW_FORM_data8:
		*number = cursor_uint(c, 8);
		return;
	case DW_FORM_data16:
		cursor_take(c, 16);
		return;
	case DW_FORM_block:
		cursor_take(c, cursor_uleb(c));
		return;
	default:
		c->bad = true;
	}
}

static void add_dir(struct program *p, const char *name)
{
	struct dwarf_lines *l = p->out;

	l->dirs = xgrow(l->dirs, l->nr_dirs, &l->cap_dirs, sizeof(*l->dirs));
	l->dirs[l->nr_dirs++] = name;
}

static void add_file(struct program *p, const char *name, uint64_t dir)
{
	struct dwarf_lines *l = p->out;

	l->files = xgrow(l->files, l->nr_files, &l->cap_files, sizeof(*l->files));
	l->files[l->nr_files++] =
		(struct dwarf_file){ name, dir < DWARF_LINES_MAX_FILES ? dir : 0 };
}

/* One of the two lists of version 5: what its entries hold, how many, and they. */
static void take_entries(struct program *p, bool files)
{
	uint64_t formats[256][2], nr, number, dir;
	uint8_t nr_formats = cursor_u8(&p->header);
	const char *string, *name;

	for (size_t i = 0; i < nr_formats; i++) {
		formats[i][0] = cursor_uleb(&p->header);
		formats[i][1] = cursor_uleb(&p->header);
	}
	nr = cursor_uleb(&p->header);
	if (nr > DWARF_LINES_MAX_FILES || !nr_formats)
		p->header.bad |= nr != 0;
	for (uint64_t i = 0; i < nr && !p->header.bad; i++) {
		name = NULL;
		dir = 0;
		for (size_t k = 0; k < nr_formats; k++) {
			take_form(p, formats[k][1], &string, &number);
			if (formats[k][0] == DW_LNCT_path)
				name = string;
			else if (formats[k][0] == DW_LNCT_directory_index)
				dir = number;
		}
		if (files)
			add_file(p, name, dir);
		else
			add_dir(p, name);
	}
}

/* The lists before version 5: both count from 1, 0 is the unit's own directory. */
static void take_old_entries(struct program *p)
{
	struct cursor *c = &p->header;
	const char *name;
	uint64_t dir;

	add_dir(p, NULL);
	add_file(p, NULL, 0);
	while ((name = take_string(c)) && *name && p->out->nr_dirs < DWARF_LINES_MAX_FILES)
		add_dir(p, name);
	while ((name = take_string(c)) && *name && p->out->nr_files < DWARF_LINES_MAX_FILES) {
		dir = cursor_uleb(c);
		cursor_uleb(c); /* time */
		cursor_uleb(c); /* size */
		add_file(p, name, dir);
	}
}

static bool take_head(struct program *p, uint64_t offset)
{
	const struct dwarf_line_sections *s = p->sections;
	struct cursor c = { s->line + offset, s->line + s->line_sz, false };
	uint64_t len = cursor_uint(&c, 4);

	if (len == 0xffffffff) {
		p->wide = true;
		len = cursor_uint(&c, 8);
	}
	c = cursor_take(&c, len);
	p->version = cursor_uint(&c, 2);
	p->address_size = 8;
	if (p->version >= 5) {
		p->address_size = cursor_u8(&c);
		cursor_u8(&c); /* of a segment selector */
	}
	p->header = cursor_take(&c, cursor_uint(&c, p->wide ? 8 : 4));
	p->code = c;
	c = p->header;
	p->min_length = cursor_u8(&c);
	if (p->version >= 4)
		cursor_u8(&c); /* operations in an instruction: only on VLIW machines not 1 */
	cursor_u8(&c);	       /* is a statement */
	p->line_base = cursor_u8(&c);
	p->line_range = cursor_u8(&c);
	p->opcode_base = cursor_u8(&c);
	for (size_t i = 1; i < p->opcode_base; i++)
		p->lengths[i] = cursor_u8(&c);
	p->header = c;
	return !c.bad && p->version >= 2 && p->version <= 5 && p->line_range && p->opcode_base;
}

/* --- program --- */

static void reset(struct program *p)
{
	p->address = 0;
	p->file = 1;
	p->line = 1;
	p->first = p->out->nr_rows;
	p->descends = false;
}

/* Of several rows for one address the last one counts; a line that goes on needs no row. */
static void add_row(struct program *p, uint32_t file, uint32_t line)
{
	struct dwarf_lines *l = p->out;
	struct dwarf_row *last = l->nr_rows > p->first ? &l->rows[l->nr_rows - 1] : NULL;

	if (last && last->address > p->address)
		p->descends = true;
	if (last && last->address == p->address) {
		last->file = file;
		last->line = line;
		return;
	}
	if (last && last->file == file && last->line == line)
		return;
	if (l->nr_rows == DWARF_LINES_MAX_ROWS) {
		p->full = true;
		return;
	}
	l->rows = xgrow(l->rows, l->nr_rows, &l->cap_rows, sizeof(*l->rows));
	l->rows[l->nr_rows++] = (struct dwarf_row){ p->address, file, line };
}

/* What the linker dropped begins at 0; what is not ascending is of no use. */
static void end_sequence(struct program *p)
{
	struct dwarf_lines *l = p->out;

	add_row(p, DWARF_NO_FILE, 0);
	if (l->nr_rows > p->first + 1 && !p->descends && l->rows[p->first].address) {
		p->sequences = xgrow(p->sequences, p->nr_sequences, &p->cap_sequences,
				     sizeof(*p->sequences));
		p->sequences[p->nr_sequences++] =
			(struct sequence){ l->rows[p->first].address, p->first,
					   l->nr_rows - p->first };
	} else {
		l->nr_rows = p->first;
	}
	reset(p);
}

static void run_extended(struct program *p)
{
	struct cursor c = cursor_take(&p->code, cursor_uleb(&p->code));
	const char *name;

	switch (cursor_u8(&c)) {
	case DW_LNE_end_sequence:
		end_sequence(p);
		break;
	case DW_LNE_set_address:
		p->address = cursor_uint(&c, p->address_size == 4 ? 4 : 8);
		break;
	case DW_LNE_define_file:
		name = take_string(&c);
		if (name && p->out->nr_files < DWARF_LINES_MAX_FILES)
			add_file(p, name, cursor_uleb(&c));
		break;
	}
}

static void run_standard(struct program *p, uint8_t opcode)
{
	struct cursor *c = &p->code;

	switch (opcode) {
	case DW_LNS_copy:
		add_row(p, p->file, p->line);
		break;
	case DW_LNS_advance_pc:
		p->address += cursor_uleb(c) * p->min_length;
		break;
	case DW_LNS_advance_line:
		p->line += (uint32_t)cursor_sleb(c);
		break;
	case DW_LNS_set_file:
		p->file = cursor_uleb(c);
		break;
	case DW_LNS_const_add_pc:
		p->address += (255 - p->opcode_base) / p->line_range * p->min_length;
		break;
	case DW_LNS_fixed_advance_pc:
		p->address += cursor_uint(c, 2);
		break;
	default:
		for (size_t i = 0; i < p->lengths[opcode]; i++)
			cursor_uleb(c);
	}
}

static void run(struct program *p)
{
	uint64_t deadline_ns = p->sections->deadline_ns, steps = 0;

	reset(p);
	while (p->code.at < p->code.end && !p->code.bad && !p->full) {
		uint8_t opcode = cursor_u8(&p->code), by;

		if (!(++steps & LOOK_EACH) && deadline_ns && now_ns() > deadline_ns)
			break;
		if (opcode >= p->opcode_base) {
			by = opcode - p->opcode_base;
			p->address += by / p->line_range * p->min_length;
			p->line += p->line_base + by % p->line_range;
			add_row(p, p->file, p->line);
		} else if (opcode) {
			run_standard(p, opcode);
		} else {
			run_extended(p);
		}
	}
	p->out->nr_rows = p->first; /* of a sequence without an end */
}

static int by_start(const void *pa, const void *pb)
{
	const struct sequence *a = pa, *b = pb;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->first < b->first ? -1 : a->first > b->first;
}

/* Sequences that overlap another one are made to hurt, or leftovers: the first one stays. */
static void sort_rows(struct program *p)
{
	struct dwarf_lines *l = p->out;
	struct dwarf_row *rows = xcalloc(l->nr_rows + 1, sizeof(*rows));
	size_t nr = 0;

	if (p->nr_sequences)
		qsort(p->sequences, p->nr_sequences, sizeof(*p->sequences), by_start);
	for (size_t i = 0; i < p->nr_sequences; i++) {
		const struct sequence *s = &p->sequences[i];

		if (nr && rows[nr - 1].address > s->start)
			continue;
		memcpy(rows + nr, l->rows + s->first, s->nr * sizeof(*rows));
		nr += s->nr;
	}
	free(l->rows);
	l->rows = rows;
	l->nr_rows = l->cap_rows = nr;
}

void dwarf_lines_load(struct dwarf_lines *l, const struct dwarf_line_sections *s, uint64_t offset)
{
	struct program p = { .out = l, .sections = s };

	*l = (struct dwarf_lines){};
	if (offset >= s->line_sz || !take_head(&p, offset))
		return;
	if (p.version >= 5) {
		take_entries(&p, false);
		take_entries(&p, true);
	} else {
		take_old_entries(&p);
	}
	run(&p);
	sort_rows(&p);
	free(p.sequences);
}

void dwarf_lines_release(struct dwarf_lines *l)
{
	free(l->rows);
	free(l->dirs);
	free(l->files);
	*l = (struct dwarf_lines){};
}

const struct dwarf_row *dwarf_lines_find(const struct dwarf_row *rows, size_t nr, uint64_t address)
{
	size_t low = 0, high = nr;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (rows[mid].address <= address)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low || rows[low - 1].file == DWARF_NO_FILE)
		return NULL;
	return &rows[low - 1];
}

static char *joined(const char *dir, char *name)
{
	char *path;

	if (!dir || !*dir || *name == '/')
		return name;
	path = xasprintf("%s%s%s", dir, dir[strlen(dir) - 1] == '/' ? "" : "/", name);
	free(name);
	return path;
}

char *dwarf_lines_path(const struct dwarf_lines *l, uint32_t file, const char *comp_dir)
{
	const struct dwarf_file *f = file < l->nr_files ? &l->files[file] : NULL;
	const char *dir;
	char *name;

	if (!f || !f->name)
		return NULL;
	dir = f->dir < l->nr_dirs ? l->dirs[f->dir] : NULL;
	name = joined(dir, xstrdup(f->name));
	return !f->dir && dir ? name : joined(comp_dir, name);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sources give rows in the order of addresses. A row goes straight into its page; when all are in,
 * the pages are laid out behind their directory.
 *
 *	.gopclntab ---+
 *	.eh_frame ----+
 *	.debug_frame -+-> fill() -> put() -> rows, pages -> lay_out() -> words
 *	stubs --------+
 *	machine code -+		where none of these knows
 */
#include "unwind/table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "unwind/frames.h"
#include "unwind/go.h"
#include "unwind/held.h"
#include "unwind/layout.h"
#include "unwind/program.h"
#include "unwind/rule.h"
#include "unwind/scan.h"
#include "unwind/stubs.h"

#define NR_SOURCES  4
#define PAUSE_STEPS 4096 /* rows read: two to three milliseconds */

struct row {
	uint64_t from, to;
	uint32_t rule;
	bool whole; /* as in struct stub */
};

struct builder;

/* Rows by one way of knowing, ascending. */
struct source {
	bool (*next)(struct builder *b, struct source *s);
	bool has_row;
	struct row row;
	struct frames frames;
	struct program program;
	struct go_rows go;
	const struct stubs *stubs;
	size_t i;
};

struct builder {
	struct table *t;
	struct rules rules;
	struct held held;
	struct source sources[NR_SOURCES];
	struct scan scan;
	uint32_t *rows;
	size_t nr_rows, cap_rows;
	struct table_page *pages; /* rule_count only */
	size_t nr_pages, cap_pages;
	uint32_t none, rule; /* RULE_NONE; the rule in force */
	uint64_t end;	     /* of the last row */
	bool too_big;
	const struct table_pause *pause;
	uint32_t nr_steps;
};

/* --- sources --- */

static uint64_t align(const struct builder *b, uint64_t vaddr)
{
	uint64_t unit = 1u << TABLE_UNIT_SHIFT(b->t->arch);

	return (vaddr + unit - 1) & -unit;
}

static void set_row(struct builder *b, struct source *s, uint64_t from, uint64_t to, uint32_t rule)
{
	s->row = (struct row){ .from = align(b, from), .to = align(b, to), .rule = rule };
}

static uint32_t frame_rule(struct builder *b, const struct program *p)
{
	const struct cfi_value *cfa = &p->state.cfa;
	struct held_place place;
	bool held = cfa->kind == CFI_REG && held_find(&b->held, p->from, p->to, cfa->reg, &place);

	return rules_add_held(&b->rules, &p->state, p->cie->ra_reg, held ? &place : NULL);
}

static bool next_of_frames(struct builder *b, struct source *s)
{
	struct program *p = &s->program;
	struct cfi_fde fde;

	while (!program_next(p)) {
		if (!frames_next(&s->frames, &fde))
			return false;
		program_start(p, &s->frames.cfi, &fde);
		if (!fde.cie->is_signal)
			continue;
		p->to = p->end; /* the program does not matter */
		b->t->nr_read++;
		set_row(b, s, fde.start, fde.end, rule_special(b->t->arch, RULE_SIGNAL));
		return true;
	}
	b->t->nr_read++;
	set_row(b, s, p->from, p->to, frame_rule(b, p));
	return true;
}

static bool next_of_go(struct builder *b, struct source *s)
{
	struct go_row row;

	if (!go_rows_next(&s->go, &b->rules, &row))
		return false;
	b->t->nr_read++;
	set_row(b, s, row.from, row.to, row.rule);
	return true;
}

static bool next_of_stubs(struct builder *b, struct source *s)
{
	const struct stub *stub;

	if (s->i == s->stubs->nr)
		return false;
	stub = &s->stubs->list[s->i++];
	set_row(b, s, stub->start, stub->end, stub->rule);
	s->row.whole = stub->whole;
	return true;
}

/* --- rows into pages --- */

/* Makes the page of an address the last one; those between have the rule in force throughout. */
static bool open_page(struct builder *b, uint64_t page)
{
	if (!b->nr_pages)
		b->t->first_page = page;
	if (page - b->t->first_page >= TABLE_MAX_PAGES || b->nr_rows >= TABLE_MAX_ROWS_TOTAL) {
		b->too_big = true;
		return false;
	}
	while (b->nr_pages <= page - b->t->first_page) {
		b->pages = xgrow(b->pages, b->nr_pages, &b->cap_pages, sizeof(*b->pages));
		b->pages[b->nr_pages++].rule_count = b->rule << 10;
	}
	return true;
}

/* From vaddr on, rule holds. */
static void put(struct builder *b, uint64_t vaddr, uint32_t rule)
{
	unsigned int shift = TABLE_PAGE_SHIFT(b->t->arch);
	uint32_t offset = (vaddr & ((1u << shift) - 1)) >> TABLE_UNIT_SHIFT(b->t->arch);

	if (rule == b->rule || !open_page(b, vaddr >> shift))
		return;
	b->rule = rule;
	b->t->nr_rows++;
	if (!offset) {
		b->pages[b->nr_pages - 1].rule_count = rule << 10;
		return;
	}
	b->rows = xgrow(b->rows, b->nr_rows, &b->cap_rows, sizeof(*b->rows));
	b->rows[b->nr_rows++] = offset << ROW_RULE_BITS | rule;
	b->pages[b->nr_pages - 1].rule_count++;
}

/* Others run meanwhile. */
static void count_step(struct builder *b)
{
	if (!(++b->nr_steps % PAUSE_STEPS) && b->pause)
		b->pause->call(b->pause->arg);
}

/* What is read off the code of a function; all of it before to is nobody else's. */
static void put_scanned(struct builder *b, struct scan_function *f, uint64_t to)
{
	const struct scan *s = &b->scan;

	scan_function(&b->scan, f, &b->rules);
	for (size_t i = 0; i < s->nr_rows && s->rows[i].from < to; i++) {
		put(b, s->rows[i].from, s->rows[i].rule);
		count_step(b);
	}
}

/* No source knows about [from, to). */
static void leave_gap(struct builder *b, uint64_t from, uint64_t to)
{
	struct scan_function f;

	while (to - from > TABLE_MAX_PADDING && !b->too_big && scan_next(&b->scan, from, to, &f)) {
		if (b->nr_pages && f.start - from > TABLE_MAX_PADDING)
			put(b, from, b->none);
		put_scanned(b, &f, to);
		from = f.end < to ? f.end : to;
	}
	if (b->nr_pages && to - from > TABLE_MAX_PADDING)
		put(b, from, b->none);
}

static bool advance(struct builder *b, struct source *s)
{
	count_step(b);
	return s->has_row = !b->too_big && s->next(b, s);
}

/* Fills [from, to) with what the sources from i on know. */
static void fill(struct builder *b, size_t i, uint64_t from, uint64_t to)
{
	struct source *s = &b->sources[i];

	if (i == NR_SOURCES) {
		leave_gap(b, from, to);
		return;
	}
	for (; s->has_row && s->row.from < to; advance(b, s)) {
		/* Where instructions have 4 bytes, a row of less may be none at all. */
		if (s->row.to <= from || s->row.to <= s->row.from ||
		    (s->row.whole && s->row.from < from))
			continue;
		if (s->row.from > from) {
			fill(b, i + 1, from, s->row.from);
			from = s->row.from;
		}
		put(b, from, s->row.rule);
		if (s->row.to > to) /* the rest is for later */
			return;
		from = s->row.to;
	}
	if (from < to)
		fill(b, i + 1, from, to);
}

/* --- pages into words --- */

/* Where rows can lie that must not be on both sides of a segment's end. */
static size_t place(size_t at, size_t nr)
{
	size_t room = TABLE_SEGMENT_WORDS - at % TABLE_SEGMENT_WORDS;

	return nr > room ? at + room : at;
}

/* Sets where the rows of each page lie; returns the word behind the last one. */
static size_t place_rows(struct builder *b)
{
	size_t at = b->nr_pages * TABLE_PAGE_WORDS;

	for (size_t i = 0; i < b->nr_pages; i++) {
		uint32_t nr = b->pages[i].rule_count & TABLE_MAX_ROWS;

		at = place(at, nr);
		b->pages[i].rows = at;
		at += nr;
	}
	return at;
}

static void copy_rows(const struct builder *b)
{
	const uint32_t *row = b->rows;

	for (size_t i = 0; i < b->nr_pages; i++) {
		uint32_t nr = b->pages[i].rule_count & TABLE_MAX_ROWS;

		if (!nr)
			continue;
		memcpy(b->t->words + b->pages[i].rows, row, nr * sizeof(*row));
		row += nr;
	}
}

static void lay_out(struct builder *b)
{
	struct table *t = b->t;
	size_t exceptions_at = place_rows(b);

	exceptions_at =
		(exceptions_at + TABLE_EXCEPTION_WORDS - 1) & -(size_t)TABLE_EXCEPTION_WORDS;
	t->nr_pages = b->nr_pages;
	t->exceptions = exceptions_at;
	t->nr_exceptions = b->rules.nr_exceptions;
	t->nr_words = exceptions_at + t->nr_exceptions * (size_t)TABLE_EXCEPTION_WORDS;
	t->words = xcalloc(t->nr_words, sizeof(*t->words));
	memcpy(t->words, b->pages, b->nr_pages * sizeof(*b->pages));
	copy_rows(b);
	if (t->nr_exceptions)
		memcpy(t->words + exceptions_at, b->rules.exceptions,
		       t->nr_exceptions * sizeof(*b->rules.exceptions));
}

/* --- a file --- */

static void run(struct builder *b)
{
	for (size_t i = 0; i < NR_SOURCES; i++)
		advance(b, &b->sources[i]);
	fill(b, 0, 0, UINT64_MAX);
}

static int build(struct table *t, const struct layout *l, bool is_vdso,
		 const struct table_pause *pause)
{
	struct builder *b = xcalloc(1, sizeof(*b));
	struct stubs stubs;
	int err = 0;

	t->arch = l->arch;
	b->t = t;
	b->pause = pause;
	b->none = b->rule = rule_special(l->arch, RULE_NONE);
	rules_init(&b->rules, l->arch);
	b->held = (struct held){ .layout = l };
	stubs_init(&stubs, l, is_vdso);
	scan_init(&b->scan, l);
	b->sources[0].next = next_of_go;
	b->sources[1].next = b->sources[2].next = next_of_frames;
	b->sources[3] = (struct source){ .next = next_of_stubs, .stubs = &stubs };
	go_rows_open(&b->sources[0].go, l);
	frames_open_eh(&b->sources[1].frames, l);
	frames_open_debug(&b->sources[2].frames, l);
	run(b);
	go_rows_close(&b->sources[0].go);
	frames_release(&b->sources[1].frames);
	frames_release(&b->sources[2].frames);
	stubs_release(&stubs);
	scan_release(&b->scan);
	t->nr_unsupported = b->rules.nr_unsupported;
	if (b->too_big)
		err = -E2BIG;
	else if (!b->nr_pages)
		err = -ENODATA;
	else
		lay_out(b);
	rules_release(&b->rules);
	free(b->rows);
	free(b->pages);
	free(b);
	return err;
}

static int build_file(struct table *t, const struct elf_file *f, bool is_vdso,
		      const struct table_pause *pause)
{
	struct layout l;
	int err;

	*t = (struct table){};
	err = layout_init(&l, f);
	if (!err)
		err = build(t, &l, is_vdso, pause);
	if (err)
		table_release(t);
	layout_release(&l);
	return err;
}

int table_build(struct table *t, const struct elf_file *f, const struct table_pause *pause)
{
	return build_file(t, f, false, pause);
}

int table_build_vdso(struct table *t, const struct elf_file *f, const struct table_pause *pause)
{
	return build_file(t, f, true, pause);
}

void table_release(struct table *t)
{
	free(t->words);
	*t = (struct table){};
}

bool table_is_sound(const struct table *t)
{
	const struct table_page *pages = (const struct table_page *)t->words;

	if (t->arch > TABLE_ARM64 || t->nr_pages > TABLE_MAX_PAGES ||
	    (uint64_t)t->nr_pages * TABLE_PAGE_WORDS > t->nr_words ||
	    t->exceptions + (uint64_t)t->nr_exceptions * TABLE_EXCEPTION_WORDS > t->nr_words)
		return false;
	for (uint32_t i = 0; i < t->nr_pages; i++)
		if ((uint64_t)pages[i].rows + (pages[i].rule_count & TABLE_MAX_ROWS) > t->nr_words)
			return false;
	return true;
}

/* --- look-up --- */

static const struct table_page *find_page(const struct table *t, uint64_t vaddr)
{
	uint64_t page = (vaddr >> TABLE_PAGE_SHIFT(t->arch)) - t->first_page;

	return page < t->nr_pages ? (const struct table_page *)t->words + page : NULL;
}

uint32_t table_rule(const struct table *t, uint64_t vaddr)
{
	const struct table_page *page = find_page(t, vaddr);
	uint32_t in_page = vaddr & ((1u << TABLE_PAGE_SHIFT(t->arch)) - 1);
	uint32_t key = (in_page >> TABLE_UNIT_SHIFT(t->arch)) << ROW_RULE_BITS | ROW_RULE_MASK;
	uint32_t lo = 0, hi, mid;

	if (!page)
		return rule_special(t->arch, RULE_NONE);
	hi = page->rule_count & TABLE_MAX_ROWS;
	while (lo < hi) {
		mid = (lo + hi) / 2;
		if (t->words[page->rows + mid] <= key)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo ? t->words[page->rows + lo - 1] & ROW_RULE_MASK : page->rule_count >> 10;
}

const struct table_exception *table_exception(const struct table *t, uint32_t rule)
{
	uint32_t i;

	if (t->arch == TABLE_X86 && RULE_X86_KIND(rule) == 1)
		i = rule & RULE_X86_MAX_INDEX;
	else if (t->arch == TABLE_ARM64 && RULE_ARM64_MODE(rule) == MODE_EXCEPTION)
		i = RULE_ARM64_INDEX(rule);
	else
		return NULL;
	return i < t->nr_exceptions ? (const struct table_exception *)(t->words + t->exceptions) + i
				    : NULL;
}

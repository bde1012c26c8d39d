/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where functions begin that no unwind data describes: by symbols, and in parts of the code without
 * symbols by what is called there, or comes behind the end of another one.
 */
#include "unwind/scan.h"

#include <stdlib.h>

#include "base/mem.h"
#include "unwind/x86.h"

#define MAX_SYMBOLS 500000u
#define MIN_GUESSED 15 /* bytes: padding, and what is left of a function */

/* --- functions with symbols --- */

static int by_start(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static size_t add_symbols(struct range *list, const Elf64_Sym *symbols, size_t nr)
{
	size_t kept = 0;

	for (size_t i = 0; i < nr; i++) {
		const Elf64_Sym *sym = &symbols[i];
		uint64_t end = sym->st_value + sym->st_size;

		if (ELF64_ST_TYPE(sym->st_info) != STT_FUNC || sym->st_shndx == SHN_UNDEF ||
		    end < sym->st_value)
			continue;
		list[kept++] = (struct range){ .start = sym->st_value, .end = end };
	}
	return kept;
}

/* One for each start; without a size, or with one too large, it ends where the next one begins. */
static size_t make_disjoint(struct range *list, size_t nr)
{
	size_t kept = 0;

	qsort(list, nr, sizeof(*list), by_start);
	for (size_t i = 0; i < nr; i++) {
		if (kept && list[kept - 1].start == list[i].start) {
			if (list[kept - 1].end < list[i].end)
				list[kept - 1].end = list[i].end;
			continue;
		}
		list[kept++] = list[i];
	}
	for (size_t i = 0; i < kept; i++) {
		uint64_t next = i + 1 < kept ? list[i + 1].start : UINT64_MAX;

		if (list[i].end == list[i].start)
			list[i].end = next;
		if (list[i].end > next)
			list[i].end = next;
	}
	return kept;
}

static void read_functions(struct scan *s)
{
	const struct elf_file *f = s->layout->file;

	for (size_t i = 0; i < f->nr_sections; i++) {
		const Elf64_Shdr *table = &f->sections[i];
		Elf64_Sym *symbols;
		size_t nr;

		if ((table->sh_type != SHT_SYMTAB && table->sh_type != SHT_DYNSYM) ||
		    table->sh_offset > f->size || table->sh_size > f->size - table->sh_offset ||
		    table->sh_size / sizeof(*symbols) > MAX_SYMBOLS)
			continue;
		symbols = xmalloc(table->sh_size);
		nr = elf_file_read(f, table->sh_offset, symbols, table->sh_size) / sizeof(*symbols);
		if (nr) {
			s->functions = xreallocarray(s->functions, s->nr_functions + nr,
						     sizeof(*s->functions));
			s->nr_functions += add_symbols(s->functions + s->nr_functions, symbols, nr);
		}
		free(symbols);
	}
	if (s->nr_functions)
		s->nr_functions = make_disjoint(s->functions, s->nr_functions);
}

/* --- functions without symbols --- */

static int by_number(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Reads a part of the code, and goes through it from one end to the other. */
static void read_part(struct scan *s, uint64_t from, uint64_t to)
{
	struct x86_insn insn;
	size_t sz;

	s->guessed += to - from;
	s->part = xreallocarray(s->part, to - from, 1);
	sz = layout_read(s->layout, from, s->part, to - from);
	s->nr_calls = 0;
	s->part_from = from;
	s->part_to = from + sz;
	for (size_t at = 0; at < sz; at += insn.len) {
		uint64_t target;

		if (!x86_decode(s->part + at, sz - at, &insn)) {
			insn.len = 1;
			continue;
		}
		target = from + at + insn.len + (int64_t)insn.target;
		if (insn.flow != X86_CALLS || !insn.target || target < from || target >= to)
			continue;
		s->calls = xgrow(s->calls, s->nr_calls, &s->cap_calls, sizeof(*s->calls));
		s->calls[s->nr_calls++] = target;
	}
	if (s->nr_calls)
		qsort(s->calls, s->nr_calls, sizeof(*s->calls), by_number);
}

static uint64_t next_called(const struct scan *s, uint64_t after)
{
	size_t lo = 0, hi = s->nr_calls, mid;

	while (lo < hi) {
		mid = (lo + hi) / 2;
		if (s->calls[mid] <= after)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < s->nr_calls ? s->calls[lo] : UINT64_MAX;
}

/* Also what cannot be the begin of a function. */
static uint64_t skip_padding(const struct scan *s, uint64_t from, uint64_t to)
{
	const uint8_t *code = s->part + (from - s->part_from);
	size_t at = 0, sz = to - from, len;
	struct x86_insn insn;

	for (; at < sz; at += len) {
		len = !code[at] ? 1 : x86_padding(code + at, sz - at);
		if (!len && x86_decode(code + at, sz - at, &insn))
			break;
		if (!len)
			len = 1;
	}
	return from + (at < sz ? at : sz);
}

/* What lies before a function with a symbol, or before the end of what is not known. */
static bool guess(struct scan *s, uint64_t from, uint64_t to, struct scan_function *f)
{
	const struct layout *l = s->layout;
	size_t i = 0;

	while (i < l->nr_code && l->code[i].end <= from)
		i++;
	if (i == l->nr_code || s->guessed > SCAN_MAX_GUESSED)
		return false;
	if (from < l->code[i].start)
		from = l->code[i].start;
	if (to > l->code[i].end)
		to = l->code[i].end;
	if (to < from || to - from <= MIN_GUESSED)
		return false;
	if (to - from > SCAN_MAX_GUESSED)
		to = from + SCAN_MAX_GUESSED;
	if (from < s->part_from || to > s->part_to)
		read_part(s, from, to);
	if (to > s->part_to)
		return false;
	from = skip_padding(s, from, to);
	*f = (struct scan_function){ from, next_called(s, from), true };
	if (f->end > to)
		f->end = to;
	return from < to;
}

bool scan_next(struct scan *s, uint64_t from, uint64_t to, struct scan_function *f)
{
	size_t lo = 0, hi, mid;

	if (s->layout->arch != TABLE_X86)
		return false;
	if (!s->has_functions)
		read_functions(s);
	s->has_functions = true;
	hi = s->nr_functions;
	while (lo < hi) {
		mid = (lo + hi) / 2;
		if (s->functions[mid].start < from)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo < s->nr_functions && s->functions[lo].start < to) {
		if (guess(s, from, s->functions[lo].start, f))
			return true;
		*f = (struct scan_function){ s->functions[lo].start, s->functions[lo].end, false };
		return true;
	}
	return guess(s, from, to, f);
}

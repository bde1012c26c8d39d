/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Symbol table -> sorted disjoint ranges. Symbols are read in chunks into 16 bytes each, sorted,
 * aliases merged, and a sweep over them with a stack of those still open emits each range once, in
 * O(n log n). Names stay in the file.
 */
#include "symbol/elf.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/radix.h"
#include "elf/strtab.h"
#include "elf/symtab.h"
#include "symbol/naming.h"
#include "symbol/unsized.h"

#define MAX_FUNCTIONS 1100000u	 /* 52 bytes each at the worst moment */
#define MAX_WORK      (1u << 29) /* of struct strtab, 0.1 s to 0.5 s */
#define MAX_NAME      65536u

/* No code lies above: canonical user addresses of all architectures are shorter. */
#define MAX_VADDR (1ull << 56)

/*
 * key orders symbols by address (bits 63..8), at the same address sized (bit 7 = 0) before unsized.
 * Bits 6..0 tell how much the symbol is wanted among aliases, best first: bits 2..1 are 0 for
 * GLOBAL, 1 for WEAK, 2 for LOCAL, 3 for data; bit 0 is set for a label. Data between code have no
 * size here, and no name: what lies before them ends there.
 */
struct function {
	uint64_t key;
	uint32_t size; /* of an unsized one: what its section leaves */
	uint32_t name; /* in the string table */
};
_Static_assert(sizeof(struct function) == sizeof(struct radix_row), "many of these");
#define KEY_UNSIZED 0x80u
#define KEY_RANKS   7u /* bits */
#define RANK_DATA   6u

struct range {
	uint64_t start : 62;
	uint64_t is_start : 1; /* of the symbol, else it goes on behind another one */
	uint64_t is_unsized : 1;
	uint32_t size;
	uint32_t name;
};

struct elf_symbols {
	const struct elf_file *file; /* whose offsets are asked for */
	struct fdes fdes;	     /* of file; empty until they are needed */
	struct strtab names;
	struct range *ranges;
	size_t nr;
	char *name; /* MAX_NAME bytes, what find returned last */
	uint32_t name_at;
	bool name_ok;
	bool fdes_loaded;
};

/* What one table is made of while it is loaded. */
struct loader {
	const struct elf_file *file;
	struct strtab *names;
	struct function *functions;
	size_t nr, cap;
};

static uint64_t function_start(const struct function *f)
{
	return f->key >> 8;
}

static uint64_t function_end(const struct function *f)
{
	return function_start(f) + f->size;
}

static bool function_is_unsized(const struct function *f)
{
	return f->key & KEY_UNSIZED;
}

/*
 * Whether the symbol stands for code: a marker is always local and no function with a size, so only
 * such names are read here. Those of all would be most of a large file's string table.
 */
static bool type_is_code(const Elf64_Sym *sym, struct strtab *names)
{
	unsigned int type = ELF64_ST_TYPE(sym->st_info);
	char head[5];

	if (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE)
		return false;
	if (!sym->st_name || sym->st_name >= names->size || sym->st_shndx == SHN_UNDEF)
		return false;
	if (ELF64_ST_BIND(sym->st_info) != STB_LOCAL || (type == STT_FUNC && sym->st_size))
		return true;
	return strtab_copy(names, sym->st_name, head, sizeof(head)) > 0 && !naming_is_marker(head);
}

static uint64_t symbol_rank(const Elf64_Sym *sym)
{
	unsigned int bind = ELF64_ST_BIND(sym->st_info);
	unsigned int place = bind == STB_LOCAL ? 2 : bind == STB_WEAK ? 1 : 0;

	if (ELF64_ST_TYPE(sym->st_info) == STT_OBJECT)
		return RANK_DATA;
	return place << 1 | (ELF64_ST_TYPE(sym->st_info) == STT_NOTYPE);
}

/*
 * Adds a symbol unless it is none of ours. Functions of 4 GB and more do not exist: such a size is
 * a lie.
 */
static bool loader_add(struct loader *l, const Elf64_Sym *sym)
{
	bool label = ELF64_ST_TYPE(sym->st_info) == STT_NOTYPE;
	bool data = ELF64_ST_TYPE(sym->st_info) == STT_OBJECT;
	uint64_t size = data ? 0 : sym->st_size, key;

	if (sym->st_value >= MAX_VADDR || size > UINT32_MAX ||
	    !(data || type_is_code(sym, l->names)))
		return true;
	key = sym->st_value << 8 | symbol_rank(sym);
	if (!size || label) {
		uint64_t rest = symtab_section_rest(l->file, sym);

		if (!rest)
			return true;
		if (!size) {
			size = rest < UNSIZED_REACH ? rest : UNSIZED_REACH;
			key |= KEY_UNSIZED;
		}
	}
	if (l->nr == MAX_FUNCTIONS)
		return false;
	l->functions = xgrow(l->functions, l->nr, &l->cap, sizeof(*l->functions));
	l->functions[l->nr++] =
		(struct function){ .key = key, .size = size, .name = data ? 0 : sym->st_name };
	return true;
}

/* False when a limit is reached. */
static bool loader_take(void *arg, const Elf64_Sym *sym)
{
	struct loader *l = arg;

	return loader_add(l, sym) && l->names->work <= MAX_WORK;
}

/* By address, outer before inner, then best first; the name's position makes it total. */
static int function_compare(const void *pa, const void *pb)
{
	const struct function *a = pa, *b = pb;

	if (a->key >> KEY_RANKS != b->key >> KEY_RANKS)
		return a->key >> KEY_RANKS < b->key >> KEY_RANKS ? -1 : 1;
	if (a->size != b->size)
		return a->size > b->size ? -1 : 1;
	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return a->name < b->name ? -1 : a->name > b->name;
}

static void loader_sort(struct loader *l)
{
	size_t nr;

	radix_sort((struct radix_row *)l->functions, l->nr, KEY_RANKS);
	for (size_t i = 0; i < l->nr; i += nr) {
		struct function *f = &l->functions[i];

		for (nr = 1; i + nr < l->nr && f[nr].key >> KEY_RANKS == f->key >> KEY_RANKS;)
			nr++;
		if (nr > 1)
			qsort(f, nr, sizeof(*f), function_compare);
	}
}

static bool is_alias(const struct function *a, const struct function *b)
{
	return a->key >> KEY_RANKS == b->key >> KEY_RANKS &&
	       (a->size == b->size || function_is_unsized(a));
}

/* Of nr aliases, sorted, the one to show. Equally wanted ones are decided by their names. */
static const struct function *alias_best(struct strtab *names, const struct function *f, size_t nr,
					 char *best, char *other)
{
	const struct function *winner = f;
	char *swap;

	for (size_t i = 1; i < nr && f[i].key == f->key && names->work <= MAX_WORK; i++) {
		if (f[i].name == winner->name || strtab_copy(names, f[i].name, other, MAX_NAME) < 0)
			continue;
		if (strtab_copy(names, winner->name, best, MAX_NAME) >= 0 &&
		    naming_compare(best, other) <= 0)
			continue;
		winner = &f[i];
		swap = best;
		best = other;
		other = swap;
	}
	return winner;
}

/* Leaves one symbol of each set of aliases, in place. */
static void loader_merge(struct loader *l)
{
	char *best = xmalloc(MAX_NAME), *other = xmalloc(MAX_NAME);
	size_t out = 0, nr;

	for (size_t i = 0; i < l->nr; i += nr) {
		const struct function *f = &l->functions[i];

		for (nr = 1; i + nr < l->nr && is_alias(f, f + nr);)
			nr++;
		l->functions[out++] = *alias_best(l->names, f, nr, best, other);
	}
	l->nr = out;
	free(best);
	free(other);
}

/* The sweep: stack holds the symbols that are open at pos, the innermost on top. */
struct sweep {
	const struct function *functions;
	struct range *ranges;
	size_t nr;
	uint32_t *stack;
	size_t depth;
	uint64_t pos;
};

static void sweep_emit(struct sweep *s, uint64_t end)
{
	const struct function *top = &s->functions[s->stack[s->depth - 1]];

	if (end <= s->pos)
		return;
	s->ranges[s->nr++] = (struct range){ s->pos, function_start(top) == s->pos, false,
					     end - s->pos, top->name };
	s->pos = end;
}

/* Goes on to an address, closing what ends before. */
static void sweep_advance(struct sweep *s, uint64_t to)
{
	while (s->depth) {
		uint64_t end = function_end(&s->functions[s->stack[s->depth - 1]]);

		sweep_emit(s, end < to ? end : to);
		if (end > to)
			break;
		s->depth--;
	}
	s->pos = to;
}

/*
 * An unsized symbol ends where the next one starts: behind it, as it is the last one at its
 * address. Under an open sized one it is a label inside a function, as in hand-written assembly,
 * and says nothing.
 */
static void sweep_unsized(struct sweep *s, size_t i, size_t nr)
{
	uint64_t end = function_end(&s->functions[i]);

	if (s->depth || !s->functions[i].name)
		return;
	if (i + 1 < nr && function_start(&s->functions[i + 1]) < end)
		end = function_start(&s->functions[i + 1]);
	s->ranges[s->nr++] =
		(struct range){ s->pos, true, true, end - s->pos, s->functions[i].name };
}

/*
 * Each symbol adds at most two range ends, so 2n ranges suffice; pages never written cost nothing.
 */
static void loader_flatten(struct loader *l, struct elf_symbols *out)
{
	struct sweep s = { .functions = l->functions };

	s.ranges = xcalloc(2 * l->nr, sizeof(*s.ranges));
	s.stack = xcalloc(l->nr, sizeof(*s.stack));
	for (size_t i = 0; i < l->nr; i++) {
		sweep_advance(&s, function_start(&l->functions[i]));
		if (function_is_unsized(&l->functions[i]))
			sweep_unsized(&s, i, l->nr);
		else
			s.stack[s.depth++] = i;
	}
	sweep_advance(&s, UINT64_MAX);
	free(s.stack);
	out->ranges = xreallocarray(s.ranges, s.nr, sizeof(*s.ranges));
	out->nr = s.nr;
}

/* Loads the table of a type from f. False, and nothing held, when that gives no function. */
static bool symbols_load(struct elf_symbols *s, const struct elf_file *f, uint32_t type)
{
	struct loader l = { .file = f, .names = &s->names };
	struct symtab t;

	if (!symtab_find(&t, f, type))
		return false;
	strtab_init(&s->names, f, t.strings->sh_offset, t.strings->sh_size);
	if (symtab_for_each(&t, loader_take, &l) && l.nr) {
		loader_sort(&l);
		loader_merge(&l);
		loader_flatten(&l, s);
	}
	free(l.functions);
	if (s->nr)
		return true;
	free(s->ranges); /* symbols that name nothing */
	strtab_release(&s->names);
	return false;
}

struct elf_symbols *elf_symbols_new(const struct elf_file *f, const struct elf_file *from,
				    uint32_t type)
{
	struct elf_symbols *s = xcalloc(1, sizeof(*s));

	s->file = f;
	if (!symbols_load(s, from, type)) {
		free(s);
		return NULL;
	}
	s->name = xmalloc(MAX_NAME);
	return s;
}

void elf_symbols_free(struct elf_symbols *s)
{
	if (!s)
		return;
	strtab_release(&s->names);
	fdes_release(&s->fdes);
	free(s->ranges);
	free(s->name);
	free(s);
}

size_t elf_symbols_count(const struct elf_symbols *s)
{
	return s ? s->nr : 0;
}

/* How many begin no later. */
static size_t ranges_until(const struct elf_symbols *s, uint64_t vaddr)
{
	size_t low = 0, high = s->nr;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (s->ranges[mid].start <= vaddr)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static const struct range *range_find(const struct elf_symbols *s, uint64_t vaddr)
{
	size_t low = ranges_until(s, vaddr);

	if (!low || vaddr - s->ranges[low - 1].start >= s->ranges[low - 1].size)
		return NULL;
	return &s->ranges[low - 1];
}

/* Reads a name into s->name; a name that does not fit there counts as none. */
static bool read_name(struct elf_symbols *s, uint32_t at)
{
	ssize_t len = strtab_copy(&s->names, at, s->name, MAX_NAME);

	s->name_at = at;
	s->name_ok = len > 0 && len < (ssize_t)MAX_NAME;
	naming_strip_version(s->name);
	return s->name_ok;
}

static const char *name_of(struct elf_symbols *s, const struct range *r)
{
	if (!r)
		return NULL;
	if (r->name == s->name_at && s->name_ok)
		return s->name;
	return read_name(s, r->name) ? s->name : NULL;
}

static bool range_reaches(struct elf_symbols *s, const struct range *r, uint64_t vaddr)
{
	if (!r->is_unsized || vaddr == r->start)
		return true;
	if (!s->fdes_loaded)
		fdes_load(&s->fdes, s->file);
	s->fdes_loaded = true;
	return unsized_reaches(s->file, &s->fdes, r->start, vaddr);
}

/* NULL for an offset outside of all code, too. */
static const struct range *range_at(struct elf_symbols *s, uint64_t offset)
{
	const struct range *r;
	uint64_t vaddr;

	if (!s || !elf_file_vaddr(s->file, offset, &vaddr))
		return NULL;
	r = range_find(s, vaddr);
	return r && range_reaches(s, r, vaddr) ? r : NULL;
}

const char *elf_symbols_find(struct elf_symbols *s, uint64_t offset)
{
	return name_of(s, range_at(s, offset));
}

/*
 * What is found at an offset holds from one address to another, in its segment. Of a symbol without
 * a size it holds no further than it was asked.
 */
static void say_range(const struct elf_symbols *s, const struct range *r, uint64_t offset,
		      struct symbol_found *found)
{
	uint64_t from = 0, to = UINT64_MAX, vaddr;
	size_t i;

	if (!elf_file_vaddr(s->file, offset, &vaddr))
		return;
	i = ranges_until(s, vaddr);
	if (r) {
		from = r->start;
		to = r->is_unsized ? vaddr + 1 : r->start + r->size;
	} else {
		from = i ? s->ranges[i - 1].start + s->ranges[i - 1].size : 0;
		to = i < s->nr ? s->ranges[i].start : UINT64_MAX;
	}
	if (from <= vaddr && vaddr < to)
		elf_file_part(s->file, offset, from, to, &found->from, &found->to);
}

bool elf_symbols_answer(struct elf_symbols *s, uint64_t offset, struct symbol_found *found)
{
	const struct range *r = range_at(s, offset);
	const char *name = name_of(s, r);

	say_range(s, r, offset, found);
	if (!name)
		return false;
	found->chain[found->nr++].name = name;
	found->start = r->is_start ? r->start : 0;
	return true;
}

static void *open_symtab(const struct symbol_module *m)
{
	return m->file ? elf_symbols_new(m->file, m->file, SHT_SYMTAB) : NULL;
}

static void *open_dynsym(const struct symbol_module *m)
{
	return m->file ? elf_symbols_new(m->file, m->file, SHT_DYNSYM) : NULL;
}

static bool find(void *source, uint64_t address, struct symbol_found *found)
{
	return elf_symbols_answer(source, address, found);
}

static void close_symbols(void *source)
{
	elf_symbols_free(source);
}

const struct symbol_source_ops symbol_source_symtab = {
	".symtab", SYMBOL_NAMES, FRAME_USER, open_symtab, find, close_symbols,
};

const struct symbol_source_ops symbol_source_dynsym = {
	".dynsym", SYMBOL_NAMES, FRAME_USER, open_dynsym, find, close_symbols,
};

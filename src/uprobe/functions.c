/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Symbol tables -> functions by address. The symbols of all tables are collected, sorted, and those
 * of one address made into one function.
 */
#include "uprobe/functions.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "elf/section.h"
#include "elf/strtab.h"
#include "elf/symtab.h"
#include "symbol/debug_file.h"
#include "symbol/naming.h"
#include "symbol/source.h"
#include "uprobe/functions_parts.h"
#include "elf/gopclntab.h"

#define MAX_SYMBOLS 1100000u
#define MAX_TEXT    (256u << 20)
#define MAX_WORK    (1u << 29) /* of struct strtab */
#define MAX_NAME    65536u

#define RANK_LOCAL 4

/* A symbol of code. rank: best first, as in symbol/elf.h: GLOBAL, WEAK, LOCAL; then labels. */
struct symbol {
	uint64_t address, size, rest; /* rest: to the end of its section */
	uint32_t name;		      /* in loader.text */
	uint8_t rank;
	bool is_label, is_ifunc;
};

struct loader {
	const struct elf_file *from;
	struct strtab strings;
	struct symbol *symbols;
	size_t nr, cap;
	char *text;
	size_t len, room;
	char *name; /* MAX_NAME bytes */
};

static bool is_code(const Elf64_Sym *sym)
{
	unsigned int type = ELF64_ST_TYPE(sym->st_info);

	return (type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE) && sym->st_name &&
	       sym->st_shndx != SHN_UNDEF;
}

static uint8_t rank_of(const Elf64_Sym *sym)
{
	unsigned int bind = ELF64_ST_BIND(sym->st_info);
	unsigned int place = bind == STB_LOCAL ? 2 : bind == STB_WEAK ? 1 : 0;

	return place << 1 | (ELF64_ST_TYPE(sym->st_info) == STT_NOTYPE);
}

/* Appends len + 1 bytes; returns where they begin. */
static uint32_t keep_text(struct loader *l, const char *s, size_t len)
{
	uint32_t at = l->len;

	if (l->room - l->len < len + 1) {
		l->room = l->room * 2 + len + 4096;
		l->text = xreallocarray(l->text, l->room, 1);
	}
	memcpy(l->text + at, s, len + 1);
	l->len += len + 1;
	return at;
}

/* False when a limit is reached. */
static bool take_symbol(void *arg, const Elf64_Sym *sym)
{
	struct loader *l = arg;
	unsigned int type = ELF64_ST_TYPE(sym->st_info);
	uint64_t rest = is_code(sym) ? symtab_section_rest(l->from, sym) : 0;
	ssize_t len;

	if (!rest)
		return true;
	len = strtab_copy(&l->strings, sym->st_name, l->name, MAX_NAME);
	if (l->strings.work > MAX_WORK)
		return false;
	if (len <= 0 || len >= (ssize_t)MAX_NAME || naming_is_marker(l->name))
		return true;
	naming_strip_version(l->name);
	if (l->nr == MAX_SYMBOLS || l->len > MAX_TEXT)
		return false;
	l->symbols = xgrow(l->symbols, l->nr, &l->cap, sizeof(*l->symbols));
	l->symbols[l->nr++] = (struct symbol){
		.address = sym->st_value,
		.size = sym->st_size < rest ? sym->st_size : rest,
		.rest = rest,
		.name = keep_text(l, l->name, strlen(l->name)),
		.rank = rank_of(sym),
		.is_label = type == STT_NOTYPE,
		.is_ifunc = type == STT_GNU_IFUNC,
	};
	return true;
}

/* All symbols of a table, or none of it. */
static bool take_table(struct loader *l, const struct elf_file *from, uint32_t type)
{
	size_t before = l->nr;
	struct symtab t;
	bool ok;

	if (!from || !symtab_find(&t, from, type))
		return false;
	l->from = from;
	strtab_init(&l->strings, from, t.strings->sh_offset, t.strings->sh_size);
	ok = symtab_for_each(&t, take_symbol, l);
	if (!ok)
		l->nr = before;
	strtab_release(&l->strings);
	return ok && l->nr > before;
}

/* Open files that may be the debug file of another one. */
struct candidates {
	const int *fds;
	size_t nr;
};

static bool take_debug_file(struct loader *l, const struct elf_file *f, const struct candidates *of)
{
	struct elf_file *debug = debug_file_choose(f, of->fds, of->nr);
	bool took = take_table(l, debug, SHT_SYMTAB);

	elf_file_close(debug);
	return took;
}

static bool take_go_function(void *arg, const char *name, uint64_t address, uint64_t size)
{
	struct loader *l = arg;
	size_t len = strnlen(name, MAX_NAME);

	if (l->nr == MAX_SYMBOLS || l->len > MAX_TEXT)
		return false;
	if (!size || !len || len == MAX_NAME)
		return true;
	l->symbols = xgrow(l->symbols, l->nr, &l->cap, sizeof(*l->symbols));
	l->symbols[l->nr++] = (struct symbol){
		.address = address,
		.size = size,
		.rest = size,
		.name = keep_text(l, name, len),
		.rank = RANK_LOCAL,
	};
	return true;
}

/* A stripped program of Go names its functions all the same. */
static void take_go_functions(struct loader *l, const struct elf_file *f)
{
	size_t before = l->nr;

	if (!gopclntab_for_each(f, take_go_function, l))
		l->nr = before;
}

/* By address; sized ones first, the largest first of them; then the best. */
static int symbol_compare(const void *pa, const void *pb)
{
	const struct symbol *a = pa, *b = pb;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	if (a->size != b->size)
		return a->size > b->size ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return a->name < b->name ? -1 : a->name > b->name;
}

static void keep_labels(struct functions *fs, const struct loader *l)
{
	fs->labels = xcalloc(l->nr, sizeof(*fs->labels));
	for (size_t i = 0; i < l->nr; i++)
		if (!i || l->symbols[i].address != l->symbols[i - 1].address)
			fs->labels[fs->nr_labels++] = l->symbols[i].address;
}

static bool has_name(const struct uprobe_function *f, const char *const *names, const char *name)
{
	for (size_t i = 0; i < f->nr_names; i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

/*
 * Hand-written functions may lack a type. A label with a size is one; one without is when it is
 * global and no function covers it.
 */
static bool is_function(const struct symbol *s, uint64_t covered)
{
	return !s->is_label || s->size || (s->rank < 2 && s->address >= covered);
}

/* Of nr symbols of one address, f with the names at names; false when none is a function. */
static bool join_symbols(struct functions *fs, const struct loader *l, const struct symbol *s,
			 size_t nr, uint64_t covered, struct uprobe_function *f)
{
	const char **names = fs->names + fs->nr_names;
	const struct symbol *best = NULL;

	*f = (struct uprobe_function){ .address = s->address, .size = s->size, .names = names };
	for (size_t i = 0; i < nr; i++) {
		const char *name = l->text + s[i].name;

		if (!is_function(&s[i], covered))
			continue;
		f->is_ifunc |= s[i].is_ifunc;
		/* Thousands of names for one address are made to cost. */
		if (f->nr_names == 64 || has_name(f, names, name))
			continue;
		names[f->nr_names++] = name;
		if (!best || s[i].rank < best->rank ||
		    (s[i].rank == best->rank && naming_compare(name, f->name) < 0)) {
			best = &s[i];
			f->name = name;
		}
	}
	return best && elf_file_offset(fs->file, f->address, &f->offset);
}

/* What has no size reaches to the next function. */
static void fill_sizes(struct functions *fs, const uint64_t *rests)
{
	for (size_t i = 0; i < fs->nr; i++) {
		struct uprobe_function *f = &fs->all[i];

		if (f->size)
			continue;
		f->size = rests[i];
		if (i + 1 < fs->nr && fs->all[i + 1].address - f->address < f->size)
			f->size = fs->all[i + 1].address - f->address;
	}
}

static void make_functions(struct functions *fs, const struct loader *l)
{
	uint64_t *rests = xcalloc(l->nr, sizeof(*rests)), covered = 0;
	size_t nr;

	fs->all = xcalloc(l->nr, sizeof(*fs->all));
	fs->names = xcalloc(l->nr, sizeof(*fs->names));
	for (size_t i = 0; i < l->nr; i += nr) {
		const struct symbol *s = &l->symbols[i];
		struct uprobe_function *f = &fs->all[fs->nr];

		for (nr = 1; i + nr < l->nr && l->symbols[i + nr].address == s->address;)
			nr++;
		if (!join_symbols(fs, l, s, nr, covered, f))
			continue;
		rests[fs->nr++] = s->rest;
		fs->nr_names += f->nr_names;
		if (f->address + f->size > covered)
			covered = f->address + f->size;
	}
	fill_sizes(fs, rests);
	free(rests);
}

static bool is_go(const struct functions *fs)
{
	if (section_find(fs->file, ".go.buildinfo") || section_find(fs->file, ".gopclntab"))
		return true;
	for (size_t i = 0; i < fs->nr_names; i++)
		if (!strcmp(fs->names[i], "runtime.morestack"))
			return true;
	return false;
}

/* debug: takes the symbols of the debug file; NULL = there is none. */
static struct functions *load(struct elf_file *f, int fd, const struct candidates *debug)
{
	struct functions *fs = xcalloc(1, sizeof(*fs));
	struct loader l = { .name = xmalloc(MAX_NAME) };

	fs->fd = fd;
	fs->file = f;
	if (!take_table(&l, f, SHT_SYMTAB) && !(debug && take_debug_file(&l, f, debug)))
		take_go_functions(&l, f);
	fs->are_stripped = !l.nr;
	take_table(&l, f, SHT_DYNSYM);
	if (l.nr) {
		qsort(l.symbols, l.nr, sizeof(*l.symbols), symbol_compare);
		keep_labels(fs, &l);
		make_functions(fs, &l);
	}
	fs->text = l.text;
	fs->are_go = is_go(fs);
	free(l.symbols);
	free(l.name);
	return fs;
}

/* Finds and opens its debug file as well. */
static struct functions *load_from(struct elf_file *f, int fd)
{
	struct companion_wants *w = xmalloc(sizeof(*w));
	int fds[COMPANION_MAX_FILES];
	struct candidates debug = { fds, 0 };
	struct functions *fs;

	if (functions_want_debug(fd, w))
		debug.nr = companion_open_debug(w, "", SYMBOL_DEBUG_DIR, fds);
	free(w);
	fs = load(f, fd, &debug);
	for (size_t i = 0; i < debug.nr; i++)
		close(fds[i]);
	return fs;
}

struct functions *functions_open(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), err;
	struct elf_file *f;

	if (fd < 0)
		return NULL;
	f = elf_file_open(fd);
	if (f)
		return load_from(f, fd);
	err = errno;
	close(fd);
	errno = err;
	return NULL;
}

struct functions *functions_open_files(int fd, const int *debug, size_t nr)
{
	struct elf_file *f = elf_file_open(fd);

	return f ? load(f, -1, &(struct candidates){ debug, nr }) : NULL;
}

bool functions_want_debug(int fd, struct companion_wants *w)
{
	struct elf_file *f = elf_file_open(fd);
	struct symtab t;
	bool want = f && !symtab_find(&t, f, SHT_SYMTAB);

	if (want)
		companion_wants_read(w, f);
	elf_file_close(f);
	return want && w->build_id_len;
}

struct functions *functions_open_image(const void *image, size_t sz)
{
	struct elf_file *f = elf_file_open_image(image, sz);

	return f ? load(f, -1, NULL) : NULL;
}

void functions_free(struct functions *fs)
{
	if (!fs)
		return;
	for (size_t i = 0; fs->shown && i < fs->nr_names; i++)
		free(fs->shown[i]);
	free(fs->shown);
	for (size_t i = 0; i < fs->nr_unnamed; i++)
		free(fs->unnamed[i]);
	free(fs->unnamed);
	free(fs->names);
	free(fs->all);
	free(fs->labels);
	free(fs->text);
	elf_file_close(fs->file);
	if (fs->fd >= 0)
		close(fs->fd);
	free(fs);
}

const struct elf_file *functions_file(const struct functions *fs)
{
	return fs->file;
}

const struct uprobe_function *functions_all(const struct functions *fs, size_t *nr)
{
	*nr = fs->nr;
	return fs->all;
}

bool functions_are_go(const struct functions *fs)
{
	return fs->are_go;
}

bool functions_have_label(const struct functions *fs, uint64_t from, uint64_t to)
{
	size_t low = 0, high = fs->nr_labels;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (fs->labels[mid] <= from)
			low = mid + 1;
		else
			high = mid;
	}
	return low < fs->nr_labels && fs->labels[low] <= to;
}

bool functions_are_stripped(const struct functions *fs)
{
	return fs->are_stripped;
}

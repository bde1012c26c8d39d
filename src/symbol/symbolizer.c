/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Frames sorted by module and offset, then one file after the other; then the kernel's, then who is
 * rooted.
 */
#include "symbol/symbolizer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "elf/elf_file.h"
#include "symbol/demangle.h"
#include "symbol/elf.h"
#include "symbol/fdes.h"
#include "symbol/ksym.h"

/*
 * Work on one profile. Sorted frames make equal names neighbours, so remembering one name is
 * enough.
 */
struct symbolizer {
	struct profile *profile;
	uint32_t *order; /* frames without a name, by kind, module and offset */
	bool *is_entry;	 /* per frame: an entry of threads, known by its place (see below) */
	size_t nr;
	uint32_t raw;	/* the name seen last, as the symbol table has it */
	uint32_t shown; /* and what it was demangled to */
};

static struct frame *frame_at(const struct symbolizer *s, size_t i)
{
	return &s->profile->frames[s->order[i]];
}

static int frame_compare(const void *pa, const void *pb, void *frames)
{
	const struct frame *a = (struct frame *)frames + *(const uint32_t *)pa;
	const struct frame *b = (struct frame *)frames + *(const uint32_t *)pb;

	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (a->module != b->module)
		return a->module < b->module ? -1 : 1;
	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

static void order_frames(struct symbolizer *s)
{
	struct profile *p = s->profile;

	s->order = xcalloc(p->nr_frames, sizeof(*s->order));
	s->is_entry = xcalloc(p->nr_frames, sizeof(*s->is_entry));
	for (size_t i = 1; i < p->nr_frames; i++)
		if (!p->frames[i].name)
			s->order[s->nr++] = i;
	if (s->nr)
		qsort_r(s->order, s->nr, sizeof(*s->order), frame_compare, p->frames);
}

static void name_by_symbol(struct symbolizer *s, struct frame *f, const char *symbol)
{
	uint32_t raw = profile_string(s->profile, symbol);
	char *shown;

	if (raw != s->raw) {
		shown = demangle_name(symbol);
		s->raw = raw;
		s->shown = shown ? profile_string(s->profile, shown) : raw;
		free(shown);
	}
	f->name = s->shown;
	f->linkage = s->shown == raw ? 0 : raw;
}

/* "[libc.so.6+0x28490]", "[vdso+0x6f0]". */
static void name_by_address(struct symbolizer *s, struct frame *f, uint64_t vaddr)
{
	const char *path = profile_str(s->profile, s->profile->modules[f->module].path);
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
	size_t len = strlen(base);
	char *name;

	if (len > 2 && base[0] == '[' && base[len - 1] == ']') {
		base++;
		len -= 2;
	}
	name = xasprintf("[%.*s+0x%" PRIx64 "]", (int)len, base, vaddr);
	f->name = profile_string(s->profile, name);
	free(name);
}

static struct elf_file *source_open(const struct symbol_source *source)
{
	if (source->fd >= 0)
		return elf_file_open(source->fd);
	return source->image ? elf_file_open_image(source->image, source->image_sz) : NULL;
}

/*
 * A stripped libc has no names for the two functions that threads begin in. But both are static
 * functions right in front of an exported one of the same source file: start_thread stands before
 * pthread_create, and __libc_start_call_main before __libc_start_main (seen in glibc 2.36 and
 * 2.41). That is enough to know that a stack is whole, and not enough for a name.
 */
static bool stands_before_entry(const char *symbol)
{
	return symbol &&
	       (!strcmp(symbol, "pthread_create") || !strcmp(symbol, "__libc_start_main"));
}

/* Without a symbol all addresses of a function are shown as its start, where that is known. */
static void name_user_frame(struct symbolizer *s, struct frame *f, const struct elf_file *file,
			    struct elf_symbols *symbols, const struct fdes *fdes)
{
	const char *symbol = symbols ? elf_symbols_find(symbols, f->offset) : NULL;
	uint64_t vaddr = f->offset, start, next;

	if (symbol) {
		name_by_symbol(s, f, symbol);
		return;
	}
	if (file)
		elf_file_vaddr(file, f->offset, &vaddr);
	start = fdes_find(fdes, vaddr, &next);
	if (start && next && symbols)
		s->is_entry[f - s->profile->frames] =
			stands_before_entry(elf_symbols_find(symbols, f->offset + next - vaddr));
	name_by_address(s, f, start ? start : vaddr);
}

/* Names the frames [from, to) of one module. */
static void name_module(struct symbolizer *s, const struct elf_file *file, size_t from, size_t to)
{
	struct elf_symbols *symbols = NULL;
	struct fdes fdes = {};

	if (file && from < to) {
		symbols = elf_symbols_new(file, ELF_DEBUG_DIR);
		fdes_load(&fdes, file);
	}
	for (size_t i = from; i < to; i++)
		name_user_frame(s, frame_at(s, i), file, symbols, &fdes);
	elf_symbols_free(symbols);
	fdes_release(&fdes);
}

static void take_build_id(struct module *m, const struct elf_file *file)
{
	_Static_assert(sizeof(m->build_id) == sizeof(file->build_id), "copied as a whole");
	if (!file || !file->build_id_len)
		return;
	memcpy(m->build_id, file->build_id, sizeof(m->build_id));
	m->build_id_len = file->build_id_len;
}

static size_t skip_to_kind(const struct symbolizer *s, enum frame_kind kind)
{
	size_t i = 0;

	while (i < s->nr && frame_at(s, i)->kind < kind)
		i++;
	return i;
}

/* One pass over the modules and, in step, over the frames. */
static void name_user(struct symbolizer *s, const struct symbol_source *sources)
{
	size_t from = skip_to_kind(s, FRAME_USER), end = skip_to_kind(s, FRAME_USER + 1), to;
	size_t nr_modules = s->profile->nr_modules;

	for (size_t m = 0; m < nr_modules; m++, from = to) {
		struct elf_file *file = m ? source_open(&sources[m]) : NULL;

		take_build_id(&s->profile->modules[m], file);
		for (to = from; to < end && frame_at(s, to)->module == m;)
			to++;
		if (m)
			name_module(s, file, from, to);
		elf_file_close(file);
	}
}

/*
 * The module of a name as the kernel writes it, added when it is new. O(kernel modules seen), some
 * dozen.
 */
static uint32_t kernel_module(struct symbolizer *s, size_t first, const char *name)
{
	struct profile *p = s->profile;

	for (size_t i = first; i < p->nr_modules; i++)
		if (!strcmp(profile_str(p, p->modules[i].path), name))
			return i;
	return profile_add_module(p, name);
}

static void name_kernel_frame(struct symbolizer *s, struct frame *f, char *text, size_t first)
{
	struct ksym sym;

	if (ksym_parse(text, &sym))
		name_by_symbol(s, f, sym.name);
	else
		f->name = profile_string(s->profile, "[kernel]");
	f->module = kernel_module(s, first, sym.module);
	f->offset = sym.offset;
}

static int ask_batch(const struct symbolizer *s, const struct symbol_kernel *kernel,
		     struct prof_ksym *batch, size_t from, size_t nr)
{
	memset(batch, 0, PROF_KSYM_BATCH * sizeof(*batch));
	for (size_t i = 0; i < nr; i++)
		batch[i].addr = frame_at(s, from + i)->offset;
	return kernel->ask ? kernel->ask(kernel->arg, batch, nr) : -ENOSYS;
}

static void name_kernel(struct symbolizer *s, const struct symbol_kernel *kernel)
{
	size_t from = skip_to_kind(s, FRAME_KERNEL), to = skip_to_kind(s, FRAME_KERNEL + 1), nr;
	struct prof_ksym *batch = xcalloc(PROF_KSYM_BATCH, sizeof(*batch));
	size_t first = s->profile->nr_modules;
	int err = 0;

	for (; from < to; from += nr) {
		nr = to - from < PROF_KSYM_BATCH ? to - from : PROF_KSYM_BATCH;
		err = ask_batch(s, kernel, batch, from, nr);
		for (size_t i = 0; i < nr; i++)
			name_kernel_frame(s, frame_at(s, from + i), batch[i].text, first);
	}
	if (err)
		log_info("no names of kernel functions: %s", strerror(-err));
	free(batch);
}

/* Frames that no file can name. */
static void name_rest(struct symbolizer *s)
{
	uint32_t jit = profile_string(s->profile, "[jit]");
	uint32_t unknown = profile_string(s->profile, "[unknown]");

	for (size_t i = 0; i < s->nr; i++)
		if (!frame_at(s, i)->name)
			frame_at(s, i)->name = frame_at(s, i)->kind == FRAME_ANON ? jit : unknown;
}

/* Functions that a thread starts in, sorted: glibc, musl, bionic, Go. */
static const char *const entries[] = {
	"__clone",
	"__clone3",
	"__libc_start_call_main",
	"__libc_start_main",
	"__libc_start_main_alias_1",
	"__libc_start_main_alias_2",
	"__libc_start_main_impl",
	"__pthread_start",
	"__start_thread",
	"_dl_start_user",
	"_rt0_amd64",
	"_rt0_amd64_linux",
	"_rt0_arm64_linux",
	"_start",
	"_start_c",
	"clone",
	"clone3",
	"runtime.goexit",
	"runtime.goexit.abi0",
	"runtime.mstart",
	"runtime.mstart.abi0",
	"runtime.rt0_go",
	"runtime.rt0_go.abi0",
	"start_thread",
	"thread_start",
};

static int entry_compare(const void *name, const void *row)
{
	return strcmp(name, *(const char *const *)row);
}

static bool frame_is_entry(const struct profile *p, const struct frame *f)
{
	const char *name = profile_str(p, f->linkage ? f->linkage : f->name);

	return f->kind == FRAME_USER && bsearch(name, entries, sizeof(entries) / sizeof(*entries),
						sizeof(*entries), entry_compare);
}

static bool stack_is_rooted(const struct symbolizer *sym, const struct stack *s)
{
	const struct profile *p = sym->profile;
	const uint32_t *frames = p->stack_frames + s->first;

	if (!s->nr)
		return false;
	if (sym->is_entry[frames[s->nr - 1]])
		return true;
	if (p->frames[frames[0]].kind == FRAME_KERNEL)
		return s->end != UNWIND_END_DEPTH;
	return frame_is_entry(p, &p->frames[frames[s->nr - 1]]) || s->end == UNWIND_END_CFI_ROOT ||
	       s->end == UNWIND_END_ENTRY || (s->end == UNWIND_END_ROOT && s->nr > 1);
}

static void mark_rooted(struct symbolizer *s)
{
	struct profile *p = s->profile;

	for (size_t i = 1; i < p->nr_stacks; i++)
		if (stack_is_rooted(s, &p->stacks[i]))
			p->stacks[i].flags |= STACK_ROOTED;
}

void symbolizer_run(struct profile *p, const struct symbol_source *sources,
		    const struct symbol_kernel *kernel)
{
	struct symbolizer s = { .profile = p };

	order_frames(&s);
	name_user(&s, sources);
	name_kernel(&s, kernel);
	name_rest(&s);
	mark_rooted(&s);
	free(s.order);
	free(s.is_entry);
}

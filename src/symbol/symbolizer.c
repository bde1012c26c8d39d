/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Frames sorted by kind, module and address, then one module after the other through the sources of
 * names; then who is rooted.
 */
#include "symbol/symbolizer.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "elf/elf_file.h"
#include "symbol/demangle.h"

/*
 * Work on one profile. Sorted frames make equal names neighbours, so remembering one name is
 * enough.
 */
struct symbolizer {
	struct profile *profile;
	uint32_t *order; /* frames without a name, by kind, module and offset */
	bool *is_entry;	 /* per frame: an entry of threads, known by its place (see below) */
	size_t nr;
	const struct symbol_kernel *kernel;
	size_t first_module; /* that was not there before: those of the kernel */
	uint32_t raw;	     /* the name seen last, as the symbol table has it */
	uint32_t shown;	     /* and what it was demangled to */
};

static int frame_compare(const void *pa, const void *pb, void *profile)
{
	const struct frame *a = profile_frame_at(profile, *(const uint32_t *)pa);
	const struct frame *b = profile_frame_at(profile, *(const uint32_t *)pb);

	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (a->module != b->module)
		return a->module < b->module ? -1 : 1;
	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

/* Generated code of a recording that comes from a file may be known better by now. */
static bool is_nameless(const struct profile *p, uint32_t frame)
{
	const struct frame *f = profile_frame_at(p, frame);

	return !f->name || (f->kind == FRAME_ANON && !strcmp(profile_str(p, f->name), PROFILE_JIT));
}

static void order_frames(struct symbolizer *s)
{
	struct profile *p = s->profile;

	s->order = xcalloc(p->nr_frames, sizeof(*s->order));
	s->is_entry = xcalloc(p->nr_frames, sizeof(*s->is_entry));
	for (size_t i = 1; i < p->nr_frames; i++)
		if (is_nameless(p, i))
			s->order[s->nr++] = i;
	if (s->nr)
		qsort_r(s->order, s->nr, sizeof(*s->order), frame_compare, p);
}

static const struct frame *frame_at(const struct symbolizer *s, size_t i)
{
	return profile_frame_at(s->profile, s->order[i]);
}

static struct frame_function function_of(struct symbolizer *s, const struct symbol_function *f)
{
	uint32_t raw = profile_string(s->profile, f->name);
	char *shown;

	if (raw != s->raw) {
		shown = demangle_name(f->name);
		s->raw = raw;
		s->shown = shown ? profile_string(s->profile, shown) : raw;
		free(shown);
	}
	return (struct frame_function){ .name = s->shown,
					.linkage = s->shown == raw ? 0 : raw,
					.file = f->file ? profile_string(s->profile, f->file) : 0,
					.line = f->line };
}

static void name_by_source(struct symbolizer *s, uint32_t frame, const struct symbol_found *found)
{
	struct frame_function chain[FRAME_MAX_FUNCTIONS];

	for (size_t i = 0; i < found->nr; i++)
		chain[i] = function_of(s, &found->chain[i]);
	profile_set_functions(s->profile, frame, chain, found->nr);
}

/* "[libc.so.6+0x28490]", "[vdso+0x6f0]". */
static char *name_of_place(const char *path, uint64_t vaddr)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
	size_t len = strlen(base);

	if (len > 2 && base[0] == '[' && base[len - 1] == ']') {
		base++;
		len -= 2;
	}
	return xasprintf("[%.*s+0x%" PRIx64 "]", (int)len, base, vaddr);
}

/* Code that no source has a name for; start is where its function begins, 0 = not known. */
static void name_by_place(struct symbolizer *s, uint32_t frame, const struct symbol_module *m,
			  uint64_t start)
{
	uint64_t vaddr = profile_frame_at(s->profile, frame)->offset;
	char *name;

	if (m->kind == FRAME_USER && *m->path) {
		if (m->file)
			elf_file_vaddr(m->file, vaddr, &vaddr);
		name = name_of_place(m->path, start ? start : vaddr);
	} else {
		name = xstrdup(m->kind == FRAME_KERNEL ? "[kernel]"
			       : m->kind == FRAME_ANON ? PROFILE_JIT
						       : "[unknown]");
	}
	profile_name_frame(s->profile, frame, profile_string(s->profile, name), 0);
	free(name);
}

/*
 * A stripped libc has no names for the two functions that threads begin in. But both are static
 * functions right in front of an exported one of the same source file: start_thread stands before
 * pthread_create, and __libc_start_call_main before __libc_start_main (seen in glibc 2.36 and
 * 2.41). That is enough to know that a stack is whole, and not enough for a name.
 */
static bool stands_before_entry(struct symbol_sources *sources, uint64_t next)
{
	struct symbol_found f;

	if (!next || !symbol_sources_find(sources, next, &f) || !f.nr)
		return false;
	return !strcmp(f.chain[f.nr - 1].name, "pthread_create") ||
	       !strcmp(f.chain[f.nr - 1].name, "__libc_start_main");
}

/*
 * The module of a name as the kernel writes it, added when it is new. O(kernel modules seen), some
 * dozen.
 */
static uint32_t kernel_module(const struct symbolizer *s, const char *name)
{
	struct profile *p = s->profile;

	for (size_t i = s->first_module; i < p->nr_modules; i++)
		if (!strcmp(profile_str(p, p->modules[i].path), name))
			return i;
	return profile_add_module(p, name);
}

/* Without a symbol all addresses of a function are shown as its start, where that is known. */
static void name_frame(struct symbolizer *s, uint32_t frame, const struct symbol_module *m,
		       struct symbol_sources *sources)
{
	struct symbol_found f;

	symbol_sources_find(sources, profile_frame_at(s->profile, frame)->offset, &f);
	if (f.nr)
		name_by_source(s, frame, &f);
	else
		name_by_place(s, frame, m, f.start);
	if (m->kind == FRAME_KERNEL)
		profile_move_frame(s->profile, frame,
				   kernel_module(s, f.module ? f.module : "[kernel]"), f.offset);
	else if (!f.nr)
		s->is_entry[frame] = stands_before_entry(sources, f.next);
}

/* Names the frames [from, to), which are of one kind and module. */
static void name_run(struct symbolizer *s, const struct elf_file *file, size_t from, size_t to)
{
	const struct profile *p = s->profile;
	uint64_t *addresses = xcalloc(to - from, sizeof(*addresses));
	const struct module *about = &p->modules[frame_at(s, from)->module];
	char *path = xstrdup(profile_str(p, about->path));
	struct symbol_module m = { .kind = frame_at(s, from)->kind,
				   .path = path,
				   .pid = about->kind == MODULE_GENERATED ? about->pid : 0,
				   .file = file,
				   .debug_dir = SYMBOL_DEBUG_DIR,
				   .kernel = s->kernel,
				   .addresses = addresses,
				   .nr = to - from };
	struct symbol_sources sources;

	for (size_t i = from; i < to; i++)
		addresses[i - from] = frame_at(s, i)->offset;
	symbol_sources_open(&sources, &m);
	for (size_t i = from; i < to; i++)
		name_frame(s, s->order[i], &m, &sources);
	symbol_sources_close(&sources);
	free(addresses);
	free(path);
}

static struct elf_file *file_open(const struct symbol_file *files, const struct frame *f)
{
	const struct symbol_file *file = files ? &files[f->module] : NULL;

	if (!file || f->kind != FRAME_USER)
		return NULL;
	if (file->fd >= 0)
		return elf_file_open(file->fd);
	return file->image ? elf_file_open_image(file->image, file->image_sz) : NULL;
}

static void take_build_id(struct module *m, const struct elf_file *file)
{
	_Static_assert(sizeof(m->build_id) == sizeof(file->build_id), "copied as a whole");
	if (!file || !file->build_id_len)
		return;
	memcpy(m->build_id, file->build_id, sizeof(m->build_id));
	m->build_id_len = file->build_id_len;
}

/* One pass over the frames, and so over the modules: a file is opened once. */
static void name_frames(struct symbolizer *s, const struct symbol_file *files)
{
	size_t to;

	for (size_t from = 0; from < s->nr; from = to) {
		const struct frame first = *frame_at(s, from);
		struct elf_file *file = file_open(files, &first);

		for (to = from + 1; to < s->nr && frame_at(s, to)->kind == first.kind &&
				    frame_at(s, to)->module == first.module;)
			to++;
		take_build_id(&s->profile->modules[first.module], file);
		name_run(s, file, from, to);
		elf_file_close(file);
	}
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

static bool frame_is_entry(const struct profile *p, uint32_t frame)
{
	return profile_frame_at(p, frame)->kind == FRAME_USER &&
	       bsearch(profile_frame_linkage(p, frame), entries, sizeof(entries) / sizeof(*entries),
		       sizeof(*entries), entry_compare);
}

static bool stack_is_rooted(const struct symbolizer *sym, uint32_t stack)
{
	const struct profile *p = sym->profile;
	const struct stack *s = &p->stacks[stack];
	uint32_t root = profile_stack_root(p, stack);

	if (!s->nr)
		return false;
	if (sym->is_entry[root])
		return true;
	if (profile_frame_at(p, root)->kind == FRAME_KERNEL)
		return s->end != UNWIND_END_DEPTH;
	return frame_is_entry(p, root) || s->end == UNWIND_END_CFI_ROOT ||
	       s->end == UNWIND_END_ENTRY || (s->end == UNWIND_END_ROOT && s->nr > 1);
}

static void mark_rooted(struct symbolizer *s)
{
	struct profile *p = s->profile;

	for (size_t i = 1; i < p->nr_stacks; i++)
		if (stack_is_rooted(s, i))
			p->stacks[i].flags |= STACK_ROOTED;
}

void symbolizer_run(struct profile *p, const struct symbol_file *files,
		    const struct symbol_kernel *kernel)
{
	struct symbolizer s = { .profile = p, .kernel = kernel, .first_module = p->nr_modules };

	order_frames(&s);
	name_frames(&s, files);
	mark_rooted(&s);
	free(s.order);
	free(s.is_entry);
}

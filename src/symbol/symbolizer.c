/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Frames sorted by kind, module and address, then one module after the other through the sources of
 * names.
 */
#include "symbol/symbolizer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "elf/elf_file.h"
#include "profile/begins.h"
#include "profile/missing.h"
#include "symbol/cache_dir.h"
#include "symbol/debug_image.h"
#include "symbol/debuginfod.h"
#include "symbol/demangle.h"
#include "symbol/kept.h"
#include "symbol/lacking.h"
#include "symbol/rooted.h"
#include "symbol/symbolizer_parts.h"

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
		s->has_python |= profile_frame_at(p, i)->kind == FRAME_PYTHON;
	for (size_t i = 1; i < p->nr_frames; i++)
		if (is_nameless(p, i) && (!s->wanted || s->wanted[i]))
			s->order[s->nr++] = i;
	if (s->nr)
		qsort_r(s->order, s->nr, sizeof(*s->order), frame_compare, p);
}

const struct frame *symbolizer_frame(const struct symbolizer *s, size_t i)
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

/*
 * What calls CPython's evaluator, in whose place functions of Python are, is a part of the
 * evaluator, wherever the compiler puts it.
 */
static bool is_of_evaluator(const struct symbolizer *s, const struct symbol_found *found)
{
	return s->has_python && found->nr > 1 && !strcmp(found->chain[0].name, "_PyEval_EvalFrame");
}

static void name_by_source(struct symbolizer *s, uint32_t frame, const struct symbol_found *found)
{
	struct frame_function chain[FRAME_MAX_FUNCTIONS];
	size_t first = is_of_evaluator(s, found);

	for (size_t i = first; i < found->nr; i++) {
		chain[i] = function_of(s, &found->chain[i]);
		if (found->chain[i].begin)
			profile_add_begin(
				s->profile,
				&(struct begin){ profile_frame_at(s->profile, frame)->module,
						 function_key(&chain[i]), found->chain[i].begin });
	}
	profile_set_functions(s->profile, frame, chain + first, found->nr - first);
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

/* Code that no source has a name for; place is an address of its file, as it is linked. */
static void name_by_place(struct symbolizer *s, uint32_t frame, const struct symbol_module *m,
			  uint64_t place)
{
	char *name;

	if (m->kind == FRAME_USER && *m->path)
		name = name_of_place(m->path, place);
	else
		name = xstrdup(m->kind == FRAME_KERNEL	 ? "[kernel]"
			       : m->kind == FRAME_ANON	 ? PROFILE_JIT
			       : m->kind == FRAME_PYTHON ? PROFILE_PYTHON
							 : "[unknown]");
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

static bool is_sigreturn(const struct symbol_module *m, uint64_t address)
{
	static const uint8_t code[] = { 0x48, 0xc7, 0xc0, 15, 0, 0, 0, /* mov $15, %rax */
					0x0f, 0x05 };		       /* syscall */
	uint8_t bytes[sizeof(code)];

	return m->file && m->file->header.e_machine == EM_X86_64 &&
	       elf_file_read(m->file, address, bytes, sizeof(bytes)) == sizeof(bytes) &&
	       !memcmp(bytes, code, sizeof(code));
}

/*
 * Signal handlers return to the very start of a function that nobody calls, as the vDSO of aarch64
 * and the C library of x86-64 have one. Frames that are returned to are looked up in front of it,
 * where nothing may be. That of x86-64 is known by its code, too, which debuggers go by: the name
 * is that of all C libraries.
 */
static void ask_behind(struct symbol_sources *sources, const struct symbol_module *m,
		       uint64_t address, struct symbol_found *found)
{
	struct symbol_found f = {};
	const char *name;

	if (symbol_sources_find(sources, address + 1, &f) && f.nr) {
		name = f.chain[f.nr - 1].name;
		if (strstr(name, "sigreturn") || !strcmp(name, "__restore_rt"))
			*found = f;
	} else if (is_sigreturn(m, address + 1)) {
		*found = (struct symbol_found){ .nr = 1, .chain[0].name = "__restore_rt" };
	}
}

/* Without a symbol all addresses of a function are shown as its start, where that is known. */
void symbolizer_ask(struct symbol_sources *sources, const struct symbol_module *m, uint64_t address,
		    bool is_frame, struct answer *a)
{
	*a = (struct answer){ .place = address };
	symbol_sources_find(sources, address, &a->found);
	if (!a->found.nr && m->kind != FRAME_KERNEL && is_frame)
		ask_behind(sources, m, address, &a->found);
	if (m->file)
		elf_file_vaddr(m->file, address, &a->place);
	if (a->found.nr || m->kind == FRAME_KERNEL)
		return;
	if (a->found.start)
		a->place = a->found.start;
	a->is_entry = stands_before_entry(sources, a->found.next);
}

void symbolizer_take(struct symbolizer *s, uint32_t frame, const struct symbol_module *m,
		     const struct answer *a)
{
	if (a->found.nr)
		name_by_source(s, frame, &a->found);
	else
		name_by_place(s, frame, m, a->place);
	if (m->kind == FRAME_KERNEL)
		profile_move_frame(s->profile, frame,
				   kernel_module(s, a->found.module ? a->found.module : "[kernel]"),
				   a->found.offset);
	s->is_entry[frame] = a->is_entry;
}

void symbolizer_note_missing(struct symbolizer *s, const struct symbol_missing *m, uint32_t module)
{
	char *path = xstrdup(profile_str(s->profile, s->profile->modules[module].path));

	if (*m->alt || *m->dwo)
		missing_note(s->profile,
			     &(struct missing){ path, (char *)m->alt, (char *)m->dwo, m->nr_dwo });
	if (m->unread == DEBUG_IMAGE_PACKED || m->unread == DEBUG_IMAGE_LARGE)
		lacks_add(&s->lacks,
			  m->unread == DEBUG_IMAGE_PACKED ? LACK_DWARF_PACKED : LACK_DWARF_LARGE,
			  path, NULL);
	free(path);
}

/* The kernel, the vDSO, and what has no file: there is nothing that a stranger wrote. */
static void name_here(struct symbolizer *s, const struct symbol_module *m, size_t from, size_t to)
{
	struct symbol_sources sources;
	struct answer a;

	symbol_sources_open(&sources, m);
	for (size_t i = from; i < to; i++) {
		symbolizer_ask(&sources, m, m->addresses[i - from], true, &a);
		symbolizer_take(s, s->order[i], m, &a);
	}
	symbol_sources_close(&sources);
}

/* Names the frames [from, to), which are of one kind and module. */
static void name_run(struct symbolizer *s, const struct symbol_file *file, size_t from, size_t to)
{
	const struct profile *p = s->profile;
	uint64_t *addresses = xcalloc(to - from, sizeof(*addresses));
	const struct module *about = &p->modules[symbolizer_frame(s, from)->module];
	char *path = xstrdup(profile_str(p, about->path));
	struct symbol_module m = { .kind = symbolizer_frame(s, from)->kind,
				   .path = path,
				   .pid = about->kind == MODULE_GENERATED ? about->pid : 0,
				   .jit = file ? file->jit : NULL,
				   .lines = s->lines,
				   .kernel = s->kernel,
				   .addresses = addresses,
				   .nr = to - from };
	bool is_mapped = m.kind == FRAME_USER && file;
	struct elf_file *image = NULL;

	for (size_t i = from; i < to; i++)
		addresses[i - from] = symbolizer_frame(s, i)->offset;
	if (is_mapped && file->fd < 0 && file->image)
		image = elf_file_open_image(file->image, file->image_sz);
	m.file = image;
	if ((is_mapped && file->fd >= 0) || (m.kind == FRAME_ANON && m.jit))
		symbolizer_name_file(s, &m, file, addresses, from, to);
	else
		name_here(s, &m, from, to);
	elf_file_close(image);
	free(addresses);
	free(path);
}

/* Frames of one kind and module. */
struct run {
	size_t from, to;
	uint64_t wanted;
};

/* Stable: those that matter alike keep their order. */
static int run_compare(const void *pa, const void *pb)
{
	const struct run *a = pa, *b = pb;

	if (a->wanted != b->wanted)
		return a->wanted > b->wanted ? -1 : 1;
	return a->from < b->from ? -1 : a->from > b->from;
}

static struct run *find_runs(const struct symbolizer *s, size_t *nr)
{
	struct run *runs = NULL, run;
	size_t cap = 0;

	for (*nr = 0, run.to = 0; run.to < s->nr;) {
		const struct frame *first = symbolizer_frame(s, run.to);

		run = (struct run){ run.to, run.to, 0 };
		do
			run.wanted += s->wanted ? s->wanted[s->order[run.to]] : 0;
		while (++run.to < s->nr && symbolizer_frame(s, run.to)->kind == first->kind &&
		       symbolizer_frame(s, run.to)->module == first->module);
		runs = xgrow(runs, *nr, &cap, sizeof(*runs));
		runs[(*nr)++] = run;
	}
	return runs;
}

/* One pass over the frames, and so over the modules: a file is opened once. */
static void name_frames(struct symbolizer *s, const struct symbol_file *files)
{
	size_t nr;
	struct run *runs = find_runs(s, &nr);

	if (nr)
		qsort(runs, nr, sizeof(*runs), run_compare);
	for (size_t i = 0; i < nr; i++)
		name_run(s, files ? &files[symbolizer_frame(s, runs[i].from)->module] : NULL,
			 runs[i].from, runs[i].to);
	free(runs);
}

static void end_keeping(struct symbolizer *s)
{
	kept_end(s->kept);
	log_info(
		"names of %zu places: %zu known from before, %zu files read in %s, %zu places left "
		"for later; %s are kept",
		s->nr, s->nr_known, s->nr_read, text_ns(s->cost.cpu_ns), s->nr_late,
		text_bytes(kept_bytes(s->kept)));
}

static void note_servers(struct symbolizer *s)
{
	char *servers = debuginfod_servers();

	lacks_add(&s->lacks, LACK_SERVERS, "", servers);
	free(servers);
}

/* Of a recording that goes on, modules are asked again and again. */
bool symbolizer_is_described(const struct profile *p, uint32_t module)
{
	for (size_t i = 0; i < p->nr_linked; i++)
		if (p->linked[i].module == module)
			return true;
	return false;
}

/* "tokio 1.54.1 in /srv/app", of several programs one behind the other. */
void symbolizer_describe(struct symbolizer *s, const struct answers_head *head, uint32_t module)
{
	struct module *m = &s->profile->modules[module];

	if (symbolizer_is_described(s->profile, module))
		return;
	if (m->kind == MODULE_FILE && head->build_id_len) {
		memcpy(m->build_id, head->build_id, sizeof(m->build_id));
		m->build_id_len = head->build_id_len;
	}
	for (int i = 0; m->kind == MODULE_FILE && i < head->nr_linked && i < ANSWERS_MAX_LINKED;
	     i++) {
		struct linked l = head->linked[i];

		l.module = module;
		profile_add_linked(s->profile, &l);
	}
	crate_version_note(s->profile, &s->profile->modules[module], head->tokio);
	if (m->kind == MODULE_FILE)
		lacking_note(&s->lacks, head, profile_str(s->profile, m->path));
}

void symbolizer_run(struct profile *p, const struct symbol_file *files,
		    const struct symbol_kernel *kernel, const struct symbol_options *options)
{
	struct symbol_lines lines = { .no_inline = options->no_inline,
				      .deadline_ns = now_ns() + options->time_ns,
				      .cache_dir = -1 };
	struct symbolizer s = { .profile = p,
				.kernel = kernel,
				.lines = options->time_ns ? &lines : NULL,
				.kept = options->time_ns ? NULL : options->kept,
				.wanted = options->wanted,
				.may_read = options->may_read,
				.late = options->late,
				.hurry = options->hurry,
				.arg = options->arg,
				.until_ns = options->until_ns,
				.first_module = p->nr_modules };
	size_t nr_begins = p->nr_begins;

	if (s.until_ns && s.until_ns < lines.deadline_ns)
		lines.deadline_ns = s.until_ns;
	s.left = s.kept ? kept_left(s.kept) : &s.own_left;
	if (options->debuginfod)
		s.servers_ns = now_ns() + SYMBOL_SERVERS_NS;
	if (s.lines && files && !options->no_cache)
		lines.cache_dir = cache_dir_open();
	order_frames(&s);
	name_frames(&s, files);
	if (s.kept)
		end_keeping(&s);
	if (p->nr_begins > nr_begins)
		profile_sort_begins(p);
	rooted_mark(p, s.is_entry);
	if (options->debuginfod)
		note_servers(&s);
	lacks_move(&s.lacks, p);
	p->meta.frames_late = lines.nr_late + s.nr_hurried + s.nr_given_up;
	p->meta.readers_ns = s.cost.cpu_ns;
	p->meta.readers_bytes = s.cost.bytes;
	if (lines.cache_dir >= 0)
		close(lines.cache_dir);
	reader_left_release(&s.own_left);
	free(s.order);
	free(s.is_entry);
}

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
#include "elf/elf_file.h"
#include "profile/begins.h"
#include "reader/fork.h"
#include "symbol/answers.h"
#include "symbol/cache_dir.h"
#include "symbol/demangle.h"
#include "symbol/rooted.h"

#define NAMES_NS 3000000000ull /* for the names of one file, besides its lines */
#define IDLE_NS	 500000000ull  /* that it may wait for a disk, say */
#define TIRED_NS 100000000ull  /* when several took longer */
#define TIRED	 3

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
	struct symbol_lines *lines; /* NULL = neither lines nor inlined calls */
	uint64_t servers_ns;	    /* until when servers may be asked, 0 = never */
	size_t first_module;	    /* that was not there before: those of the kernel */
	uint32_t raw;		    /* the name seen last, as the symbol table has it */
	uint32_t shown;		    /* and what it was demangled to */
	struct reader_cost cost;    /* of reading */
	uint32_t nr_hung;	    /* files whose names were not to be had in time */
	uint32_t nr_told;	    /* and those that had none at all */
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

	for (size_t i = 0; i < found->nr; i++) {
		chain[i] = function_of(s, &found->chain[i]);
		if (found->chain[i].begin)
			profile_add_begin(
				s->profile,
				&(struct begin){ profile_frame_at(s->profile, frame)->module,
						 function_key(&chain[i]), found->chain[i].begin });
	}
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

/*
 * Signal handlers return to the very start of a function that nobody calls, as the vDSO of aarch64
 * has one. Frames that are returned to are looked up in front of it, where nothing may be.
 */
static void ask_behind(struct symbol_sources *sources, uint64_t address, struct symbol_found *found)
{
	struct symbol_found f = {};

	if (symbol_sources_find(sources, address + 1, &f) && f.nr &&
	    strstr(f.chain[f.nr - 1].name, "sigreturn"))
		*found = f;
}

/* Without a symbol all addresses of a function are shown as its start, where that is known. */
static void ask_sources(struct symbol_sources *sources, const struct symbol_module *m,
			uint64_t address, struct answer *a)
{
	*a = (struct answer){ .place = address };
	symbol_sources_find(sources, address, &a->found);
	if (!a->found.nr && m->kind != FRAME_KERNEL)
		ask_behind(sources, address, &a->found);
	if (m->file)
		elf_file_vaddr(m->file, address, &a->place);
	if (a->found.nr || m->kind == FRAME_KERNEL)
		return;
	if (a->found.start)
		a->place = a->found.start;
	a->is_entry = stands_before_entry(sources, a->found.next);
}

static void take_answer(struct symbolizer *s, uint32_t frame, const struct symbol_module *m,
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

/* The kernel, the vDSO, and what has no file: there is nothing that a stranger wrote. */
static void name_here(struct symbolizer *s, const struct symbol_module *m, size_t from, size_t to)
{
	struct symbol_sources sources;
	struct answer a;

	symbol_sources_open(&sources, m);
	for (size_t i = from; i < to; i++) {
		ask_sources(&sources, m, m->addresses[i - from], &a);
		take_answer(s, s->order[i], m, &a);
	}
	symbol_sources_close(&sources);
}

/* What servers take is not taken from the time for reading. */
static void open_debug_files(struct symbolizer *s, struct debug_files *d,
			     const struct elf_file *file, const char *path)
{
	uint64_t begin_ns = now_ns();

	debug_files_open(d, file, path, SYMBOL_DEBUG_DIR);
	if (!s->servers_ns)
		return;
	debug_files_fetch(d, file, s->servers_ns);
	if (s->lines)
		s->lines->deadline_ns += now_ns() - begin_ns;
}

/* --- files of processes: read by a copy of ourselves --- */

struct job {
	struct symbolizer *symbolizer;
	struct symbol_module *module; /* without its files */
	int fd;			      /* of its file, -1 = none */
	struct debug_files debug_files;
};

static void answer_all(const struct symbol_module *m, struct answers *to)
{
	struct symbol_sources sources;
	struct answer a;

	symbol_sources_open(&sources, m);
	for (size_t i = 0; i < m->nr; i++) {
		ask_sources(&sources, m, m->addresses[i], &a);
		answers_put(to, &a);
	}
	symbol_sources_close(&sources);
}

/* In the copy, which looks at the headers only before it gives up its rights. */
static void open_module(void *arg)
{
	struct job *j = arg;
	struct symbol_module *m = j->module;

	if (j->fd < 0)
		return;
	m->file = elf_file_open(j->fd);
	if (!m->file)
		return;
	open_debug_files(j->symbolizer, &j->debug_files, m->file, m->path);
	m->debug_files = &j->debug_files;
}

/* Where its code is linked to. */
static void list_linked(const struct elf_file *f, struct answers_head *head)
{
	const Elf64_Phdr *s;

	for (size_t i = 0; i < f->nr_segments && head->nr_linked < ANSWERS_MAX_LINKED; i++) {
		s = &f->segments[i];
		if (s->p_type == PT_LOAD && s->p_flags & PF_X)
			head->linked[head->nr_linked++] =
				(struct linked){ s->p_offset, s->p_filesz, s->p_vaddr, 0, 0 };
	}
}

static ssize_t answer_module(void *arg, void *bytes, size_t max)
{
	const struct job *j = arg;
	const struct symbol_module *m = j->module;
	const struct symbol_lines *lines = j->symbolizer->lines;
	struct answers to = { bytes, 0, max };
	struct answers_head head = {};

	answers_begin(&to, &head);
	answer_all(m, &to);
	if (m->file) {
		memcpy(head.build_id, m->file->build_id, sizeof(head.build_id));
		head.build_id_len = m->file->build_id_len;
		list_linked(m->file, &head);
		crate_version(m->file, head.tokio);
	}
	head.nr_late = lines ? lines->nr_late : 0;
	head.deadline_ns = lines ? lines->deadline_ns : 0;
	memcpy(bytes, &head, sizeof(head));
	return to.nr;
}

static uint64_t time_for(const struct symbolizer *s)
{
	uint64_t now = now_ns(), ns = s->nr_hung < TIRED ? NAMES_NS : TIRED_NS;

	if (s->lines && s->lines->deadline_ns > now)
		ns += s->lines->deadline_ns - now;
	if (s->servers_ns > now)
		ns += s->servers_ns - now;
	return ns;
}

/* "tokio 1.54.1 in /srv/app", of several programs one behind the other. */
static void take_head(struct symbolizer *s, const struct answers_head *head, uint32_t module)
{
	struct module *m = &s->profile->modules[module];

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
	if (!s->lines)
		return;
	s->lines->nr_late = head->nr_late;
	if (head->deadline_ns > s->lines->deadline_ns && s->servers_ns)
		s->lines->deadline_ns = head->deadline_ns;
}

static void tell_hung(struct symbolizer *s, const char *path, int err)
{
	s->nr_hung += err == -ETIMEDOUT;
	if (reader_tells(&s->nr_told))
		log_warn("%s: no names: %s", path,
			 err == -ETIMEDOUT ? "reading it took too long"
			 : err == -EPIPE   ? "the process that read it died"
					   : strerror(-err));
}

/*
 * Somebody may have killed it, or it fell over what it read: then most likely over debug
 * information.
 */
static int run_copy(const struct reader_copy *c, struct symbol_module *m, struct reader_answer *got,
		    struct reader_cost *cost)
{
	int err = reader_copy_run(c, got, cost);

	if (err == -EPIPE)
		err = reader_copy_run(c, got, cost);
	if (err != -EPIPE)
		return err;
	m->lines = NULL;
	return reader_copy_run(c, got, cost);
}

/* Of what is missing in the answers only the place is known. */
static void name_by_copy(struct symbolizer *s, struct symbol_module *m, int fd, size_t from,
			 size_t to)
{
	struct job j = { .symbolizer = s, .module = m, .fd = fd };
	const struct reader_copy c = { .prepare = open_module,
				       .run = answer_module,
				       .arg = &j,
				       .folder = s->lines ? s->lines->cache_dir : -1,
				       .timeout_ns = time_for(s),
				       .idle_ns = s->servers_ns	       ? 0
						  : s->nr_hung < TIRED ? IDLE_NS
								       : TIRED_NS };
	struct answers_head head;
	struct reader_answer got;
	int err = run_copy(&c, m, &got, &s->cost);
	struct answers answers = { got.bytes, 0, got.sz };
	bool more = !err && answers_read(&answers, &head);

	if (more)
		take_head(s, &head, frame_at(s, from)->module);
	else
		tell_hung(s, m->path, err ? err : -EBADMSG);
	for (size_t i = from; i < to; i++) {
		struct answer a = {};

		more = more && answers_next(&answers, &a);
		if (!more)
			a = (struct answer){ .place = frame_at(s, i)->offset };
		take_answer(s, s->order[i], m, &a);
	}
	free(got.bytes);
}

/* Names the frames [from, to), which are of one kind and module. */
static void name_run(struct symbolizer *s, const struct symbol_file *file, size_t from, size_t to)
{
	const struct profile *p = s->profile;
	uint64_t *addresses = xcalloc(to - from, sizeof(*addresses));
	const struct module *about = &p->modules[frame_at(s, from)->module];
	char *path = xstrdup(profile_str(p, about->path));
	struct symbol_module m = { .kind = frame_at(s, from)->kind,
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
		addresses[i - from] = frame_at(s, i)->offset;
	if (is_mapped && file->fd < 0 && file->image)
		image = elf_file_open_image(file->image, file->image_sz);
	m.file = image;
	if ((is_mapped && file->fd >= 0) || (m.kind == FRAME_ANON && m.jit))
		name_by_copy(s, &m, is_mapped ? file->fd : -1, from, to);
	else
		name_here(s, &m, from, to);
	elf_file_close(image);
	free(addresses);
	free(path);
}

/* One pass over the frames, and so over the modules: a file is opened once. */
static void name_frames(struct symbolizer *s, const struct symbol_file *files)
{
	size_t to;

	for (size_t from = 0; from < s->nr; from = to) {
		const struct frame first = *frame_at(s, from);

		for (to = from + 1; to < s->nr && frame_at(s, to)->kind == first.kind &&
				    frame_at(s, to)->module == first.module;)
			to++;
		name_run(s, files ? &files[first.module] : NULL, from, to);
	}
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
				.first_module = p->nr_modules };

	if (options->debuginfod)
		s.servers_ns = now_ns() + SYMBOL_SERVERS_NS;
	if (s.lines && files && !options->no_cache)
		lines.cache_dir = cache_dir_open();
	order_frames(&s);
	name_frames(&s, files);
	profile_sort_begins(p);
	rooted_mark(p, s.is_entry);
	p->meta.frames_late = lines.nr_late;
	p->meta.readers_ns = s.cost.cpu_ns;
	p->meta.readers_bytes = s.cost.bytes;
	if (lines.cache_dir >= 0)
		close(lines.cache_dir);
	free(s.order);
	free(s.is_entry);
}

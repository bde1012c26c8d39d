/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Machine code for annotations. Files are those of strangers: headers, symbols and code are read
 * with bounds, and their DWARF by the symbolizer, in a process without rights. For that all
 * instructions become frames of a profile of their own, which has it name them.
 */
#include "cmd/annotate_parts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/text.h"
#include "symbol/symbolizer.h"
#include "uprobe/functions.h"
#include "uprobe/listing.h"

#define LINES_NS   3000000000ull
#define GAP_BYTES  4096 /* of code without symbols: samples that are closer belong together */
#define INSN_BYTES 16
#define MAX_INSNS  (4u << 20)

/* A module's file, once it is needed. */
struct code_file {
	bool tried;
	struct functions *functions; /* NULL: it is of no use */
	char *why;		     /* that, as a sentence */
	uint32_t module;	     /* of code.lines */
};

/* An instruction that was found, until its line is known. */
struct found {
	struct annotation *of;
	struct annotation_insn insn;
	uint32_t text, frame; /* of code.lines */
};

struct code {
	const struct profile *p;
	const char *root;
	struct code_file *files; /* by module of p */
	struct profile *lines;
	struct symbol_file *opened; /* by module of lines */
	size_t nr_opened, cap_opened;
	struct found *found;
	size_t nr, cap;
	/* What is being listed. */
	struct annotation *of;
	const struct code_file *file;
	uint32_t module;
	uint64_t end; /* of the addresses that were listed */
};

/* --- files --- */

static bool is_other(const struct module *m, const struct elf_file *f)
{
	return m->build_id_len && (m->build_id_len != f->build_id_len ||
				   memcmp(m->build_id, f->build_id, m->build_id_len));
}

/* Without a build-id only its time says whether it is still the file that ran. */
static bool is_newer(const struct code *c, const struct elf_file *f)
{
	uint64_t start_ns = c->p->meta.start_ns + c->p->meta.duration_ns;
	struct stat st;

	return start_ns && !fstat(f->fd, &st) &&
	       (uint64_t)st.st_mtim.tv_sec > start_ns / 1000000000;
}

static char *why_not(const struct code *c, const struct module *m, const char *path,
		     const struct elf_file *f)
{
	char *shown = text_cleaned(path), *why = NULL;

	if (!f)
		why = xasprintf("%s cannot be read (%s), so instructions are not shown", shown,
				errno == ENOEXEC ? "it is no ELF file" : strerror(errno));
	else if (is_other(m, f))
		why = xasprintf("%s is another build than the one that was recorded, so "
				"instructions are not shown",
				shown);
	else if (!m->build_id_len && is_newer(c, f))
		why = xasprintf("%s has no build-id and is newer than the recording, so "
				"instructions are not shown",
				shown);
	free(shown);
	return why;
}

static void open_file(struct code *c, uint32_t module, struct code_file *file)
{
	const struct module *m = &c->p->modules[module];
	char *path = xasprintf("%s%s", c->root, profile_str(c->p, m->path));
	const struct elf_file *f;

	file->functions = functions_open(path);
	f = file->functions ? functions_file(file->functions) : NULL;
	file->why = why_not(c, m, path, f);
	if (file->why) {
		functions_free(file->functions);
		file->functions = NULL;
	} else {
		file->module = profile_add_module(c->lines, path);
		while (c->nr_opened <= file->module) {
			c->opened =
				xgrow(c->opened, c->nr_opened, &c->cap_opened, sizeof(*c->opened));
			c->opened[c->nr_opened++] = (struct symbol_file){ .fd = -1 };
		}
		c->opened[file->module].fd = f->fd;
	}
	free(path);
}

static const struct code_file *file_of(struct code *c, uint32_t module)
{
	struct code_file *file = &c->files[module];

	if (!file->tried)
		open_file(c, module, file);
	file->tried = true;
	return file;
}

/* --- instructions --- */

static void take_insn(void *arg, const struct listing_insn *insn)
{
	struct code *c = arg;

	c->found = xgrow(c->found, c->nr, &c->cap, sizeof(*c->found));
	c->found[c->nr++] = (struct found){
		.of = c->of,
		.insn = { .module = c->module,
			  .offset = insn->offset,
			  .address = insn->address,
			  .len = insn->len },
		.text = profile_string(c->lines, insn->text),
		.frame = profile_frame(c->lines, FRAME_USER, c->file->module, insn->offset),
	};
}

static void list(struct code *c, uint64_t address, uint64_t sz)
{
	int err;

	if (address < c->end) { /* symbols may overlap */
		sz = sz > c->end - address ? sz - (c->end - address) : 0;
		address = c->end;
	}
	if (!sz || c->nr > MAX_INSNS)
		return;
	err = listing_for_each(functions_file(c->file->functions), address, sz, take_insn, c);
	if (err == -EOPNOTSUPP)
		annotation_note(c->of, "instructions of this machine are not known");
	else if (sz > LISTING_MAX_BYTES)
		annotation_note(c->of, "of code only the first %u MB are shown",
				LISTING_MAX_BYTES >> 20);
	c->end = address + sz;
}

/* How far samples reach that no symbol covers: from one to the next, while that is near. */
static uint64_t end_without_symbol(const struct code *c, const uint32_t *frames, size_t nr,
				   uint64_t address)
{
	uint64_t end = address + 1, next;

	for (size_t i = 1; i < nr; i++) {
		const struct frame *f = profile_frame_at(c->p, frames[i]);

		if (f->module != c->module ||
		    !elf_file_vaddr(functions_file(c->file->functions), f->offset, &next) ||
		    next < end || next - end > GAP_BYTES)
			break;
		end = next + 1;
	}
	return end;
}

/* The code around the first of some frames, unless it was listed with one before. */
static void list_around(struct code *c, const uint32_t *frames, size_t nr)
{
	const struct frame *f = profile_frame_at(c->p, frames[0]);
	const struct uprobe_function *function;
	uint64_t address;

	if (!elf_file_vaddr(functions_file(c->file->functions), f->offset, &address) ||
	    address < c->end)
		return;
	function = functions_at(c->file->functions, address);
	if (function)
		list(c, function->address, function->size);
	else
		list(c, address, end_without_symbol(c, frames, nr, address) - address + INSN_BYTES);
}

static bool has_file(const struct profile *p, const struct frame *f)
{
	return f->kind == FRAME_USER && *profile_str(p, p->modules[f->module].path) == '/';
}

static void list_function(struct code *c, struct annotation *a)
{
	size_t nr;
	const uint32_t *frames = annotation_frames(a, &nr);

	c->of = a;
	c->module = 0;
	for (size_t i = 0; i < nr; i++) {
		const struct frame *f = profile_frame_at(c->p, frames[i]);

		if (!has_file(c->p, f))
			continue;
		if (f->module != c->module)
			c->end = 0;
		c->module = f->module;
		c->file = file_of(c, f->module);
		if (c->file->functions)
			list_around(c, frames + i, nr - i);
		else
			annotation_note(a, "%s", c->file->why);
	}
}

/* --- lines --- */

/* Of code around an inlined function only what was made of it. */
static bool is_wanted(const struct code *c, const struct found *f)
{
	const struct cost_function *function = &f->of->function;
	const char *name = profile_str(c->p, function->name);

	if (!function->inlined)
		return true;
	for (uint32_t i = 0; i + 1 < profile_frame_functions(c->lines, f->frame); i++) {
		struct frame_function of = profile_frame_function(c->lines, f->frame, i);

		if (!strcmp(profile_str(c->lines, of.name), name))
			return true;
	}
	return false;
}

static void add_found(const struct code *c)
{
	for (size_t i = 0; i < c->nr; i++) {
		const struct found *f = &c->found[i];

		if (is_wanted(c, f))
			annotation_add_insn(f->of, &f->insn, profile_str(c->lines, f->text),
					    c->lines, f->frame);
	}
}

static void code_release(struct code *c)
{
	for (size_t i = 0; i < c->p->nr_modules; i++) {
		functions_free(c->files[i].functions);
		free(c->files[i].why);
	}
	free(c->files);
	free(c->found);
	free(c->opened);
	profile_free(c->lines);
}

void annotate_code(struct annotations *all, const char *root)
{
	static const struct symbol_options options = { .time_ns = LINES_NS };
	struct code c = { .p = all->profile, .root = root, .lines = profile_new() };

	c.files = xcalloc(c.p->nr_modules, sizeof(*c.files));
	for (size_t i = 0; i < all->nr; i++)
		list_function(&c, all->v[i]);
	if (c.nr)
		symbolizer_run(c.lines, c.opened, NULL, &options);
	add_found(&c);
	code_release(&c);
}

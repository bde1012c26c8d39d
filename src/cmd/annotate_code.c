/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Machine code for annotations. Files are those of strangers: a copy of ourselves without rights
 * reads their headers, symbols and code, and answers with rows, an instruction or a note each;
 * their DWARF is read by the symbolizer's. For that all instructions become frames of a profile of
 * their own, which has it name them.
 */
#include "cmd/annotate_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/text.h"
#include "reader/fork.h"
#include "symbol/symbolizer.h"
#include "uprobe/functions.h"
#include "uprobe/listing.h"

#define LINES_NS   3000000000ull
#define LIST_NS	   20000000000ull
#define HANGS_NS   3000000000ull /* a disk answers before */
#define GAP_BYTES  4096 /* of code without symbols: samples that are closer belong together */
#define INSN_BYTES 16
#define NOTES_ROOM 65536 /* of the answer, that instructions leave to notes */

/* What the copy answers; text_len bytes follow. */
struct row {
	uint32_t of;	 /* index of the annotation */
	uint32_t module; /* of its profile */
	uint32_t len;	 /* of the instruction in bytes; 0: the text is a note */
	uint32_t text_len;
	uint64_t offset, address;
};

/* A module's file, once it is needed, in the copy. */
struct code_file {
	bool tried;
	struct functions *functions; /* NULL: it is of no use */
	char *why;		     /* that, as a sentence */
};

/* What is being listed, in the copy. */
struct code {
	const struct annotations *all;
	const struct profile *p;
	const char *root;
	struct code_file *files; /* by module of p */
	uint8_t *answer, *answer_end;
	bool is_full;
	uint32_t of; /* index of the annotation */
	const struct code_file *file;
	uint32_t module;
	uint64_t end; /* of the addresses that were listed */
};

/* An instruction that was found, until its line is known. */
struct found {
	struct annotation *of;
	struct annotation_insn insn;
	uint32_t text, frame; /* of lines */
};

struct lines {
	struct annotations *all;
	const char *root;
	struct profile *lines;
	uint32_t *modules; /* of lines, by module of the annotations' profile; 0 = not yet */
	struct symbol_file *opened; /* by module of lines */
	size_t nr_opened, cap_opened;
	struct found *found;
	size_t nr, cap;
};

/* --- the answer --- */

static void put_row(struct code *c, struct row row, const char *text)
{
	size_t room = row.len ? NOTES_ROOM : 0;

	row.text_len = strlen(text);
	if ((size_t)(c->answer_end - c->answer) < sizeof(row) + row.text_len + room) {
		c->is_full = true;
		return;
	}
	memcpy(c->answer, &row, sizeof(row));
	memcpy(c->answer + sizeof(row), text, row.text_len);
	c->answer += sizeof(row) + row.text_len;
}

static void put_note(struct code *c, const char *note)
{
	put_row(c, (struct row){ .of = c->of, .module = c->module }, note);
}

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

	put_row(c,
		(struct row){ .of = c->of,
			      .module = c->module,
			      .len = insn->len,
			      .offset = insn->offset,
			      .address = insn->address },
		insn->text);
}

static void list(struct code *c, uint64_t address, uint64_t sz)
{
	char note[64];
	int err;

	if (address < c->end) { /* symbols may overlap */
		sz = sz > c->end - address ? sz - (c->end - address) : 0;
		address = c->end;
	}
	if (!sz || c->is_full)
		return;
	err = listing_for_each(functions_file(c->file->functions), address, sz, take_insn, c);
	snprintf(note, sizeof(note), "of code only the first %u MB are shown",
		 LISTING_MAX_BYTES >> 20);
	if (err == -EOPNOTSUPP)
		put_note(c, "instructions of this machine are not known");
	else if (sz > LISTING_MAX_BYTES)
		put_note(c, note);
	if (c->is_full)
		put_note(c, "not all of the code is shown: it is too much");
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

static void list_function(struct code *c, uint32_t of)
{
	size_t nr;
	const uint32_t *frames = annotation_frames(c->all->v[of], &nr);

	c->of = of;
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
			put_note(c, c->file->why);
	}
}

/* In the copy, which ends then. */
static ssize_t list_all(void *arg, void *answer, size_t max)
{
	struct code *c = arg;

	c->answer = answer;
	c->answer_end = c->answer + max;
	c->files = xcalloc(c->p->nr_modules, sizeof(*c->files));
	for (size_t i = 0; i < c->all->nr; i++)
		list_function(c, i);
	return c->answer - (uint8_t *)answer;
}

/* --- lines --- */

/* The file is only opened here, once: what is in it the symbolizer reads, without rights. */
static uint32_t module_of(struct lines *l, uint32_t of)
{
	const struct profile *p = l->all->profile;
	char *path;

	if (l->modules[of])
		return l->modules[of];
	path = xasprintf("%s%s", l->root, profile_str(p, p->modules[of].path));
	l->modules[of] = profile_add_module(l->lines, path);
	while (l->nr_opened <= l->modules[of]) {
		l->opened = xgrow(l->opened, l->nr_opened, &l->cap_opened, sizeof(*l->opened));
		l->opened[l->nr_opened++] = (struct symbol_file){ .fd = -1 };
	}
	l->opened[l->modules[of]].fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	free(path);
	return l->modules[of];
}

static void take_row(struct lines *l, const struct row *row, const char *text)
{
	struct annotation *of = l->all->v[row->of];
	uint32_t module;

	if (!row->len) {
		annotation_note(of, "%s", text);
		return;
	}
	module = module_of(l, row->module);
	l->found = xgrow(l->found, l->nr, &l->cap, sizeof(*l->found));
	l->found[l->nr++] = (struct found){
		.of = of,
		.insn = { .module = row->module,
			  .offset = row->offset,
			  .address = row->address,
			  .len = row->len },
		.text = profile_string(l->lines, text),
		.frame = profile_frame(l->lines, FRAME_USER, module, row->offset),
	};
}

/* The copy may have been made to say anything. */
static bool is_sane(const struct lines *l, const struct row *row, size_t left)
{
	return row->of < l->all->nr && row->module < l->all->profile->nr_modules &&
	       row->len <= INSN_BYTES && row->text_len <= left;
}

static void take_rows(struct lines *l, const struct reader_answer *a)
{
	const uint8_t *at = a->bytes, *end = at + a->sz;
	struct row row;

	while ((size_t)(end - at) >= sizeof(row)) {
		char *text, *cleaned;

		memcpy(&row, at, sizeof(row));
		at += sizeof(row);
		if (!is_sane(l, &row, end - at))
			return;
		text = xasprintf("%.*s", (int)row.text_len, (const char *)at);
		cleaned = text_cleaned(text);
		take_row(l, &row, cleaned);
		free(cleaned);
		free(text);
		at += row.text_len;
	}
}

/* Of code around an inlined function only what was made of it. */
static bool is_wanted(const struct lines *l, const struct found *f)
{
	const struct cost_function *function = &f->of->function;
	const char *name = profile_str(l->all->profile, function->name);

	if (!function->inlined)
		return true;
	for (uint32_t i = 0; i + 1 < profile_frame_functions(l->lines, f->frame); i++) {
		struct frame_function of = profile_frame_function(l->lines, f->frame, i);

		if (!strcmp(profile_str(l->lines, of.name), name))
			return true;
	}
	return false;
}

static void add_found(const struct lines *l)
{
	for (size_t i = 0; i < l->nr; i++) {
		const struct found *f = &l->found[i];

		if (is_wanted(l, f))
			annotation_add_insn(f->of, &f->insn, profile_str(l->lines, f->text),
					    l->lines, f->frame);
	}
}

static void lines_release(struct lines *l)
{
	for (size_t i = 0; i < l->nr_opened; i++)
		if (l->opened[i].fd >= 0)
			close(l->opened[i].fd);
	free(l->found);
	free(l->modules);
	free(l->opened);
	profile_free(l->lines);
}

void annotate_code(struct annotations *all, const char *root)
{
	static const struct symbol_options options = { .time_ns = LINES_NS };
	struct code c = { .all = all, .p = all->profile, .root = root };
	const struct reader_copy copy = {
		.run = list_all, .arg = &c, .folder = -1, .timeout_ns = LIST_NS, .idle_ns = HANGS_NS
	};
	struct lines l = { .all = all, .root = root, .lines = profile_new() };
	struct reader_left left = {};
	struct reader_answer got;
	struct reader_cost cost = {};
	int err = reader_copy_run(&copy, &left, &got, &cost);

	reader_left_release(&left);
	l.modules = xcalloc(all->profile->nr_modules + 1, sizeof(*l.modules));
	for (size_t i = 0; err && i < all->nr; i++)
		annotation_note(all->v[i], "instructions are not shown: %s",
				err == -ETIMEDOUT ? "to read the files took too long"
						  : "who reads the files ended early");
	take_rows(&l, &got);
	free(got.bytes);
	if (l.nr)
		symbolizer_run(l.lines, l.opened, NULL, &options);
	add_found(&l);
	lines_release(&l);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Mapped files: their headers, read once, whatever is mapped of them and how often. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "elf/gnu_hash.h"
#include "proc/maps.h"
#include "unwind/reading.h"
#include "unwind/store_parts.h"

#define MAX_PAGE	  65536u /* of any kernel we run on */
#define ROWS_PER_FUNCTION 9	 /* x86-64; on aarch64 2 to 3 */
#define MAX_ESTIMATE	  (16u << TABLE_SEGMENT_SHIFT)

struct source *source_get(struct store *s, struct proc_file *file)
{
	struct source *src;

	HASH_FIND_PTR(s->sources, &file, src);
	if (src)
		return src;
	src = xcalloc(1, sizeof(*src));
	src->file = file;
	file->users++;
	HASH_ADD_PTR(s->sources, file, src);
	return src;
}

void source_drop(struct store *s, struct source *src)
{
	if (s->unplaced_of == src) {
		builds_drop(s->unplaced);
		s->unplaced = NULL;
		s->unplaced_of = NULL;
	}
	HASH_DEL(s->sources, src);
	src->file->users--;
	free(src->code);
	free(src);
}

bool source_is_vdso(const struct source *src)
{
	return src->file->path[0] == '[';
}

/* All 64-bit processes have the same vDSO, so ours serves. */
static void vdso_line(void *arg, const struct maps_line *line)
{
	struct elf_file **f = arg;

	if (!*f && !strcmp(line->path, "[vdso]"))
		*f = elf_file_open_image((void *)line->start, line->end - line->start);
}

struct elf_file *source_open(const struct source *src)
{
	struct elf_file *f = NULL;

	if (!source_is_vdso(src))
		return src->file->fd < 0 ? NULL : elf_file_open(src->file->fd);
	maps_read(getpid(), vdso_line, &f);
	return f;
}

/*
 * Words that the table of a file will take, about, told from its search table (8 bytes a function)
 * and the size of its code.
 */
static uint64_t estimate(const struct elf_file *f)
{
	uint64_t words = 0;

	for (size_t i = 0; i < f->nr_segments; i++) {
		const Elf64_Phdr *p = &f->segments[i];

		if (p->p_type == PT_GNU_EH_FRAME)
			words += p->p_filesz / 8 * ROWS_PER_FUNCTION;
		else if (p->p_type == PT_LOAD && p->p_flags & PF_X)
			words += (p->p_filesz >> TABLE_PAGE_SHIFT(TABLE_X86)) * TABLE_PAGE_WORDS;
	}
	return words < MAX_ESTIMATE ? words : MAX_ESTIMATE;
}

static void take_code(struct source *src, const struct elf_file *f)
{
	src->code = xcalloc(f->nr_segments, sizeof(*src->code));
	for (size_t i = 0; i < f->nr_segments; i++) {
		const Elf64_Phdr *p = &f->segments[i];

		if (p->p_type == PT_LOAD && p->p_flags & PF_X && p->p_filesz)
			src->code[src->nr_code++] =
				(struct source_code){ p->p_offset, p->p_filesz, p->p_vaddr };
	}
}

void source_take_headers(struct source *src, const struct elf_file *f)
{
	Elf64_Sym runtime;

	src->words = estimate(f);
	src->has_python = gnu_hash_find(f, ELF_PYTHON_RUNTIME, &runtime);
	take_code(src, f);
}

void source_hold(struct source *src, uint32_t pid, const struct proc_mapping *m)
{
	if (src->held)
		return;
	src->held = true;
	if (!source_is_vdso(src))
		proc_file_open(src->file, pid, m);
}

/* O(files), some hundred, for each file once. */
const struct source *source_earlier(const struct store *s, const struct source *src)
{
	const struct source *e = shelf_find(s->o.shelf, &src->file->id);

	if (e)
		return e;

	for (e = s->o.earlier ? s->o.earlier->sources : NULL; e; e = e->hh.next)
		if (e->file->was_settled && file_id_equals(&e->file->id, &src->file->id))
			return e;
	return NULL;
}

static void copy_headers(struct source *src, const struct source *from)
{
	src->words = from->words;
	src->has_python = from->has_python;
	src->nr_code = from->nr_code;
	src->code = xcalloc(from->nr_code, sizeof(*src->code));
	memcpy(src->code, from->code, from->nr_code * sizeof(*src->code));
}

bool source_read(struct store *s, struct source *src)
{
	const struct source *earlier;

	if (src->read)
		return src->nr_code;
	src->read = true;
	earlier = source_earlier(s, src);
	if (earlier && earlier->nr_code)
		copy_headers(src, earlier);
	else if (read_headers(s, src))
		return false;
	src->file->has_python = s->o.python && src->has_python;
	return src->nr_code;
}

bool source_delta(const struct source *src, uint64_t offset, uint64_t *delta)
{
	const struct source_code *best = NULL, *c;

	for (size_t i = 0; i < src->nr_code; i++) {
		c = &src->code[i];
		if (offset >= c->offset + c->size || offset + MAX_PAGE <= c->offset)
			continue;
		if (!best || c->offset < best->offset)
			best = c;
	}
	if (best)
		*delta = best->vaddr - best->offset;
	return best != NULL;
}

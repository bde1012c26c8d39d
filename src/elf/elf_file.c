/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads the ELF header, the program headers, the section headers and the build-id; checks that they
 * fit the file.
 */
#include "elf/elf_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

#define MAX_SEGMENTS   (65536 / sizeof(Elf64_Phdr)) /* as the kernel's loader */
#define MAX_NOTE_AREAS 64
#define MAX_NOTE_BYTES 65536u

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define OUR_DATA ELFDATA2LSB
#else
#define OUR_DATA ELFDATA2MSB
#endif

static size_t read_fd(int fd, uint64_t offset, uint8_t *buf, size_t sz)
{
	size_t done = 0;
	ssize_t n;

	while (done < sz) {
		n = pread(fd, buf + done, sz - done, (off_t)(offset + done));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		done += n;
	}
	return done;
}

size_t elf_file_read(const struct elf_file *f, uint64_t offset, void *buf, size_t sz)
{
	if (offset >= f->size)
		return 0;
	if (sz > f->size - offset)
		sz = f->size - offset;
	if (f->fd >= 0)
		return read_fd(f->fd, offset, buf, sz);
	memcpy(buf, f->image + offset, sz);
	return sz;
}

/* A table of nr elements of size sz, NULL when it does not lie in the file as a whole. */
static void *read_table(const struct elf_file *f, uint64_t offset, size_t nr, size_t sz)
{
	void *table;

	if (!nr || offset > f->size || nr > (f->size - offset) / sz)
		return NULL;
	table = xcalloc(nr, sz);
	if (elf_file_read(f, offset, table, nr * sz) == nr * sz)
		return table;
	free(table);
	return NULL;
}

static bool header_is_ours(const Elf64_Ehdr *h)
{
	return !memcmp(h->e_ident, ELFMAG, SELFMAG) && h->e_ident[EI_CLASS] == ELFCLASS64 &&
	       h->e_ident[EI_DATA] == OUR_DATA;
}

static void read_headers(struct elf_file *f)
{
	const Elf64_Ehdr *h = &f->header;

	if (h->e_phentsize == sizeof(Elf64_Phdr) && h->e_phnum <= MAX_SEGMENTS)
		f->segments = read_table(f, h->e_phoff, h->e_phnum, sizeof(Elf64_Phdr));
	f->nr_segments = f->segments ? h->e_phnum : 0;
	/*
	 * More than 65,279 sections (the count stands elsewhere then) only happen in files that do
	 * not run.
	 */
	if (h->e_shentsize == sizeof(Elf64_Shdr) && h->e_shnum < SHN_LORESERVE)
		f->sections = read_table(f, h->e_shoff, h->e_shnum, sizeof(Elf64_Shdr));
	f->nr_sections = f->sections ? h->e_shnum : 0;
}

static size_t align_up(size_t n, size_t align)
{
	return (n + align - 1) & ~(align - 1);
}

/*
 * Looks through notes for the build-id. Sizes are 32 bits each, so the sums below cannot
 * overflow 64.
 */
static bool notes_find(struct elf_file *f, const uint8_t *notes, size_t sz, size_t align)
{
	Elf64_Nhdr note;
	size_t name, desc, next;

	for (size_t at = 0; sz - at >= sizeof(note); at = next) {
		memcpy(&note, notes + at, sizeof(note));
		name = at + sizeof(note);
		desc = align_up(name + note.n_namesz, align);
		next = align_up(desc + note.n_descsz, align);
		if (desc > sz || note.n_descsz > sz - desc)
			return false;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
		    !memcmp(notes + name, "GNU", 4) && note.n_descsz <= sizeof(f->build_id)) {
			memcpy(f->build_id, notes + desc, note.n_descsz);
			f->build_id_len = note.n_descsz;
			return true;
		}
		if (next > sz)
			return false;
	}
	return false;
}

static bool area_find(struct elf_file *f, uint64_t offset, uint64_t sz, uint64_t align)
{
	uint8_t *notes;
	bool found;

	if (sz > MAX_NOTE_BYTES)
		sz = MAX_NOTE_BYTES;
	notes = xmalloc(sz);
	sz = elf_file_read(f, offset, notes, sz);
	found = notes_find(f, notes, sz, align == 8 ? 8 : 4);
	free(notes);
	return found;
}

static void read_build_id(struct elf_file *f)
{
	size_t areas = 0;

	for (size_t i = 0; i < f->nr_segments && areas < MAX_NOTE_AREAS; i++) {
		const Elf64_Phdr *s = &f->segments[i];

		if (s->p_type == PT_NOTE && ++areas &&
		    area_find(f, s->p_offset, s->p_filesz, s->p_align))
			return;
	}
	for (size_t i = 0; i < f->nr_sections && areas < 2 * MAX_NOTE_AREAS; i++) {
		const Elf64_Shdr *s = &f->sections[i];

		if (s->sh_type == SHT_NOTE && ++areas &&
		    area_find(f, s->sh_offset, s->sh_size, s->sh_addralign))
			return;
	}
}

static struct elf_file *file_new(int fd, const void *image, uint64_t size)
{
	struct elf_file *f = xcalloc(1, sizeof(*f));

	f->fd = fd;
	f->image = image;
	f->size = size;
	if (elf_file_read(f, 0, &f->header, sizeof(f->header)) != sizeof(f->header) ||
	    !header_is_ours(&f->header)) {
		free(f);
		errno = ENOEXEC;
		return NULL;
	}
	read_headers(f);
	read_build_id(f);
	return f;
}

struct elf_file *elf_file_open(int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return NULL;
	if (S_ISREG(st.st_mode))
		return file_new(fd, NULL, st.st_size);
	errno = ENOEXEC;
	return NULL;
}

struct elf_file *elf_file_open_image(const void *image, size_t sz)
{
	return file_new(-1, image, sz);
}

void elf_file_close(struct elf_file *f)
{
	if (!f)
		return;
	free(f->segments);
	free(f->sections);
	free(f);
}

static const Elf64_Phdr *code_at(const struct elf_file *f, uint64_t offset)
{
	for (size_t i = 0; i < f->nr_segments; i++) {
		const Elf64_Phdr *s = &f->segments[i];

		if (s->p_type == PT_LOAD && s->p_flags & PF_X && offset >= s->p_offset &&
		    offset - s->p_offset < s->p_filesz)
			return s;
	}
	return NULL;
}

bool elf_file_vaddr(const struct elf_file *f, uint64_t offset, uint64_t *vaddr)
{
	const Elf64_Phdr *s = code_at(f, offset);

	*vaddr = s ? offset - s->p_offset + s->p_vaddr : offset;
	return s;
}

void elf_file_part(const struct elf_file *f, uint64_t offset, uint64_t low, uint64_t high,
		   uint64_t *from, uint64_t *to)
{
	const Elf64_Phdr *s = code_at(f, offset);

	if (!s)
		return;
	*from = s->p_offset + (low > s->p_vaddr ? low - s->p_vaddr : 0);
	*to = s->p_offset + (high - s->p_vaddr < s->p_filesz ? high - s->p_vaddr : s->p_filesz);
}

bool elf_file_offset(const struct elf_file *f, uint64_t vaddr, uint64_t *offset)
{
	for (size_t i = 0; i < f->nr_segments; i++) {
		const Elf64_Phdr *s = &f->segments[i];

		if (s->p_type != PT_LOAD || vaddr < s->p_vaddr ||
		    vaddr - s->p_vaddr >= s->p_filesz || s->p_offset >= f->size ||
		    vaddr - s->p_vaddr >= f->size - s->p_offset)
			continue;
		*offset = vaddr - s->p_vaddr + s->p_offset;
		return true;
	}
	return false;
}

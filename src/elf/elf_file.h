/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The headers of an ELF file, from an open file or from an image in memory, for all who read such
 * files.
 *
 * Files come from the profiled processes and may be made to hurt. So this is not libelf: its
 * elf_begin() allocates by the section count that the file claims (2 GB for a sparse file that
 * takes no disk), and its mapped mode ends in SIGBUS when the owner truncates the file meanwhile.
 * Here everything is copied by pread() with fixed limits, and what lies outside of the file is left
 * out. 64-bit files of our byte order only: others are not walked either.
 */
#ifndef BPFPROF_ELF_ELF_FILE_H
#define BPFPROF_ELF_ELF_FILE_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_file {
	int fd; /* borrowed; -1 = image */
	const uint8_t *image;
	uint64_t size;
	Elf64_Ehdr header;
	Elf64_Phdr *segments;
	size_t nr_segments;
	Elf64_Shdr *sections; /* empty when the table does not lie in the file */
	size_t nr_sections;
	uint8_t build_id[20];
	size_t build_id_len; /* 0 = none, or longer than the kernel knows them too */
};

/*
 * NULL with errno ENOEXEC for what is no such ELF file. fd or image must stay until
 * elf_file_close().
 */
struct elf_file *elf_file_open(int fd);
struct elf_file *elf_file_open_image(const void *image, size_t sz);
void elf_file_close(struct elf_file *f);

/* Copies what there is of [offset, offset + sz); returns how much that was. */
size_t elf_file_read(const struct elf_file *f, uint64_t offset, void *buf, size_t sz);

/*
 * The address that code at a file offset was linked to. False, and *vaddr is the offset itself,
 * when no executable segment holds it. O(segments), of which there are about 10 and at most 1,170.
 */
bool elf_file_vaddr(const struct elf_file *f, uint64_t offset, uint64_t *vaddr);

/*
 * Offsets of the code that was linked to [low, high), in the segment that holds offset, which is
 * one of them. Left as they are when none holds it.
 */
void elf_file_part(const struct elf_file *f, uint64_t offset, uint64_t low, uint64_t high,
		   uint64_t *from, uint64_t *to);

/* Where the byte linked to an address stands in the file. False: no segment has it. */
bool elf_file_offset(const struct elf_file *f, uint64_t vaddr, uint64_t *offset);

#endif

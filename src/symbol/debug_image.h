/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The DWARF sections of a file, copied into a small ELF file in memory that is made here, for
 * libdw: the target's own headers never get there. libelf allocates what a file claims, and maps
 * files whose owner may truncate them meanwhile; this copies with bounds, unpacks sections that are
 * compressed (zlib), and leaves out what leads to other files: which of these are read is decided
 * elsewhere (companion.h).
 *
 * Limits: 1 GB unpacked, of all sections, and 64 times what the file takes on disk. A file of more
 * has no DWARF here.
 */
#ifndef BPFPROF_SYMBOL_DEBUG_IMAGE_H
#define BPFPROF_SYMBOL_DEBUG_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <elfutils/libdw.h>

#include "elf/elf_file.h"

struct debug_image;

/* Does the file describe its functions itself? */
bool debug_image_is_there(const struct elf_file *f);

/* Why DWARF that is there is not read. */
enum debug_image_unread {
	DEBUG_IMAGE_NOTHING, /* nothing is known against it */
	DEBUG_IMAGE_PACKED,  /* sections are compressed otherwise, with zstd */
	DEBUG_IMAGE_LARGE,   /* it is over the limit */
};
enum debug_image_unread debug_image_unread(const struct elf_file *f);

/*
 * NULL: it has no .debug_info, it is over the limit, or libdw refuses it. f is not needed any more
 * afterwards. alt (may be NULL) is what .gnu_debugaltlink of f means; it must stay.
 */
struct debug_image *debug_image_new(const struct elf_file *f, struct debug_image *alt);
void debug_image_free(struct debug_image *i);

Dwarf *debug_image_dwarf(const struct debug_image *i);

/* A section's bytes, NULL when it has none. They stay as long as the image. */
const uint8_t *debug_image_section(const struct debug_image *i, const char *name, size_t *sz);

#endif

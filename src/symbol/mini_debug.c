/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * MiniDebugInfo: .gnu_debugdata is an ELF file in xz format with the symbols that .dynsym leaves
 * out. Fedora and its relatives ship their files so.
 *
 * Limits: 16 MB packed; unpacked 64 MB, and 64 times what is packed; 40 MB of memory for unpacking,
 * which is enough for all presets of xz but -9 (rpm takes -6). A small file makes little of itself.
 */
#include <stdlib.h>

#include <lzma.h>

#include "base/mem.h"
#include "elf/section.h"
#include "symbol/elf.h"
#include "symbol/source.h"

#define MAX_PACKED   (16u << 20)
#define MAX_UNPACKED (64u << 20)
#define MAX_RATIO    64
#define MAX_MEMORY   (40u << 20)

struct mini_debug {
	uint8_t *image;
	struct elf_file *file;
	struct elf_symbols *symbols;
};

/* To be freed; NULL when it is broken or too large. */
static uint8_t *unpack(const uint8_t *packed, size_t packed_sz, size_t *sz)
{
	lzma_stream z = LZMA_STREAM_INIT;
	size_t most = packed_sz < MAX_UNPACKED / MAX_RATIO ? packed_sz * MAX_RATIO : MAX_UNPACKED;
	uint8_t *out = xmalloc(most); /* pages never written cost nothing */
	lzma_ret err = lzma_stream_decoder(&z, MAX_MEMORY, 0);

	z.next_in = packed;
	z.avail_in = packed_sz;
	z.next_out = out;
	z.avail_out = most;
	while (err == LZMA_OK && z.avail_out)
		err = lzma_code(&z, LZMA_FINISH);
	*sz = most - z.avail_out;
	lzma_end(&z);
	if (err == LZMA_STREAM_END)
		return xreallocarray(out, *sz + 1, 1);
	free(out);
	return NULL;
}

static uint8_t *read_image(const struct elf_file *f, size_t *sz)
{
	const Elf64_Shdr *s = section_find(f, ".gnu_debugdata");
	uint8_t *packed = s ? section_read(f, s, MAX_PACKED, sz) : NULL, *image;

	image = packed ? unpack(packed, *sz, sz) : NULL;
	free(packed);
	return image;
}

static void close_mini_debug(void *source)
{
	struct mini_debug *d = source;

	elf_symbols_free(d->symbols);
	elf_file_close(d->file);
	free(d->image);
	free(d);
}

static void *open_mini_debug(const struct symbol_module *m)
{
	struct mini_debug *d;
	uint8_t *image;
	size_t sz;

	image = m->file ? read_image(m->file, &sz) : NULL;
	if (!image)
		return NULL;
	d = xcalloc(1, sizeof(*d));
	d->image = image;
	d->file = elf_file_open_image(image, sz);
	if (d->file)
		d->symbols = elf_symbols_new(m->file, d->file, SHT_SYMTAB);
	if (d->symbols)
		return d;
	close_mini_debug(d);
	return NULL;
}

static bool find(void *source, uint64_t address, struct symbol_found *found)
{
	const struct mini_debug *d = source;

	return elf_symbols_answer(d->symbols, address, found);
}

const struct symbol_source_ops symbol_source_mini_debug = {
	".gnu_debugdata", SYMBOL_HIDDEN_NAMES, FRAME_USER, open_mini_debug, find, close_mini_debug,
};

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A process that may say anything of its interpreter: its memory is the bytes after the first one,
 * which says what to look for in them. What is read of it lies in its memory.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "python/code.h"
#include "python/find.h"
#include "tests/fuzz/limits.h"

#define WORDS 64 /* of code objects, one every 64 bytes */

static void read_codes(const struct memory *m, uint32_t version, uint64_t type)
{
	struct python_code *c = malloc(sizeof(*c));
	struct python_offsets o;

	if (c && python_offsets_get(&o, version, m, 0)) {
		o.code.type = type;
		for (uint64_t i = 0; i < WORDS; i++)
			if (python_code_read(c, &o.code, m,
					     i * 64 >> 3 | i << PYTHON_INDEX_SHIFT)) {
				assert(strlen(c->name) < sizeof(c->name));
				assert(strlen(c->file) < sizeof(c->file));
			}
	}
	free(c);
}

int fuzz_target(const uint8_t *data, size_t sz)
{
	struct python_found found;
	struct elf_file *f;
	struct memory m;
	uint64_t type = 0;

	if (sz < 9)
		return 0;
	m.fd = memfd_create("process", 0);
	assert(m.fd >= 0 && write(m.fd, data + 1, sz - 1) == (ssize_t)sz - 1);
	memcpy(&type, data + 1, sizeof(type));
	read_codes(&m, PYTHON_VERSION(3, 8) + data[0] % 7, type);
	f = elf_file_open_image(data + 1, sz - 1);
	if (f && !python_find(&found, &m, f, 0, f))
		assert(found.nr_ranges <= PYTHON_MAX_RANGES && found.frame.span < PYTHON_WORDS * 8);
	elf_file_close(f);
	close(m.fd);
	return 0;
}

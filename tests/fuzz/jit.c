/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a runtime may write of the code it generates. The first byte says whether the rest is a perf
 * map or jitdump. Whatever it is, what is known of an address lies in the file.
 */
#include <assert.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "symbol/jit_names.h"
#include "tests/fuzz/limits.h"

int fuzz_target(const uint8_t *data, size_t sz)
{
	const uint64_t addresses[] = { 0x10, 0x1000, 0x1010, 0x2000, 0x30003000, 0x7f0000001000 };
	const size_t nr = sizeof(addresses) / sizeof(*addresses);
	char text[JIT_NAME_MAX + 1];
	struct jit_names names;
	int fd;

	if (!sz)
		return 0;
	fd = memfd_create("jit", 0);
	assert(fd >= 0 && write(fd, data + 1, sz - 1) == (ssize_t)sz - 1);
	jit_names_init(&names, addresses, nr);
	if (data[0] & 1)
		jit_dump_read(&names, fd);
	else
		jit_map_read(&names, fd);
	for (size_t i = 0; i < nr; i++) {
		const struct jit_name *known = jit_names_at(&names, addresses[i]);

		if (!known)
			continue;
		assert(known->name.offset + known->name.len <= sz - 1);
		assert(known->file.offset + known->file.len <= sz - 1);
		assert(jit_text_read(fd, &known->name, text, sizeof(text)));
	}
	jit_names_release(&names);
	close(fd);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What probes are placed by, from files made to hurt. The input is an ELF file, or the code of one
 * function (its first byte says of which architecture), or, after a byte above 3, the arguments of
 * a USDT probe. What is chosen must be an instruction of the function that the kernel takes cheaper
 * than the entry, at most three further.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/limits.h"
#include "tests/unit/made_elf.h"
#include "uprobe/place.h"
#include "uprobe/usdt.h"

static void check_place(struct places *p, const struct uprobe_function *f, unsigned int flags)
{
	struct place at;

	if (place_choose(p, f, flags, &at))
		return;
	assert(at.why && at.skipped <= 3);
	assert(at.address - f->address < f->size);
	assert(at.offset - f->offset == at.address - f->address);
	assert(!at.skipped == (at.address == f->address));
	assert(!at.skipped || at.price <= PLACE_OPTIMISED);
	assert(place_is_instruction(p, f, at.address));
	assert(memchr(at.insn, 0, sizeof(at.insn)));
}

static void check_returns(struct places *p, const struct uprobe_function *f)
{
	uint64_t *offsets;
	size_t nr;

	if (place_returns(p, f, &offsets, &nr))
		return;
	for (size_t i = 0; i < nr; i++)
		assert(offsets[i] - f->offset < f->size);
	free(offsets);
}

static void check_functions(struct functions *fs)
{
	struct places *p = places_open(fs);
	size_t nr;
	const struct uprobe_function *all = functions_all(fs, &nr);

	/* A file of this size may have thousands over the same code. */
	for (size_t i = 0; i < nr && i < 64; i++) {
		assert(functions_at(fs, all[i].address));
		assert(functions_shown(fs, &all[i]));
		for (unsigned int flags = 0; p && flags < 16; flags += 5)
			check_place(p, &all[i], flags);
		if (p && all[i].size < 65536)
			check_returns(p, &all[i]);
	}
	places_free(p);
}

static void check_args(uint16_t machine, const char *text)
{
	struct usdt_arg args[USDT_MAX_ARGS];
	size_t nr;
	char *why;

	if (usdt_parse_args(machine, text, args, &nr, &why)) {
		assert(why);
		free(why);
		return;
	}
	for (size_t i = 0; i < nr; i++) {
		assert(args[i].size && args[i].size <= 8);
		assert(usdt_register_offset(machine, args[i].base) >= 0);
		assert(usdt_register_offset(machine, args[i].index) >= 0);
	}
}

static void check_usdt(const struct elf_file *f)
{
	struct usdt *u = usdt_open(f);
	size_t nr;
	const struct usdt_probe *all = usdt_all(u, &nr);

	for (size_t i = 0; i < nr; i++)
		for (size_t j = 0; j < all[i].nr_locations; j++) {
			assert(all[i].locations[j].offset < f->size);
			check_args(f->header.e_machine, all[i].locations[j].args);
		}
	usdt_free(u);
}

static void check_image(const void *bytes, size_t sz)
{
	struct functions *fs = functions_open_image(bytes, sz);

	if (!fs)
		return;
	check_functions(fs);
	check_usdt(functions_file(fs));
	functions_free(fs);
}

static void check_code(uint16_t machine, const uint8_t *code, size_t sz)
{
	static struct made_elf image;

	made_init(&image, machine);
	if (sz > CODE_SIZE)
		sz = CODE_SIZE;
	made_code(&image, 0, code, sz);
	made_symbol(&image, "function", sz / 4 & ~3ul, sz / 2, STB_GLOBAL, STT_FUNC);
	made_symbol(&image, "_ZN5other1fEi", 0, 0, STB_GLOBAL, STT_FUNC);
	check_image(image.bytes, sizeof(image.bytes));
}

int fuzz_target(const uint8_t *data, size_t sz)
{
	char *text;

	if (!sz)
		return 0;
	if (sz >= SELFMAG && !memcmp(data, ELFMAG, SELFMAG)) {
		check_image(data, sz);
	} else if (data[0] > 3) {
		text = strndup((const char *)data + 1, sz - 1);
		check_args(data[0] & 1 ? EM_AARCH64 : EM_X86_64, text);
		free(text);
	} else {
		check_code(data[0] & 1 ? EM_AARCH64 : EM_X86_64, data + 1, sz - 1);
	}
	return 0;
}

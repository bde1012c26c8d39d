/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Goes through the bytes with the decoder that probes are placed by. */
#include "uprobe/listing.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "unwind/x86.h"
#include "uprobe/insn.h"

static void put_bytes(struct listing_insn *to, const uint8_t *bytes)
{
	int len = snprintf(to->text, sizeof(to->text), ".byte");

	for (uint32_t i = 0; i < to->len; i++)
		len += snprintf(to->text + len, sizeof(to->text) - len, "%s0x%02x", i ? ", " : " ",
				bytes[i]);
}

/* Of an instruction that the decoder does not know, as many of AVX-512, the length at least. */
static uint32_t length(uint16_t machine, const uint8_t *bytes, size_t sz)
{
	uint32_t unit = machine == EM_AARCH64 ? 4 : 1;
	struct x86_insn insn;

	if (machine == EM_X86_64 && x86_decode(bytes, sz, &insn))
		return insn.len;
	return unit < sz ? unit : sz;
}

static void next(struct decoder *d, uint16_t machine, const uint8_t *bytes, size_t sz,
		 struct listing_insn *to)
{
	struct insn insn;

	if (decoder_next(d, bytes, sz, to->address, &insn) && insn.len && insn.len <= sz) {
		to->len = insn.len;
		decoder_text(d, bytes, insn.len, to->address, to->text, sizeof(to->text));
		return;
	}
	to->len = length(machine, bytes, sz);
	put_bytes(to, bytes);
}

static void list(struct decoder *d, uint16_t machine, const uint8_t *bytes, size_t sz,
		 struct listing_insn *at, void (*each)(void *arg, const struct listing_insn *insn),
		 void *arg)
{
	for (size_t done = 0; done < sz; done += at->len) {
		next(d, machine, bytes + done, sz - done, at);
		each(arg, at);
		at->offset += at->len;
		at->address += at->len;
	}
}

int listing_for_each(const struct elf_file *f, uint64_t address, uint64_t sz,
		     void (*each)(void *arg, const struct listing_insn *insn), void *arg)
{
	struct listing_insn at = { .address = address };
	struct decoder *d;
	uint8_t *bytes;
	int err = 0;

	if (!elf_file_offset(f, address, &at.offset))
		return -ENODATA;
	d = decoder_new(f->header.e_machine);
	if (!d)
		return -EOPNOTSUPP;
	bytes = xmalloc(sz < LISTING_MAX_BYTES ? sz + 1 : LISTING_MAX_BYTES);
	sz = elf_file_read(f, at.offset, bytes, sz < LISTING_MAX_BYTES ? sz : LISTING_MAX_BYTES);
	if (sz)
		list(d, f->header.e_machine, bytes, sz, &at, each, arg);
	else
		err = -ENODATA;
	free(bytes);
	decoder_free(d);
	return err;
}

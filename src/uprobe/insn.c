/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Capstone finds the instructions, and the tables of the architecture say what they mean. */
#include "uprobe/insn.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "uprobe/insn_parts.h"

struct decoder {
	uint16_t machine;
	csh handle;
	csh text; /* the same with the syntax that people read */
	cs_insn *insn;
};

static bool open_handles(struct decoder *d)
{
	bool x86 = d->machine == EM_X86_64;
	cs_arch arch = x86 ? CS_ARCH_X86 : CS_ARCH_ARM64;
	cs_mode mode = x86 ? CS_MODE_64 : CS_MODE_ARM;

	if (cs_open(arch, mode, &d->handle) || cs_open(arch, mode, &d->text))
		return false;
	cs_option(d->handle, CS_OPT_DETAIL, CS_OPT_ON);
	if (x86)
		cs_option(d->text, CS_OPT_SYNTAX, CS_OPT_SYNTAX_ATT);
	d->insn = cs_malloc(d->handle);
	return d->insn;
}

struct decoder *decoder_new(uint16_t machine)
{
	struct decoder *d;

	if (machine != EM_X86_64 && machine != EM_AARCH64)
		return NULL;
	d = xcalloc(1, sizeof(*d));
	d->machine = machine;
	if (open_handles(d))
		return d;
	decoder_free(d);
	return NULL;
}

void decoder_free(struct decoder *d)
{
	if (!d)
		return;
	if (d->insn)
		cs_free(d->insn, 1);
	if (d->text)
		cs_close(&d->text);
	if (d->handle)
		cs_close(&d->handle);
	free(d);
}

static bool next_arm64(struct decoder *d, const uint8_t *bytes, size_t sz, struct insn *insn)
{
	uint64_t address = insn->address;
	uint32_t word;

	if (sz < sizeof(word))
		return false;
	memcpy(&word, bytes, sizeof(word));
	insn->len = sizeof(word);
	/* The rows of arithmetic hold words that mean nothing, too. */
	return (insn_classify_arm64(insn, word) && insn->effect != INSN_REGISTERS) ||
	       cs_disasm_iter(d->handle, &bytes, &sz, &address, d->insn);
}

bool decoder_next(struct decoder *d, const uint8_t *bytes, size_t sz, uint64_t address,
		  struct insn *insn)
{
	const uint8_t *at = bytes;

	*insn = (struct insn){ .address = address,
			       .written = INSN_NO_REGISTER,
			       .jumps_by = INSN_NO_REGISTER,
			       .copied = INSN_NO_REGISTER,
			       .computed = INSN_NO_REGISTER };
	if (d->machine == EM_AARCH64)
		return next_arm64(d, bytes, sz, insn);
	if (!cs_disasm_iter(d->handle, &at, &sz, &address, d->insn))
		return false;
	insn->len = d->insn->size;
	insn_classify_x86(insn, bytes, d->insn);
	return true;
}

void decoder_text(struct decoder *d, const uint8_t *bytes, size_t sz, uint64_t address, char *text,
		  size_t cap)
{
	cs_insn *insn;

	if (!cs_disasm(d->text, bytes, sz, address, 1, &insn)) {
		snprintf(text, cap, "?");
		return;
	}
	snprintf(text, cap, "%s%s%s", insn->mnemonic, insn->op_str[0] ? " " : "", insn->op_str);
	cs_free(insn, 1);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the decoders of both architectures share. */
#ifndef BPFPROF_UPROBE_INSN_PARTS_H
#define BPFPROF_UPROBE_INSN_PARTS_H

#include <capstone/capstone.h>

#include "uprobe/insn.h"

/* Fills in what the bytes of an instruction mean, whose address and len are known. */
void insn_classify_x86(struct insn *insn, const uint8_t *bytes, const cs_insn *decoded);
/* False: not known to be an instruction, so that capstone must know it. */
bool insn_classify_arm64(struct insn *insn, uint32_t word);

#endif

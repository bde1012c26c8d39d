/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Functions of Go begin with a check of the stack's room. Where it does not suffice, or the
 * goroutine shall give way, they call the runtime and begin once more:
 *
 *	f:    cmp  0x10(%r14),%rsp
 *	      jbe  more                  more:  ...  save the arguments
 *	      push %rbp      <-- P              call runtime.morestack_noctxt
 *	                                        ...  load them again
 *	                                        jmp  f
 *
 * So an entry may be passed several times by a call, P once. What lies between changes no argument,
 * or the call could not begin once more.
 */
#include <string.h>

#include "uprobe/place_parts.h"

#define MOST_BEFORE 10 /* instructions of the check */
#define MOST_SAVES  40 /* before the call of the runtime */

/* Where a conditional jump leads to; 0: it is none. */
static uint64_t jumps_if_to(const struct places *p, const struct insn *insn)
{
	size_t sz;
	const uint8_t *b = image_code(&p->image, insn->address, &sz);
	uint64_t end = insn->address + insn->len;
	int32_t far;

	if (functions_file(p->functions)->header.e_machine == EM_X86_64) {
		if (insn->len == 2 && b[0] >> 4 == 7)
			return end + (int8_t)b[1];
		if (insn->len != 6 || b[0] != 0x0f || b[1] >> 4 != 8)
			return 0;
		memcpy(&far, b + 2, sizeof(far));
		return end + far;
	}
	memcpy(&far, b, sizeof(far));
	if ((far & 0xff000010u) != 0x54000000u)
		return 0;
	return insn->address + (int64_t)((int32_t)((uint32_t)far << 8) >> 13) * 4;
}

static bool is_morestack(const struct places *p, uint64_t address)
{
	const struct uprobe_function *f = functions_at(p->functions, address);

	return f && f->address == address && !strncmp(f->name, "runtime.morestack", 17);
}

/* Does code save arguments, and then nothing but call the runtime for a larger stack? */
static bool asks_for_stack(struct places *p, const struct uprobe_function *f, uint64_t at)
{
	struct insn insn;

	for (int i = 0; i < MOST_SAVES && place_decode(p, f, at, &insn); i++) {
		if (insn.calls_to)
			return is_morestack(p, insn.calls_to);
		if (insn.is_return || insn.jumps_to || jumps_if_to(p, &insn))
			return false;
		at += insn.len;
	}
	return false;
}

uint64_t place_behind_check(struct places *p, const struct uprobe_function *f,
			    unsigned int *skipped)
{
	uint64_t at = f->address, to, behind = 0;
	struct insn insn;

	if (!functions_are_go(p->functions))
		return 0;
	for (unsigned int i = 0; i < MOST_BEFORE && place_decode(p, f, at, &insn); i++) {
		if (insn.is_return || insn.jumps_to || insn.calls_to)
			break;
		at += insn.len;
		to = jumps_if_to(p, &insn);
		if (!to)
			continue;
		if (to <= f->address || to - f->address >= f->size || !asks_for_stack(p, f, to))
			break;
		behind = at;
		*skipped = i + 1;
	}
	return behind;
}

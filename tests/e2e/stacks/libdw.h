/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Walks the stack of a sample as libdw does, from tables of its own.
 *
 * libdw is taken at its word but for this:
 *   - where it has no call frame information it goes on by frame pointer, which it does not tell.
 *     That is asked first, and then its walk ends there, as ours with --call-graph dwarf does;
 *   - a return address that it could not read is a root to it, so failures to read are noted;
 *   - GCC says of a register that it lies on the stack when it was popped already. No copy of the
 *     stack has what is below the stack pointer, but the register has it again;
 *   - the vDSO of aarch64 has nothing on what signal handlers return to: it goes on from the
 *     registers that lie there;
 *   - it does not know of signed return addresses (0.188): what it reads is given without.
 */
#ifndef BPFPROF_STACKS_LIBDW_H
#define BPFPROF_STACKS_LIBDW_H

#include "bpf/prof.h"
#include "tests/e2e/stacks/recording.h"

enum outcome { ROOT, UNKNOWN_CODE, FAILED, TOO_DEEP };

struct result {
	uint64_t frames[PROF_MAX_FRAMES];
	uint32_t nr;
	enum outcome end;
	bool goes_down; /* libdw: a stack pointer is below the one before */
};

/* Of the present sample. */
void libdw_walk(struct recording *r, struct result *to);

/* Before the recording is closed. */
void libdw_forget(void);

#endif

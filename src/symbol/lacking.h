/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Why a file may lack names: from who reads it, by the head of its answers, to findings of the
 * profile (profile/lacks.h).
 */
#ifndef BPFPROF_SYMBOL_LACKING_H
#define BPFPROF_SYMBOL_LACKING_H

#include "profile/lacks.h"
#include "symbol/answers.h"
#include "symbol/debug_file.h"

/* In the copy that reads. f NULL: it is no ELF file, if one was given. */
void lacking_tell(struct answers_head *head, const struct elf_file *f, const struct debug_files *d,
		  bool was_given);
/* Of the file at a path. Believes nothing that the head says. */
void lacking_note(struct lacks *to, const struct answers_head *head, const char *path);
/* Of generated code. */
void lacking_note_map(struct lacks *to, const struct answers_head *head, const struct jit_files *j);

#endif

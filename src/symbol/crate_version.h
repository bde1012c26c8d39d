/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The version of Tokio in a program of Rust: messages of panics keep the paths of source files,
 * with the crate's version in them, also in stripped programs.
 */
#ifndef BPFPROF_SYMBOL_CRATE_VERSION_H
#define BPFPROF_SYMBOL_CRATE_VERSION_H

#include "elf/elf_file.h"
#include "profile/profile.h"

#define CRATE_VERSION_BYTES 24

/* "1.54.1", "" = none is in the file. */
void crate_version(const struct elf_file *f, char version[CRATE_VERSION_BYTES]);

/* Adds it to the runtimes that a recording met. */
void crate_version_note(struct profile *p, const struct module *m, const char *version);

#endif

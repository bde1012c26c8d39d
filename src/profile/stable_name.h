/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names of functions without what differs from build to build, so that two builds compare. */
#ifndef BPFPROF_PROFILE_STABLE_NAME_H
#define BPFPROF_PROFILE_STABLE_NAME_H

/*
 * Leaves out what compilers and linkers number: Rust's hash ("::h" and 16 digits), what gcc and
 * LLVM put behind a name (".constprop.0", ".isra.3", ".part.1", ".cold", ".llvm.1234",
 * ".lto_priv.0", alone or as demanglers show it: " [clone .cold]"), and addresses ("0x1f3a" becomes
 * "0x"). To be freed.
 */
char *stable_name(const char *name);

#endif

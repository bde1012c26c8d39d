/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A profile that stays as it is, of one that is still being filled. */
#ifndef BPFPROF_PROFILE_COPY_H
#define BPFPROF_PROFILE_COPY_H

#include "profile/profile.h"

/*
 * Facts, ledger, names, modules, frames, stacks, events, samples and threads; nothing can be added
 * to these. Frames that have no name so far get that one, and no address of the kernel. It may
 * intern that name in from.
 */
struct profile *profile_copy(struct profile *from, const char *nameless);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Is a profile that comes from outside one that can be read without looking twice? */
#ifndef BPFPROF_PROFILE_CHECK_H
#define BPFPROF_PROFILE_CHECK_H

#include "profile/profile.h"

bool profile_has_string(const struct profile *p, uint64_t id);

/* Do all ids and ranges lie within their tables, and all chains end? */
bool profile_is_sound(const struct profile *p);

#endif

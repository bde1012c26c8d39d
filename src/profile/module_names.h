/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Modules as tables call them: by the last part of their path. Functions of one name are apart
 * where these differ, so write() of libc.so.6 and that of the kernel have a row each; copies of a
 * library in several places have one together.
 */
#ifndef BPFPROF_PROFILE_MODULE_NAMES_H
#define BPFPROF_PROFILE_MODULE_NAMES_H

#include "profile/profile.h"

struct module_names {
	struct strings strings;
	uint32_t *of; /* of each module of the profile */
};

void module_names_init(struct module_names *m, const struct profile *p);
void module_names_release(struct module_names *m);

#endif

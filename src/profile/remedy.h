/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What would make a broken stack whole: a guess, from what ended the walk and in what code. */
#ifndef BPFPROF_PROFILE_REMEDY_H
#define BPFPROF_PROFILE_REMEDY_H

#include "profile/breaks.h"
#include "profile/runtime.h"

/* One sentence to free(), never empty. */
char *remedy_new(const struct profile *p, const struct break_row *row,
		 struct runtime_finder *finder);

#endif

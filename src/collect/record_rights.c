/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a recording needs rights for when all is attached: CPUs and processes that come later, and
 * names at the end.
 */
#include "collect/record_parts.h"
#include "collect/rights.h"
#include "doctor/caps.h"

static unsigned int needs_of(const struct record_opts *o)
{
	unsigned int needs = 0;

	if (o->foreign_folder || o->symbols.debuginfod)
		needs |= CAP_FOR_FOLDER;
	if (o->program)
		needs |= CAP_FOR_PROGRAM;
	if (o->java_names)
		needs |= CAP_FOR_JAVA;
	return needs;
}

void record_drop_rights(const struct record *r)
{
	rights_drop(r->opts->command, 0, needs_of(r->opts));
}

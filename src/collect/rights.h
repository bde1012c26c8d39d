/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which capabilities the main process keeps when all that it needs them for is done. */
#ifndef BPFPROF_COLLECT_RIGHTS_H
#define BPFPROF_COLLECT_RIGHTS_H

/*
 * For good, only those of the table (doctor/caps.c) that the command still uses: uses of it by its
 * name, and these more; needs of enum cap_need. What is started from now on has no more either.
 */
void rights_drop(const char *command, unsigned int uses, unsigned int needs);

#endif

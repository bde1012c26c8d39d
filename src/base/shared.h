/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Libraries that are loaded when an option asks for what they do, so that nothing else needs them.
 * A program that is linked statically loads none: a library would bring another C library beside
 * its own, and that works with one version of it only.
 */
#ifndef BPFPROF_BASE_SHARED_H
#define BPFPROF_BASE_SHARED_H

/* NULL: it is not here, or cannot be loaded. It stays loaded. */
void *shared_open(const char *library);

/* Says why what the user asked for (an option, a command) is not to be had. -ENOENT. */
int shared_refuse(const char *what, const char *library, const char *package);

#endif

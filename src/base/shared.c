/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/shared.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/auxv.h>

#include "base/log.h"

/* No interpreter loaded it. */
static bool is_static(void)
{
	return !getauxval(AT_BASE);
}

void *shared_open(const char *library)
{
	return is_static() ? NULL : dlopen(library, RTLD_NOW | RTLD_LOCAL);
}

int shared_refuse(const char *what, const char *library, const char *package)
{
	if (is_static())
		return log_as(-ENOENT,
			      "%s: this bpfprof is linked statically and loads no library; use one "
			      "that is linked dynamically (make)",
			      what);
	return log_as(-ENOENT, "%s: needs %s (on Debian the package %s)", what, library, package);
}

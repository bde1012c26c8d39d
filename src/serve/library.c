/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "serve/library.h"

#include <dlfcn.h>
#include <stddef.h>

#include "base/log.h"

static bool load(struct library *l)
{
	void *handle = dlopen("libmicrohttpd.so.12", RTLD_NOW | RTLD_LOCAL);
	bool all = handle;

	if (!handle)
		return false;
#define X(name)                                                                                    \
	*(void **)&l->name = dlsym(handle, "MHD_" #name);                                          \
	all &= l->name != NULL;
	LIBRARY_FUNCTIONS(X)
#undef X
	return all;
}

bool library_load(struct library *l)
{
	if (load(l))
		return true;
	log_err(0, "--listen: needs libmicrohttpd.so.12 (on Debian the package libmicrohttpd12)");
	return false;
}

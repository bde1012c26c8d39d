/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "serve/library.h"

#include <dlfcn.h>
#include <stddef.h>

#include "base/shared.h"

#define LIBRARY "libmicrohttpd.so.12"

static bool load(struct library *l)
{
	void *handle = shared_open(LIBRARY);
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
	shared_refuse("--listen", LIBRARY, "libmicrohttpd12");
	return false;
}

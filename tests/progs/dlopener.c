/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* LDLIBS: -ldl */
/*
 * dlopener [BEFORE] [INSIDE] [AFTER]: spins BEFORE seconds (of CPU time, as below) in
 * before_dlopen, loads libburn, spins INSIDE seconds in its burn_in_library, unloads it, and spins
 * AFTER seconds in after_dlclose. Code that was mapped after the recording began, and that is gone
 * when it ends, must get its name.
 */
#include <dlfcn.h>
#include <libgen.h>
#include <limits.h>
#include <unistd.h>

#include "burn.h"

static KEEP void before_dlopen(uint64_t ns)
{
	burn_until(CLOCK_THREAD_CPUTIME_ID, cpu_ns() + ns);
	__asm__ volatile("" : : "i"(1));
}

static KEEP void after_dlclose(uint64_t ns)
{
	burn_until(CLOCK_THREAD_CPUTIME_ID, cpu_ns() + ns);
	__asm__ volatile("" : : "i"(2));
}

static void *load_library(void)
{
	char self[PATH_MAX] = "", path[PATH_MAX + 16];
	void *library;

	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		return NULL;
	snprintf(path, sizeof(path), "%s/libburn", dirname(self));
	library = dlopen(path, RTLD_NOW);
	if (!library)
		fprintf(stderr, "%s\n", dlerror());
	return library;
}

int main(int argc, char **argv)
{
	void (*burn)(uint64_t ns);
	void *library;

	before_dlopen(arg_ns(argc, argv, 1, 1));
	library = load_library();
	if (!library)
		return 1;
	*(void **)&burn = dlsym(library, "burn_in_library");
	if (!burn)
		return 1;
	burn(arg_ns(argc, argv, 2, 1));
	dlclose(library);
	after_dlclose(arg_ns(argc, argv, 3, 1));
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* CFLAGS: -O2 -fomit-frame-pointer -momit-leaf-frame-pointer */
/* LDLIBS: -ldl */
/*
 * nofp_churn [SECONDS]: loads libnofp_a, burns 20 ms in it, unloads it, does the same with
 * libnofp_b, and so on. Mostly one lies where the other lay; every third time they move. Stacks are
 * main, churn_a, burn_in_a, inner_a, or the same with b.
 */
#include <dlfcn.h>
#include <libgen.h>
#include <limits.h>
#include <sys/mman.h>
#include <unistd.h>

#include "nofp.h"

#define BURN_NS (NS_PER_S / 50)

static char folder[PATH_MAX];

static CHAIN void *library_open(const char *name)
{
	char path[PATH_MAX + 16];
	void *library;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	library = dlopen(path, RTLD_NOW);
	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	return library;
}

static CHAIN void churn_a(void *library)
{
	void (*burn)(uint64_t ns);

	*(void **)&burn = dlsym(library, "burn_in_a");
	burn(BURN_NS);
}

static CHAIN void churn_b(void *library)
{
	void (*burn)(uint64_t ns);

	*(void **)&burn = dlsym(library, "burn_in_b");
	burn(BURN_NS);
}

int main(int argc, char **argv)
{
	uint64_t end = wall_ns() + arg_ns(argc, argv, 1, 5);
	char self[PATH_MAX] = "";
	void *library;
	int i;

	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		return 1;
	snprintf(folder, sizeof(folder), "%s", dirname(self));
	for (i = 0; wall_ns() < end; i++) {
		library = library_open(i % 2 ? "libnofp_b" : "libnofp_a");
		if (i % 2)
			churn_b(library);
		else
			churn_a(library);
		dlclose(library);
		if (i % 3 == 2)
			mmap(NULL, 65536, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	}
	return 0;
}

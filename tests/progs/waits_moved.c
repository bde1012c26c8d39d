/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* CFLAGS: -O2 -fomit-frame-pointer -momit-leaf-frame-pointer */
/* LDLIBS: -ldl */
/*
 * waits_moved [NAPS]: naps of 5 ms by hold() of libmoved_a. After a third of them libmoved_b is
 * mapped where that lies: the same code, but its unwind data says that the caller was decoy(). All
 * registers and all words on the stack are the same, so who remembers the stack cannot see it. A
 * walk finds main, hold, nap before, and main, decoy, hold, nap after.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <libgen.h>
#include <sys/mman.h>

#include "waits.h"

#define NAP_NS (5 * NS_PER_MS)

void decoy(void);
extern const char in_decoy[];

#ifdef __aarch64__
__asm__(".pushsection .text\n"
	".globl decoy, in_decoy\n"
	".type decoy, %function\n"
	"decoy:\n"
	".cfi_startproc\n"
	"sub sp, sp, #32\n"
	".cfi_def_cfa_offset 32\n"
	"str x30, [sp, #24]\n"
	".cfi_offset 30, -8\n"
	"nop\n"
	"in_decoy:\n"
	"nop\n"
	"ldr x30, [sp, #24]\n"
	"add sp, sp, #32\n"
	"ret\n"
	".cfi_endproc\n"
	".size decoy, .-decoy\n"
	".popsection\n");
#else
__asm__(".pushsection .text\n"
	".globl decoy, in_decoy\n"
	".type decoy, @function\n"
	"decoy:\n"
	".cfi_startproc\n"
	"sub $24, %rsp\n"
	".cfi_def_cfa_offset 32\n"
	"nop\n"
	"in_decoy:\n"
	"nop\n"
	"add $24, %rsp\n"
	"ret\n"
	".cfi_endproc\n"
	".size decoy, .-decoy\n"
	".popsection\n");
#endif

typedef void hold_fn(void (*call)(void *arg), void *arg, const char *fake);

static CHAIN void nap(void *ns)
{
	sleep_ns(*(uint64_t *)ns);
	__asm__ volatile("");
}

static void library_path(char *path, size_t sz, const char *name)
{
	char self[PATH_MAX] = "";

	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		fatal("/proc/self/exe");
	snprintf(path, sz, "%s/%s", dirname(self), name);
}

/* Maps the other file over the code that holds this address. */
static void move_in(const char *path, uintptr_t code)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned long start, end, offset;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char line[PATH_MAX + 128];

	if (!maps || fd < 0)
		fatal(path);
	while (fgets(line, sizeof(line), maps))
		if (sscanf(line, "%lx-%lx %*s %lx", &start, &end, &offset) == 3 && code >= start &&
		    code < end &&
		    mmap((void *)start, end - start, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED,
			 fd, (off_t)offset) == MAP_FAILED)
			fatal("mmap");
	fclose(maps);
	close(fd);
}

int main(int argc, char **argv)
{
	unsigned long naps = arg_nr(argc, argv, 1, 300), i;
	char path[PATH_MAX + 16];
	uint64_t ns = NAP_NS;
	void *library;
	hold_fn *hold;

	library_path(path, sizeof(path), "libmoved_a");
	library = dlopen(path, RTLD_NOW);
	*(void **)&hold = library ? dlsym(library, "hold") : NULL;
	if (!hold) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	library_path(path, sizeof(path), "libmoved_b");
	for (i = 0; i < naps; i++) {
		if (i == naps / 3)
			move_in(path, (uintptr_t)hold);
		hold(nap, &ns, in_decoy);
	}
	return 0;
}

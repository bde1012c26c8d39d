/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* CFLAGS: -shared -fPIC -fno-stack-protector -fno-builtin */
/* LDLIBS: -ldl */
/*
 * A library to preload: the k-th allocation of a process finds no memory, in the program that was
 * started or in each process that it forks. Allocations are what the C library's functions return,
 * for whoever calls them, and mappings by others than the C library.
 *
 *	STARVE_WHOM=main|children STARVE_AT=K [STARVE_ON=1] STARVE_COUNTS=FILE
 *
 * K counts from 1; 0 only counts. STARVE_ON: all from the k-th on. FILE has two numbers of 8 bytes
 * that are raised: the most allocations of one process, and how many were refused.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct counts {
	uint64_t most, refused;
};

void *__libc_malloc(size_t sz);
void *__libc_calloc(size_t nr, size_t sz);
void *__libc_realloc(void *ptr, size_t sz);
void *__libc_memalign(size_t to, size_t sz);

static struct counts *counts;
static uint64_t at, nr;
static int on, children;
static pid_t owner, counted; /* the program; whose allocations nr are */

__attribute__((constructor)) static void begin(void)
{
	const char *whom = getenv("STARVE_WHOM"), *path = getenv("STARVE_COUNTS");
	int fd = whom && path ? open(path, O_RDWR | O_CLOEXEC) : -1;

	if (fd < 0)
		return;
	at = strtoull(getenv("STARVE_AT"), NULL, 10);
	on = getenv("STARVE_ON") != NULL;
	children = !strcmp(whom, "children");
	counts = mmap(NULL, sizeof(*counts), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (counts == MAP_FAILED)
		counts = NULL;
	close(fd);
	owner = getpid();
	/* What this program starts is not meant. */
	unsetenv("STARVE_WHOM");
}

static int is_refused(void)
{
	pid_t pid;

	if (!counts)
		return 0;
	pid = getpid();
	if ((pid == owner) == children)
		return 0;
	if (pid != counted) {
		counted = pid;
		nr = 0;
	}
	if (++nr > __atomic_load_n(&counts->most, __ATOMIC_RELAXED))
		__atomic_store_n(&counts->most, nr, __ATOMIC_RELAXED);
	if (!at || (on ? nr < at : nr != at))
		return 0;
	__atomic_add_fetch(&counts->refused, 1, __ATOMIC_RELAXED);
	errno = ENOMEM;
	return 1;
}

void *malloc(size_t sz)
{
	return is_refused() ? NULL : __libc_malloc(sz);
}

void *calloc(size_t n, size_t sz)
{
	return is_refused() ? NULL : __libc_calloc(n, sz);
}

void *realloc(void *ptr, size_t sz)
{
	return is_refused() ? NULL : __libc_realloc(ptr, sz);
}

void *reallocarray(void *ptr, size_t n, size_t sz)
{
	size_t all;

	if (__builtin_mul_overflow(n, sz, &all)) {
		errno = ENOMEM;
		return NULL;
	}
	return realloc(ptr, all);
}

void *memalign(size_t to, size_t sz)
{
	return is_refused() ? NULL : __libc_memalign(to, sz);
}

void *aligned_alloc(size_t to, size_t sz)
{
	return memalign(to, sz);
}

int posix_memalign(void **to, size_t alignment, size_t sz)
{
	*to = memalign(alignment, sz);
	return *to ? 0 : ENOMEM;
}

void *mmap(void *addr, size_t len, int prot, int flags, int fd, off_t offset)
{
	static void *(*next)(void *addr, size_t len, int prot, int flags, int fd, off_t offset);

	if (!next)
		next = (void *(*)(void *, size_t, int, int, int, off_t))dlsym(RTLD_NEXT, "mmap");
	if (is_refused())
		return MAP_FAILED;
	return next(addr, len, prot, flags, fd, offset);
}

void *mmap64(void *addr, size_t len, int prot, int flags, int fd, off_t offset)
{
	return mmap(addr, len, prot, flags, fd, offset);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* CFLAGS: -shared -fPIC -fno-builtin */
/* Not a program but an allocator to be preloaded, which nobody ships: blocks of powers of two, cut
 * from slabs of 4 MB that it maps by mmap() within malloc(). Larger ones have a mapping each.
 * calloc(), realloc() and the aligned ones call malloc(), by which a call is two.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define LEAST	   5  /* 32 bytes, with the header */
#define MOST	   20 /* 1 MB: what is larger is mapped */
#define SLAB_BYTES ((size_t)4 << 20)
#define ALIGNMENT  16

/* In front of each block that is given out. */
struct header {
	uint32_t class; /* MOST + 1: mapped by itself */
	uint32_t shift; /* from the block's begin to what was given out */
	uint64_t bytes; /* that were asked for */
};

static void *volatile free_blocks[MOST + 1];
static char *slab, *slab_end;
static atomic_flag locked = ATOMIC_FLAG_INIT;

void *memalign(size_t alignment, size_t bytes);

static void lock(void)
{
	while (atomic_flag_test_and_set_explicit(&locked, memory_order_acquire))
		;
}

static void unlock(void)
{
	atomic_flag_clear_explicit(&locked, memory_order_release);
}

static void *map(size_t bytes)
{
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return at == MAP_FAILED ? NULL : at;
}

static void *cut(size_t bytes)
{
	char *at;

	if ((size_t)(slab_end - slab) < bytes) {
		at = map(SLAB_BYTES);
		if (!at)
			return NULL;
		slab = at;
		slab_end = at + SLAB_BYTES;
	}
	at = slab;
	slab += bytes;
	return at;
}

static void *take(uint32_t class)
{
	void *at;

	lock();
	at = free_blocks[class];
	if (at)
		free_blocks[class] = *(void **)at;
	else
		at = cut((size_t)1 << class);
	unlock();
	return at;
}

static struct header *header_of(void *at)
{
	return (struct header *)((char *)at - sizeof(struct header));
}

void *malloc(size_t bytes)
{
	uint32_t class = LEAST;
	struct header *h;

	if (bytes > SIZE_MAX / 2) {
		errno = ENOMEM;
		return NULL;
	}
	while (class <= MOST && (size_t)1 << class < bytes + sizeof(*h))
		class ++;
	h = class <= MOST ? take(class) : map(bytes + sizeof(*h));
	if (!h) {
		errno = ENOMEM;
		return NULL;
	}
	*h = (struct header){ class, sizeof(*h), bytes };
	return h + 1;
}

void free(void *at)
{
	struct header *h = at ? header_of(at) : NULL;
	char *begin = h ? (char *)at - h->shift : NULL;
	uint32_t class;

	if (!h)
		return;
	class = h->class; /* h may be where the next one is noted */
	if (class > MOST) {
		munmap(begin, h->bytes + h->shift);
		return;
	}
	lock();
	*(void **)begin = free_blocks[class];
	free_blocks[class] = begin;
	unlock();
}

void *calloc(size_t nr, size_t bytes)
{
	void *at;

	if (__builtin_mul_overflow(nr, bytes, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	at = malloc(bytes);
	return at ? memset(at, 0, bytes) : NULL;
}

void *realloc(void *at, size_t bytes)
{
	void *to = malloc(bytes);
	size_t known = at ? header_of(at)->bytes : 0;

	if (!to)
		return NULL;
	memcpy(to, at ? at : to, known < bytes ? known : bytes);
	free(at);
	return to;
}

void *memalign(size_t alignment, size_t bytes)
{
	char *at, *to;
	struct header h;

	if (alignment <= ALIGNMENT)
		return malloc(bytes);
	if (bytes > SIZE_MAX / 4 || alignment > SIZE_MAX / 4) {
		errno = ENOMEM;
		return NULL;
	}
	at = malloc(bytes + alignment);
	if (!at)
		return NULL;
	to = (char *)(((uintptr_t)at + alignment - 1) & ~(uintptr_t)(alignment - 1));
	h = *header_of(at);
	h.shift += to - at;
	h.bytes -= to - at;
	*header_of(to) = h;
	return to;
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
	return memalign(alignment, bytes);
}

int posix_memalign(void **to, size_t alignment, size_t bytes)
{
	void *at = memalign(alignment, bytes);

	if (!at)
		return ENOMEM;
	*to = at;
	return 0;
}

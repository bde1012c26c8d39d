/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* CFLAGS: -O2 -fomit-frame-pointer -momit-leaf-frame-pointer -pthread */
/* LDLIBS: -lpthread */
/*
 * waits_jit [NAPS]: sleeps 1 ms at a time, called by generated code that keeps a frame record and
 * was itself called by generated code that uses the frame pointer for something else, as the JVM's
 * does: there it points to memory above the stack, elsewhere each time, with a number that is no
 * address of code where a return address would be.
 */
#include <sys/mman.h>

#include "waits.h"

#define PAGE  65536	    /* the largest of any kernel we run on */
#define ABOVE (64ull << 20) /* that memory lies so far above the stack, at least */

#ifdef __aarch64__
static const uint32_t outer[] = {
	0xa9bf7bfd, /* stp x29, x30, [sp, #-16]! */
	0xaa0103fd, /* mov x29, x1 */
	0xd63f0000, /* blr x0 */
	0xa8c17bfd, /* ldp x29, x30, [sp], #16 */
	0xd65f03c0, /* ret */
};
static const uint32_t inner[] = {
	0xa9bf7bfd, /* stp x29, x30, [sp, #-16]! */
	0x910003fd, /* mov x29, sp */
	0xd63f0040, /* blr x2 */
	0xa8c17bfd, /* ldp x29, x30, [sp], #16 */
	0xd65f03c0, /* ret */
};
#else
static const uint8_t outer[] = {
	0x55,		  /* push %rbp */
	0x48, 0x89, 0xf5, /* mov %rsi, %rbp */
	0xff, 0xd7,	  /* call *%rdi */
	0x90,		  /* nop: that it returns next would tell how to leave it */
	0x5d,		  /* pop %rbp */
	0xc3,		  /* ret */
};
static const uint8_t inner[] = {
	0x55,		  /* push %rbp */
	0x48, 0x89, 0xe5, /* mov %rsp, %rbp */
	0xff, 0xd2,	  /* call *%rdx */
	0x5d,		  /* pop %rbp */
	0xc3,		  /* ret */
};
#endif

typedef void (*outer_fn)(void *inner, uint64_t *memory, void (*nap)(void));

static struct truth naps = { "nap" };

static CHAIN void nap(void)
{
	struct timespec ms = { 0, NS_PER_MS };
	struct mark from = mark_now();

	nanosleep(&ms, NULL);
	truth_add(&naps, from);
}

static void *generate(const void *code, size_t sz)
{
	void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		fatal("mmap");
	memcpy(page, code, sz);
	__builtin___clear_cache((char *)page, (char *)page + sz);
	if (mprotect(page, PAGE, PROT_READ | PROT_EXEC))
		fatal("mprotect");
	return page;
}

/* A thread's stack has other memory above it, which the first thread's has not. */
static void *run(void *arg)
{
	void *in = generate(inner, sizeof(inner)), *out = generate(outer, sizeof(outer));
	uint64_t *memory = arg, *object;
	int nr = (int)memory[PAGE / 16];

	for (int i = 0; i < nr; i++) {
		object = memory + 16 * (i & 31);
		object[0] = (uint64_t)(object + 8);
		object[1] = 0x100000000 + 16ull * i;
		((outer_fn)out)(in, object, nap);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	char *room =
		mmap(NULL, 2 * ABOVE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t *memory = (uint64_t *)(room + 2 * ABOVE - PAGE);
	pthread_attr_t attr;
	pthread_t thread;

	if (room == MAP_FAILED)
		fatal("mmap");
	memory[PAGE / 16] = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000;
	pthread_attr_init(&attr);
	pthread_attr_setstack(&attr, room, 1 << 20);
	if (pthread_create(&thread, &attr, run, memory))
		fatal("pthread_create");
	pthread_join(thread, NULL);
	truth_print(&naps);
	return 0;
}

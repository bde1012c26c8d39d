/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* CFLAGS: -O2 -fomit-frame-pointer -momit-leaf-frame-pointer -falign-functions=1 */
/*
 * shapes: stacks without frame pointers, of functions that each keep their frame in another way, in
 * ever new orders; every few milliseconds a signal handler goes down from wherever that was, for as
 * long. Never ends. With -ffreestanding -nostdlib -static it is a program of a few kilobytes
 * that needs no C library and has no signals: tests/data has recordings of it.
 */
#include <stddef.h>
#include <stdint.h>

#if __STDC_HOSTED__
#include <signal.h>
#include <sys/time.h>
#endif

#define KEEP	      __attribute__((noinline, noclone))
#define DEPTH	      25
#define LEAF_TURNS    4
#define HANDLER_TURNS 2000

static volatile uint64_t sink;

static KEEP uint64_t leaf(uint64_t x)
{
	for (int i = 0; i < LEAF_TURNS; i++)
		x = x * 6364136223846793005ull + 1442695040888963407ull;
	return x;
}

static uint64_t down(int depth, uint64_t x);

static KEEP uint64_t plain(int depth, uint64_t x)
{
	return down(depth - 1, x * 3) + x;
}

/* Saved registers, and more locals than an instruction can address at once on aarch64. */
static KEEP uint64_t large(int depth, uint64_t x)
{
	volatile uint8_t locals[600];
	uint64_t a = x * 5, b = x * 7, c = x * 11, d = x * 13;

	locals[x % sizeof(locals)] = x;
	x = down(depth - 1, x);
	return down(0, a) + a + b * x + c + d + locals[b % sizeof(locals)];
}

/* A frame of a size that only the frame pointer remembers. */
static KEEP uint64_t varying(int depth, uint64_t x)
{
	volatile uint8_t *locals = __builtin_alloca(16 + x % 64);

	locals[0] = x;
	return down(depth - 1, x + 1) + locals[0];
}

/* x86-64: the frame hangs on a register of its own. */
static KEEP uint64_t aligned(int depth, uint64_t x)
{
	volatile uint64_t locals[4] __attribute__((aligned(64)));

	locals[x % 4] = x;
	return down(depth - 1, x + 2) + locals[x % 4];
}

static KEEP uint64_t nine(int depth, uint64_t x, uint64_t c, uint64_t d, uint64_t e, uint64_t f,
			  uint64_t g, uint64_t h, uint64_t i, uint64_t j)
{
	return down(depth - 1, x + c) + d + e + f + g + h + i + j;
}

/* Arguments on the stack: x86-64 pushes them. */
static KEEP uint64_t pushing(int depth, uint64_t x)
{
	return nine(depth - 1, x, x + 1, x + 2, x + 3, x + 4, x + 5, x + 6, x + 7, x + 8) + x;
}

/* No frame until it is needed, and several ends. */
static KEEP uint64_t early(int depth, uint64_t x)
{
	if (x % 3 == 0)
		return leaf(x);
	if (x % 3 == 1)
		return plain(depth - 1, x / 3) + x;
	return large(depth - 1, x / 3) * x;
}

static KEEP __attribute__((noreturn)) void jump(void **to, int depth, uint64_t x)
{
	sink += down(depth - 1, x);
	__builtin_longjmp(to, 1);
}

/* Ends with the call: the return address is that of the next function. */
static KEEP __attribute__((noreturn)) void end(void **to, int depth, uint64_t x)
{
	jump(to, depth - 1, x * 17);
}

static KEEP uint64_t ending(int depth, uint64_t x)
{
	void *here[5];

	if (!__builtin_setjmp(here))
		end(here, depth - 1, x);
	return x;
}

static uint64_t (*const volatile shapes[])(int depth, uint64_t x) = { plain,   large,	varying,
								      aligned, pushing, early,
								      ending };

static KEEP uint64_t down(int depth, uint64_t x)
{
	x = x * 6364136223846793005ull + 1442695040888963407ull;
	if (depth <= 0)
		return leaf(x);
	return shapes[(x >> 33) % (sizeof(shapes) / sizeof(shapes[0]))](depth, x >> 33) + 1;
}

#if __STDC_HOSTED__
static void on_alarm(int sig)
{
	static uint64_t seed;

	for (int i = 0; i < HANDLER_TURNS; i++)
		sink += down(DEPTH / 3, seed++);
}

int main(void)
{
	struct itimerval every = { { 0, 3000 }, { 0, 3000 } };
	struct sigaction on = { .sa_handler = on_alarm, .sa_flags = SA_RESTART };

	sigaction(SIGALRM, &on, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
	for (uint64_t seed = 0;; seed++)
		sink += down(DEPTH, seed);
}
#else
__attribute__((used)) static void run(void)
{
	for (uint64_t seed = 0;; seed++)
		sink += down(DEPTH, seed);
}

#ifdef __x86_64__
__asm__(".globl _start\n_start: .cfi_startproc\n.cfi_undefined rip\nxor %ebp, %ebp\n"
	"and $-16, %rsp\ncall run\nhlt\n.cfi_endproc\n.size _start, . - _start\n");
#else
__asm__(".globl _start\n_start: .cfi_startproc\n.cfi_undefined x30\nmov x29, #0\nmov x30, #0\n"
	"bl run\nbrk #0\n.cfi_endproc\n.size _start, . - _start\n");
#endif
#endif

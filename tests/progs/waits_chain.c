/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* CFLAGS: -O2 -fomit-frame-pointer -momit-leaf-frame-pointer -pthread */
/* LDLIBS: -lpthread */
/*
 * waits_chain [ROUNDS]: three processes. "first" sleeps for 2 ms in pace() and wakes "second" in
 * wake_b(), which waited in wait_for_a() and wakes "third" in wake_c(), which waited in
 * wait_for_b(): all by futex.
 */
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "waits.h"

/* How often each was woken. */
struct bells {
	atomic_uint b, c;
};

static struct truth paced = { .name = "pace" };
static struct truth waited_a = { .name = "wait_for_a" }, waited_b = { .name = "wait_for_b" };
static struct bells *bells;
static unsigned int rounds;

static inline __attribute__((always_inline)) void wait_above(atomic_uint *bell, unsigned int nr)
{
	while (*bell <= nr)
		syscall(SYS_futex, bell, FUTEX_WAIT, nr, NULL, NULL, 0);
}

static CHAIN void pace(void)
{
	struct mark from = mark_now();

	sleep_ns(2 * NS_PER_MS);
	truth_add(&paced, from);
}

static CHAIN void wake_b(void)
{
	bells->b++;
	syscall(SYS_futex, &bells->b, FUTEX_WAKE, 1, NULL, NULL, 0);
	__asm__ volatile("");
}

static CHAIN void wait_for_a(unsigned int nr)
{
	struct mark from = mark_now();

	wait_above(&bells->b, nr);
	truth_add(&waited_a, from);
}

static CHAIN void wake_c(void)
{
	bells->c++;
	syscall(SYS_futex, &bells->c, FUTEX_WAKE, 1, NULL, NULL, 0);
	__asm__ volatile("");
}

static CHAIN void wait_for_b(unsigned int nr)
{
	struct mark from = mark_now();

	wait_above(&bells->c, nr);
	truth_add(&waited_b, from);
}

static CHAIN void first(void)
{
	unsigned int i;

	name_thread("first");
	for (i = 0; i < rounds; i++) {
		pace();
		wake_b();
	}
	truth_print(&paced);
}

static CHAIN void second(void)
{
	unsigned int i;

	name_thread("second");
	for (i = 0; i < rounds; i++) {
		wait_for_a(i);
		wake_c();
	}
	truth_print(&waited_a);
}

static CHAIN void third(void)
{
	unsigned int i;

	name_thread("third");
	for (i = 0; i < rounds; i++)
		wait_for_b(i);
	truth_print(&waited_b);
}

static void in_child(void (*run)(void))
{
	pid_t child = fork();

	if (child < 0)
		fatal("fork");
	if (child)
		return;
	run();
	exit(0);
}

int main(int argc, char **argv)
{
	rounds = (unsigned int)arg_nr(argc, argv, 1, 500);
	bells = mmap(NULL, sizeof(*bells), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	if (bells == MAP_FAILED)
		fatal("mmap");
	in_child(third);
	in_child(second);
	first();
	while (wait(NULL) > 0)
		;
	return 0;
}

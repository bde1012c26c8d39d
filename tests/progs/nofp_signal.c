/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* CFLAGS: -O2 -fomit-frame-pointer -momit-leaf-frame-pointer */
/*
 * nofp_signal HOW [SECONDS]: burns in a signal handler. The stack is main, outermost, what the
 * signal interrupted, what the handler returns to, on_signal, handler_spin.
 *
 *	leaf	a timer interrupts first_instruction(), which does nothing but loop at its first
 *		instruction, and has no frame; the handler has a stack of its own
 *	plain	likewise, with the handler on the same stack
 *	raise	raise() in the C library; the handler has a stack of its own
 */
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "nofp.h"

#ifdef __aarch64__
#define JUMP "b"
#else
#define JUMP "jmp"
#endif

/* Right before it lies other code: whoever takes its address for one to return to is wrong. */
void first_instruction(void);
__asm__(".pushsection .text\n"
	".type not_this_one, %function\n"
	"not_this_one:\n"
	"	.cfi_startproc\n"
	"	ret\n"
	"	.cfi_endproc\n"
	"	.size not_this_one, .-not_this_one\n"
	".globl first_instruction\n"
	".type first_instruction, %function\n"
	"first_instruction:\n"
	"	.cfi_startproc\n"
	"	" JUMP " first_instruction\n"
	"	.cfi_endproc\n"
	"	.size first_instruction, .-first_instruction\n"
	".popsection\n");

static uint64_t spin_ns;

static CHAIN void handler_spin(uint64_t ns)
{
	burn_until(CLOCK_MONOTONIC, wall_ns() + ns);
}

static CHAIN void on_signal(int signal, siginfo_t *info, void *context)
{
	handler_spin(spin_ns);
	_exit(0);
}

static CHAIN void outermost(int by_timer)
{
	struct itimerval soon = { .it_value.tv_usec = 10000 };

	if (by_timer) {
		setitimer(ITIMER_REAL, &soon, NULL);
		first_instruction();
	} else {
		raise(SIGALRM);
	}
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "leaf";
	struct sigaction action = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO };
	stack_t own = { .ss_size = 65536 };

	spin_ns = arg_ns(argc, argv, 2, 5);
	own.ss_sp = malloc(own.ss_size);
	if (strcmp(how, "plain")) {
		action.sa_flags |= SA_ONSTACK;
		sigaltstack(&own, NULL);
	}
	sigaction(SIGALRM, &action, NULL);
	outermost(strcmp(how, "raise"));
	return 0;
}

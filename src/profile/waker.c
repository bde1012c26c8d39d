/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Interrupts are found by the functions that they enter the kernel through. */
#include "profile/waker.h"

#include <string.h>

#include "profile/wait.h"

#define NR(table) (sizeof(table) / sizeof((table)[0]))

/* clang-format off */
/* Beginnings of names. What is rootward of the outermost one was interrupted. */
static const char *const interrupts[] = {
	/* x86-64 */
	"asm_sysvec_", "sysvec_", "asm_common_interrupt", "common_interrupt", "asm_exc_nmi",
	/* aarch64 */
	"el1_interrupt", "el0_interrupt", "el1h_64_irq", "el0t_64_irq", "el1_irq", "el0_irq",
	"gic_handle_irq",
	/* both: at the end of an interrupt, with its work left for later */
	"irq_exit", "__irq_exit_rcu",
};

/* That work, outside of any interrupt: in a thread that exists for it. */
static const char *const softirqs[] = { "handle_softirqs", "__do_softirq", "____do_softirq" };

/*
 * Or in one that held it off while it queued something itself: sending over the loopback device
 * wakes the receiver here, and the sender is whom it waited for.
 */
static const char *const own_softirqs[] = { "__local_bh_enable_ip", "do_softirq" };
/* clang-format on */

static bool begins(const char *name, const char *const *table, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (!strncmp(name, table[i], strlen(table[i])))
			return true;
	return false;
}

/* One past the outermost frame of a table, 0 when there is none. */
static uint32_t outermost(const struct profile *p, uint32_t stack, const char *const *table,
			  size_t nr)
{
	uint32_t i;
	const uint32_t *frames = profile_stack_frames(p, stack, &i);

	while (i > 0 && !begins(profile_frame_name(p, frames[i - 1]), table, nr))
		i--;
	return i;
}

/* Of who holds a lock, which may have been interrupted itself, what no stack tells. */
static void add_holding(struct waker_frames *f, const struct waker *w, const struct lock *l)
{
	if (l->flags & LOCK_DEADLOCK)
		f->note = "[deadlock]";
	else if (l->role == LOCK_RUNS)
		f->note = "[running]";
	if (!w->tid)
		f->instead = "[unknown]";
}

struct waker_frames waker_frames(const struct profile *p, const struct waker *w)
{
	struct waker_frames f = { .first = wait_plumbing(p, w->kstack),
				  .end = p->stacks[w->kstack].nr };
	uint32_t end = outermost(p, w->kstack, interrupts, NR(interrupts));

	if (!end && !outermost(p, w->kstack, own_softirqs, NR(own_softirqs)))
		end = outermost(p, w->kstack, softirqs, NR(softirqs));
	if (p->nr_locks) {
		add_holding(&f, w, &p->locks[w - p->wakers]);
		return f;
	}
	f.irq = end > f.first;
	if (f.irq) {
		f.end = end;
		f.instead = "[irq]";
	}
	return f;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a thread that waits has called: which futex by its arguments, and which epoll. */
#include "kernel.bpf.h"
#include "lock.h"
#include "waits.bpf.h"

__noinline int wait_called_with(__u32 wait, __u32 fd, __u32 op, __u32 expected)
{
	__u32 futex = PROF_FUTEX_UNKNOWN;

	if (wait_is_epoll(wait))
		return (1 + fd % 15) << PROF_FUTEX_BIT;
	if (!wait_is_futex(wait))
		return 0;
	if (op == (LOCK_OP_BITSET | LOCK_PRIVATE))
		futex = expected == 2		? PROF_FUTEX_MUTEX
			: expected == ~0u	? PROF_FUTEX_PARK
			: expected & (1u << 30) ? PROF_FUTEX_RWLOCK
						: PROF_FUTEX_COUNTER;
	else if (op == (LOCK_OP_WAIT | LOCK_PRIVATE))
		futex = expected == 1	? PROF_FUTEX_PARKING_LOT
			: expected == 2 ? PROF_FUTEX_LIBC_MUTEX
					: PROF_FUTEX_UNKNOWN;
	else if (op == (LOCK_OP_BITSET | LOCK_REALTIME))
		futex = PROF_FUTEX_JOIN;
	return futex << PROF_FUTEX_BIT;
}

__noinline int wait_called(__u32 wait)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf());

	return wait_called_with(wait, REGS_CALL_ARG1(regs), REGS_CALL_ARG2(regs),
				REGS_CALL_ARG3(regs));
}

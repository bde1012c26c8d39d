/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where a goroutine of Go was, for a walk that has come to code which works for it elsewhere. */
#include "unwind.bpf.h"
#include "kernel.bpf.h"
#include "tables.bpf.h"
#include "step.bpf.h"

/* The runtime of Go: of a goroutine, struct g; of a thread, struct m. */
#define GO_G_M	       48
#define GO_G_SP_PC     56
#define GO_G_BP(new)   ((new) ? 96 : 104)
#define GO_M_CURG(new) ((new) ? 184 : 192)

static __always_inline bool read_word(__u64 at, __u64 *word)
{
	return !bpf_probe_read_user(word, sizeof(*word), (void *)at);
}

/*
 * morestack works on the thread's stack for a goroutine, unless that has been given away: then the
 * stack is complete here. What waits is not remembered by such words, and mostly has none: there
 * it is complete, too. Separately verified.
 */
__noinline int unwind_goroutine(__u32 id, __u32 rule)
{
	struct scratch *s = scratch_get(id);
	__u64 g, m, word, at, saved[2], new = rule >> 8 & 1;

	if (!s || prof_cfg.remember || ARCH != TABLE_X86)
		return UNWIND_END_CFI_ROOT;
	at = THREAD_POINTER(bpf_get_current_task_btf()) - (rule >> 9 & 0x7ff) * 8;
	if (!read_word(at, &g) || !read_word(g + GO_G_M, &m) || !read_word(m, &word) || word != g)
		return UNWIND_END_CFI_ROOT;
	if (!read_word(m + GO_M_CURG(new), &g) || !g || !read_word(g + GO_G_M, &word) || word != m)
		return UNWIND_END_CFI_ROOT;
	if (bpf_probe_read_user(saved, sizeof(saved), (void *)(g + GO_G_SP_PC)) || saved[0] & 7 ||
	    !read_word(g + GO_G_BP(new), &s->at.fp))
		return UNWIND_END_CFI_ROOT;
	s->at.fp_at = 0;
	if (step_special(ARCH, rule) == RULE_GO_SAVED_SP) {
		if (!read_word(saved[0], &saved[1]))
			return UNWIND_END_READ;
		saved[0] += 8;
	}
	return step_leave(&s->at, saved[0], saved[1]);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which stacks reach the function that their thread began in. */
#include "symbol/rooted.h"

#include <stdlib.h>
#include <string.h>

/* Functions that a thread starts in, sorted: glibc, musl, bionic, Go. */
static const char *const entries[] = {
	"__clone",
	"__clone3",
	"__libc_start_call_main",
	"__libc_start_main",
	"__libc_start_main_alias_1",
	"__libc_start_main_alias_2",
	"__libc_start_main_impl",
	"__pthread_start",
	"__start_thread",
	"_dl_start_user",
	"_rt0_amd64",
	"_rt0_amd64_linux",
	"_rt0_arm64_linux",
	"_start",
	"_start_c",
	"clone",
	"clone3",
	"runtime.goexit",
	"runtime.goexit.abi0",
	"runtime.mstart",
	"runtime.mstart.abi0",
	"runtime.rt0_go",
	"runtime.rt0_go.abi0",
	"start_thread",
	"thread_start",
};

static int entry_compare(const void *name, const void *row)
{
	return strcmp(name, *(const char *const *)row);
}

static bool frame_is_entry(const struct profile *p, uint32_t frame)
{
	return profile_frame_at(p, frame)->kind == FRAME_USER &&
	       bsearch(profile_frame_linkage(p, frame), entries, sizeof(entries) / sizeof(*entries),
		       sizeof(*entries), entry_compare);
}

static bool stack_is_rooted(const struct profile *p, const bool *is_entry, uint32_t stack)
{
	const struct stack *s = &p->stacks[stack];
	uint32_t root = profile_stack_root(p, stack);

	if (!s->nr)
		return false;
	if (is_entry[root])
		return true;
	if (profile_frame_at(p, root)->kind == FRAME_KERNEL)
		return s->end != UNWIND_END_DEPTH;
	return frame_is_entry(p, root) || s->end == UNWIND_END_CFI_ROOT ||
	       s->end == UNWIND_END_ENTRY || (s->end == UNWIND_END_ROOT && s->nr > 1);
}

void rooted_mark(struct profile *p, const bool *is_entry)
{
	for (size_t i = 1; i < p->nr_stacks; i++)
		if (stack_is_rooted(p, is_entry, i))
			p->stacks[i].flags |= STACK_ROOTED;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The table of remedies: the first row that fits says what helps. */
#include "profile/remedy.h"

#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "profile/runtime.h"

/* What the walk stopped in. */
enum place {
	IN_FILE = 1,
	IN_JIT = 2,
	IN_KERNEL = 4,
	IN_UNKNOWN = 8,
	NOWHERE = 16,
	ANYWHERE = 31,
};

/* How user stacks were walked. */
enum walk {
	BY_FP = 1,
	BY_AUTO = 2,
	BY_DWARF = 4,
	ANYHOW = 7,
};

#define END(name) (1u << UNWIND_END_##name)
#define ALL_ENDS  ((1u << UNWIND_NR_ENDS) - 1)
#define BAD_FPS	  (END(BAD_FP) | END(BAD_PC) | END(ROOT)) /* the frame pointer held anything */
#define BAD_STEPS (BAD_FPS | END(NO_CODE) | END(NO_CFI) | END(BAD_CFA) | END(LOST_REG))

static const struct remedy {
	unsigned int ends, places, walks;
	const char *text; /* NULL: another table knows */
} remedies[] = {
	{ END(NONE), ANYWHERE, ANYHOW,
	  "no stack was taken: -K leaves out those of programs, -U those of the kernel" },
	{ END(COMPAT), ANYWHERE, ANYHOW, "nothing: only 64-bit processes are walked" },
	{ END(NO_TABLE), ANYWHERE, ANYHOW,
	  "record longer; raise --unwind-mem if the tables did not fit" },
	{ END(MOVED), ANYWHERE, ANYHOW,
	  "nothing: the thread woke within moments of the start, or its stack is deep" },
	{ END(NO_ROOM), ANYWHERE, ANYHOW, "record less at a time: -p, -t, -n or --cgroup" },
	{ END(LATE), ANYWHERE, ANYHOW, "record longer" },
	{ END(SILENT), ANYWHERE, ANYHOW,
	  "nothing: something keeps its mappings locked, such as a file system that hangs" },
	{ END(DEPTH), IN_KERNEL, ANYHOW,
	  "the kernel ends its own stacks there: raise kernel.perf_event_max_stack" },
	{ END(DEPTH), ANYWHERE, ANYHOW, NULL },
	{ END(READ), NOWHERE, ANYHOW,
	  "no user registers: the thread was starting or ending, or is 32-bit" },
	{ END(READ), IN_FILE | IN_JIT, BY_FP,
	  "swapped out, or the frame pointer was none: --call-graph auto unwinds by tables" },
	{ END(READ), ANYWHERE, ANYHOW,
	  "swapped out, or never touched: ends by itself once tables are built (-v tells)" },
	{ BAD_STEPS, IN_JIT, ANYHOW, NULL },
	{ BAD_STEPS, IN_UNKNOWN, ANYHOW,
	  "gone before its mappings were read: let bpfprof start the program, behind --" },
	{ BAD_FPS, IN_FILE, BY_FP,
	  "built without frame pointers: --call-graph auto unwinds by tables" },
	{ END(NO_CFI), IN_FILE, BY_DWARF,
	  "built without unwind tables: --call-graph auto goes on by frame pointer there" },
	{ BAD_FPS | END(NO_CFI), IN_FILE, ANYHOW,
	  "built without unwind tables: build with -fasynchronous-unwind-tables or "
	  "-fno-omit-frame-pointer" },
	{ END(NO_CODE) | END(BAD_CFA), IN_FILE, ANYHOW,
	  "its unwind tables do not fit the stack: hand-written assembly, or code that switches "
	  "stacks" },
	{ END(LOST_REG), IN_FILE, ANYHOW,
	  "its unwind tables need more registers: build with -fno-omit-frame-pointer" },
	{ ALL_ENDS, ANYWHERE, ANYHOW, "no remedy is known" },
};

static enum place place_of(const struct break_row *row)
{
	switch (row->kind) {
	case FRAME_NONE:
		return NOWHERE;
	case FRAME_USER:
		return IN_FILE;
	case FRAME_KERNEL:
		return IN_KERNEL;
	case FRAME_ANON:
		return IN_JIT;
	default:
		return IN_UNKNOWN;
	}
}

/* Those that do not say how they walked are older than tables. */
static enum walk walk_of(const struct profile *p)
{
	const char *name = profile_str(p, p->meta.call_graph);

	if (!strcmp(name, "auto"))
		return BY_AUTO;
	return strcmp(name, "dwarf") ? BY_FP : BY_DWARF;
}

static char *depth_remedy(const struct profile *p)
{
	if (!p->meta.max_depth)
		return xstrdup("raise --max-depth");
	if (p->meta.max_depth >= PROF_MAX_FRAMES)
		return xasprintf("deeper than %d frames, the most that --max-depth can take",
				 PROF_MAX_FRAMES);
	return xasprintf("raise --max-depth (it was %" PRIu64 ")", p->meta.max_depth);
}

char *remedy_new(const struct profile *p, const struct break_row *row,
		 struct runtime_finder *finder)
{
	const struct remedy *r = remedies;

	while (!(r->ends & 1u << row->end && r->places & place_of(row) && r->walks & walk_of(p)))
		r++;
	if (r->text)
		return xstrdup(r->text);
	return row->end == UNWIND_END_DEPTH ? depth_remedy(p)
					    : xstrdup(runtime_find(finder, row->process)->whole);
}

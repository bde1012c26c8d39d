/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What --audit found wrong, for people: an example of each kind, the stack that was remembered
 * beside the one that was walked, leaf first.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/text.h"
#include "output/grid.h"
#include "output/output.h"
#include "profile/audit.h"

/* A frame of a stack. Beyond its end: why it ended. */
static void put_cell(struct grid *g, const struct profile *p, const struct view *v, uint32_t stack,
		     uint32_t i)
{
	const struct stack *s = &p->stacks[stack];
	uint32_t nr;
	const uint32_t *frames = profile_stack_frames(p, stack, &nr);

	if (i == nr && s->end != UNWIND_END_NONE)
		grid_cell(g, "%s", unwind_end_texts[stack_end(s)]);
	else
		grid_cell(g, "%s", i < nr ? view_frame_name(v, p, frames[i]) : "");
}

static void put_stacks(const struct profile *p, const struct view *v, const struct disagreement *d,
		       FILE *out)
{
	/* Of samples nothing is remembered: the kernel walks what we have walked. */
	const struct grid_column columns[] = {
		{ .head = "", .kind = GRID_TEXT },
		{ p->meta.is_time ? "REMEMBERED" : "BPFPROF", GRID_FUNCTION, .min = 16 },
		{ p->meta.is_time ? "WALKED" : "KERNEL", GRID_FUNCTION, .min = 16 },
	};
	uint32_t a = p->stacks[d->remembered].nr, b = p->stacks[d->walked].nr;
	uint32_t nr = (a > b ? a : b) + 1, common = audit_common(p, d);
	struct grid g;

	grid_init(&g, out, columns, 3);
	g.indent = 2;
	g.first = true;
	for (uint32_t i = 0; i < nr; i++) {
		grid_row(&g, i < common ? STYLE_PLAIN : STYLE_WARNING, i < common ? "" : "!", NULL);
		put_cell(&g, p, v, d->remembered, i);
		put_cell(&g, p, v, d->walked, i);
	}
	grid_end(&g);
}

static void put_row(const struct profile *p, const struct view *v, const struct audit_row *row,
		    FILE *out)
{
	const struct disagreement *d = row->first;
	char *name = text_cleaned(profile_str(p, d->thread));

	fprintf(out, "\n%s half, %s: %s; first thread %s (%" PRIu32 ") of process %" PRIu32 "\n",
		d->half == PROF_STACK_KERNEL ? "kernel" : "user", audit_kind_texts[row->kind],
		text_count(row->times), name, d->tid, d->pid);
	free(name);
	put_stacks(p, v, d, out);
}

void audited_put(const struct profile *p, const struct view *v, FILE *out)
{
	struct audit_row rows[AUDIT_MAX_ROWS];
	size_t nr = audit_rows(p, rows);

	for (size_t i = 0; i < nr; i++)
		put_row(p, v, &rows[i], out);
}

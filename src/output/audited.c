/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What --audit found wrong, for people: an example of each kind, the stack that was remembered
 * beside the one that was walked, leaf first.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/text.h"
#include "output/output.h"
#include "profile/audit.h"

#define INDENT	  4
#define MIN_WIDTH 16

/* A frame of a stack, to free(). Beyond its end: why it ended. */
static char *cell(const struct profile *p, const struct view *v, uint32_t stack, uint32_t i)
{
	const struct stack *s = &p->stacks[stack];
	uint32_t nr;
	const uint32_t *frames = profile_stack_frames(p, stack, &nr);

	if (i == nr && s->end != UNWIND_END_NONE)
		return text_cleaned(unwind_end_texts[stack_end(s)]);
	return text_cleaned(i < nr ? view_frame_name(v, p, frames[i]) : "");
}

static void put_line(const char *mark, const char *left, const char *right, size_t width, FILE *out)
{
	fprintf(out, "%-*s", INDENT, mark);
	text_fit(out, left, width, 1);
	fputs("  ", out);
	text_fit(out, right, width, 0);
	fputc('\n', out);
}

static void put_stacks(const struct profile *p, const struct view *v, const struct disagreement *d,
		       FILE *out)
{
	uint32_t a = p->stacks[d->remembered].nr, b = p->stacks[d->walked].nr;
	uint32_t nr = (a > b ? a : b) + 1, common = audit_common(p, d);
	size_t width = output_width(out);
	char *left, *right;

	width = width > 2 * MIN_WIDTH + INDENT + 2 ? (width - INDENT - 2) / 2 : MIN_WIDTH;
	put_line("", "REMEMBERED", "WALKED", width, out);
	for (uint32_t i = 0; i < nr; i++) {
		left = cell(p, v, d->remembered, i);
		right = cell(p, v, d->walked, i);
		put_line(i < common ? "" : "  !", left, right, width, out);
		free(left);
		free(right);
	}
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

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Annotated functions for people: blocks of source text around hot lines, the hottest first, with
 * hot instructions below their lines. Blocks are of one file and one function.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "output/annotations.h"
#include "output/output.h"

#define HOT_PCT	     1.0 /* of the function: such lines and instructions are shown … */
#define ALWAYS	     5	 /* … and as many lines in any case */
#define CONTEXT	     2	 /* lines around hot ones */
#define INSN_CONTEXT 3	 /* instructions around hot ones, where there are no lines */
#define MIN_TEXT     24	 /* columns for the source; events go for that */

struct block {
	uint32_t first, end; /* lines of the annotation */
	uint32_t from, to;   /* lines of the file */
	uint64_t heat;
};

struct page {
	FILE *out;
	const struct annotations *all;
	const struct annotation *a;
	size_t width; /* of the terminal, or without end */
	size_t nr_events, nr_columns;
	size_t columns[PROF_MAX_EVENTS], number;
	bool *hot; /* by line */
	struct block *blocks;
	size_t nr, cap;
	uint64_t left; /* in lines that are not shown */
	size_t nr_left;
};

/* Returns the columns that they took. */
static size_t put_costs(const struct page *p, const struct cost *costs)
{
	size_t used = 0;

	for (size_t e = 0; e < p->nr_columns; e++) {
		fprintf(p->out, "%*s ", (int)p->columns[e],
			costs && costs[e].value ? text_pct(annotations_pct(p->a, costs, e)) : "");
		used += p->columns[e] + 1;
	}
	return used;
}

/* --- rows --- */

static void put_fitted(const struct page *p, const char *safe, size_t used)
{
	if (p->width == SIZE_MAX)
		fputs(safe, p->out);
	else
		text_fit(p->out, safe, p->width > used + 1 ? p->width - used : 1, 0);
}

static void put_row(const struct page *p, const struct cost *costs, enum style style,
		    const char *number, const char *safe)
{
	size_t used;

	if (style != STYLE_PLAIN)
		style_put(p->out, style);
	used = put_costs(p, costs);
	fprintf(p->out, "%*s", (int)p->number, number);
	if (*safe) {
		fputs("  ", p->out);
		put_fitted(p, safe, used + p->number + 2);
	}
	if (style != STYLE_PLAIN)
		style_put(p->out, STYLE_PLAIN);
	fputc('\n', p->out);
}

static void put_insn(const struct page *p, uint32_t i)
{
	const struct annotation_insn *insn = &p->a->insns[i];
	const struct cost *costs = annotation_insn_cost(p->a, i);
	bool in_kernel = annotation_kind(p->a) == FRAME_KERNEL;
	char *text = xasprintf("    %s%" PRIx64 "%s%s", in_kernel ? "+0x" : "", insn->address,
			       insn->text ? ":  " : "",
			       insn->text ? annotation_str(p->a, insn->text) : "");
	char *safe = annotations_expanded(text, strlen(text));

	put_row(p, costs, annotations_style(annotations_most(p->a, costs)), "", safe);
	free(safe);
	free(text);
}

/* Below a line of source text: what of it is hot, or all. */
static void put_insns(const struct page *p, const struct annotation_line *l)
{
	for (uint32_t i = l->first; i < l->first + l->nr && !p->all->no_insns; i++) {
		uint32_t insn = p->a->by_line[i];

		if (p->a->insns[insn].text &&
		    (p->all->all_insns ||
		     annotations_most(p->a, annotation_insn_cost(p->a, insn)) >= HOT_PCT))
			put_insn(p, insn);
	}
}

/* Is one of the next instructions, or of the last ones, hot? */
static bool is_near_hot(const struct page *p, const struct annotation_line *l, uint32_t i,
			double limit)
{
	uint32_t from = i > l->first + INSN_CONTEXT ? i - INSN_CONTEXT : l->first;

	for (; from <= i + INSN_CONTEXT && from < l->first + l->nr; from++)
		if (annotations_most(p->a, annotation_insn_cost(p->a, p->a->by_line[from])) >=
		    limit)
			return true;
	return false;
}

static double hottest_insn(const struct page *p, const struct annotation_line *l)
{
	double best = 0;

	for (uint32_t i = l->first; i < l->first + l->nr; i++) {
		double share = annotations_most(p->a, annotation_insn_cost(p->a, p->a->by_line[i]));

		best = share > best ? share : best;
	}
	return best;
}

/* Code whose lines are not known stands for itself. */
static void put_code(const struct page *p, const struct annotation_line *l)
{
	double limit = hottest_insn(p, l);
	bool gap = false;

	limit = limit < HOT_PCT ? limit : HOT_PCT;
	for (uint32_t i = l->first; i < l->first + l->nr && !p->all->no_insns; i++) {
		if (!p->all->all_insns && !p->all->whole && !is_near_hot(p, l, i, limit)) {
			gap = true;
			continue;
		}
		if (gap)
			put_row(p, NULL, STYLE_IDLE, "", "    …");
		gap = false;
		put_insn(p, p->a->by_line[i]);
	}
}

/* --- blocks --- */

static bool is_of_block(const struct page *p, const struct block *b, uint32_t line)
{
	const struct annotation_line *l = &p->a->lines[line], *first = &p->a->lines[b->first];

	return l->file == first->file && l->function == first->function &&
	       (p->all->whole || l->line <= b->to || l->line - b->to <= CONTEXT + 1);
}

static void mark_hot(struct page *p)
{
	p->hot = xcalloc(p->a->nr_lines + 1, sizeof(*p->hot));
	for (size_t i = 0; i < p->a->nr_lines && p->all->whole; i++)
		p->hot[i] = true;
	for (size_t i = 0; i < p->a->nr_hottest; i++) {
		uint32_t line = p->a->hottest[i];
		const struct cost *costs = annotation_line_cost(p->a, line);

		if (i < ALWAYS || annotations_most(p->a, costs) >= HOT_PCT)
			p->hot[line] = true;
	}
}

static void add_to_block(struct page *p, uint32_t line)
{
	const struct annotation_line *l = &p->a->lines[line];
	uint64_t heat = annotation_line_cost(p->a, line)[p->all->costs.event].value;
	struct block *b = p->nr ? &p->blocks[p->nr - 1] : NULL;

	if (!b || !is_of_block(p, b, line)) {
		p->blocks = xgrow(p->blocks, p->nr, &p->cap, sizeof(*p->blocks));
		b = &p->blocks[p->nr++];
		*b = (struct block){ .first = line,
				     .from = l->line > CONTEXT ? l->line - CONTEXT : 1 };
	}
	b->end = line + 1;
	b->to = l->line < UINT32_MAX - CONTEXT ? l->line + CONTEXT : UINT32_MAX - 1;
	b->heat = heat > b->heat ? heat : b->heat;
}

static int by_heat(const void *x, const void *y)
{
	const struct block *a = x, *b = y;

	if (a->heat != b->heat)
		return a->heat > b->heat ? -1 : 1;
	return a->first < b->first ? -1 : a->first > b->first;
}

static void make_blocks(struct page *p)
{
	mark_hot(p);
	for (size_t i = 0; i < p->a->nr_lines; i++)
		if (p->hot[i])
			add_to_block(p, i);
	if (p->nr)
		qsort(p->blocks, p->nr, sizeof(*p->blocks), by_heat);
}

/* "/build/x/a.c:12-20  inlined: inner" */
static void put_place(const struct page *p, const struct block *b)
{
	const struct annotation_line *l = &p->a->lines[b->first];
	const char *file = l->file ? annotation_str(p->a, l->file) : "lines are not known";
	char range[32] = "", *text, *safe;

	if (l->file)
		snprintf(range, sizeof(range), ":%" PRIu32, l->line);
	if (p->width != SIZE_MAX && strlen(file) + strlen(range) > p->width)
		file = output_base_name(file);
	text = xasprintf("%s%s%s%s", file, range, l->inlined ? "  inlined: " : "",
			 l->inlined ? annotation_str(p->a, l->function) : "");
	safe = text_cleaned(text);
	fputc('\n', p->out);
	style_put(p->out, STYLE_HEAD);
	put_fitted(p, safe, 0);
	style_put(p->out, STYLE_PLAIN);
	fputc('\n', p->out);
	free(safe);
	free(text);
}

/* A line of the file; l NULL: the function has no code there. */
static void put_line(struct page *p, const struct block *b, uint32_t number,
		     const struct annotation_line *l)
{
	const struct cost *costs = l ? annotation_line_cost(p->a, l - p->a->lines) : NULL;
	size_t len = 0;
	const char *source = annotation_source(p->a, p->a->lines[b->first].file, number, &len);
	char digits[16], *safe;
	bool any = costs && annotations_most(p->a, costs) > 0;

	if (!source && !any && !(l && p->all->whole))
		return;
	snprintf(digits, sizeof(digits), "%" PRIu32, number);
	safe = annotations_expanded(source ? source : "", len);
	put_row(p, costs, any ? annotations_style(annotations_most(p->a, costs)) : STYLE_IDLE,
		digits, safe);
	free(safe);
	if (any)
		p->hot[l - p->a->lines] = true;
	if (l)
		put_insns(p, l);
}

static void put_block(struct page *p, const struct block *b)
{
	const struct annotation_line *l = &p->a->lines[b->first],
				     *end = p->a->lines + p->a->nr_lines, *first = l;
	size_t len;

	put_place(p, b);
	if (!l->file) {
		put_code(p, l);
		return;
	}
	while (l > p->a->lines && l[-1].file == first->file && l[-1].function == first->function &&
	       l[-1].line >= b->from)
		l--;
	for (uint32_t n = b->from; n <= b->to; n++) {
		bool is_left = l < end && l->file == first->file && l->function == first->function;

		if (!annotation_source(p->a, first->file, n, &len)) {
			if (!is_left || l->line > b->to)
				return;
			n = l->line; /* which may be any number */
		}
		is_left = is_left && l->line == n;
		put_line(p, b, n, is_left ? l : NULL);
		l += is_left;
	}
}

/* --- a function --- */

static size_t digits_of(uint32_t n)
{
	char text[16];

	return snprintf(text, sizeof(text), "%" PRIu32, n);
}

static void measure(struct page *p)
{
	size_t used;

	p->number = 4;
	for (size_t i = 0; i < p->nr; i++)
		if (digits_of(p->blocks[i].to) > p->number)
			p->number = digits_of(p->blocks[i].to);
	used = p->number + 2;
	for (size_t e = 0; e < p->nr_events && e < PROF_MAX_EVENTS; e++) {
		size_t len = p->nr_events > 1 ? strlen(profile_str(p->all->profile,
								   p->all->profile->events[e].name))
					      : 0;

		p->columns[e] = len < 6 ? 6 : len > 14 ? 14 : len;
		used += p->columns[e] + 1;
		if (e && p->width != SIZE_MAX && used + MIN_TEXT > p->width)
			break;
		p->nr_columns = e + 1;
	}
}

static void put_event_heads(const struct page *p)
{
	const struct profile *profile = p->all->profile;

	if (p->nr_events < 2)
		return;
	fputc('\n', p->out);
	style_put(p->out, STYLE_HEAD);
	for (size_t e = 0; e < p->nr_columns; e++) {
		char *safe = text_cleaned(profile_str(profile, profile->events[e].name));
		size_t width = text_width(safe);

		fprintf(p->out, "%*s", (int)(width < p->columns[e] ? p->columns[e] - width : 0),
			"");
		text_fit(p->out, safe, p->columns[e], 0);
		fputs(e + 1 < p->nr_columns ? " " : "", p->out);
		free(safe);
	}
	style_put(p->out, STYLE_PLAIN);
	fputc('\n', p->out);
	if (p->nr_columns < p->nr_events)
		fprintf(p->out, "… %zu more events (--json has all)\n",
			p->nr_events - p->nr_columns);
}

/* "hot  /usr/bin/x", and what it has of all. */
static void put_head(const struct page *p)
{
	const struct profile *profile = p->all->profile;
	const struct cost_function *f = &p->a->function;
	const struct cost *sum = &f->sums[p->all->costs.event],
			  *all = &p->all->costs.totals[p->all->costs.event];
	char *text = xasprintf("%s  %s", profile_str(profile, f->name),
			       f->inlined ? "inlined elsewhere"
					  : profile_str(profile, profile->modules[f->module].path)),
	     *safe = text_cleaned(text);

	style_put(p->out, STYLE_HEAD);
	put_fitted(p, safe, 0);
	style_put(p->out, STYLE_PLAIN);
	fprintf(p->out, "\n%s of the recording, %s %s%s",
		text_pct(all->value ? 100.0 * sum->value / all->value : 0),
		text_count(sum->samples), profile_noun(profile), sum->samples == 1 ? "" : "s");
	if (profile->meta.is_time)
		fprintf(p->out, ", %s", text_ns(sum->value));
	fputs("; below, shares are of the function\n", p->out);
	free(safe);
	free(text);
}

static void put_left(struct page *p)
{
	uint64_t all = p->a->function.sums[p->all->costs.event].value;

	for (size_t i = 0; i < p->a->nr_hottest; i++) {
		if (p->hot[p->a->hottest[i]])
			continue;
		p->nr_left++;
		p->left += annotation_line_cost(p->a, p->a->hottest[i])[p->all->costs.event].value;
	}
	if (p->nr_left)
		fprintf(p->out, "\n… %zu more line%s with %s in all (--all shows them)\n",
			p->nr_left, p->nr_left > 1 ? "s" : "",
			text_pct(all ? 100.0 * p->left / all : 0));
}

void annotations_put_function(const struct annotations *all, const struct annotation *a,
			      size_t width, FILE *out)
{
	struct page p = {
		.out = out, .all = all, .a = a, .width = width, .nr_events = all->costs.nr_events
	};

	put_head(&p);
	make_blocks(&p);
	measure(&p);
	put_event_heads(&p);
	for (size_t i = 0; i < p.nr; i++)
		put_block(&p, &p.blocks[i]);
	put_left(&p);
	annotations_put_notes(a, out);
	free(p.blocks);
	free(p.hot);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Instructions get the costs of the frames within them, and lines those of their instructions. */
#include "profile/annotation.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct annotation *annotation_new(const struct costs *c, size_t function)
{
	struct annotation *a = xcalloc(1, sizeof(*a));

	a->costs = c;
	a->function = c->functions[function];
	strings_init(&a->strings);
	return a;
}

struct annotation *annotation_new_of_all(const struct costs *c)
{
	struct annotation *a = xcalloc(1, sizeof(*a));

	a->costs = c;
	a->function = (struct cost_function){ .nr = c->nr_own, .sums = c->totals };
	a->of_all = true;
	strings_init(&a->strings);
	return a;
}

void annotation_free(struct annotation *a)
{
	if (!a)
		return;
	for (size_t i = 0; i < a->nr_files; i++) {
		free(a->files[i].text);
		free(a->files[i].starts);
	}
	free(a->files);
	free(a->hottest);
	free(a->by_line);
	free(a->line_costs);
	free(a->lines);
	free(a->insn_costs);
	free(a->places);
	free(a->insns);
	free(a->note);
	strings_release(&a->strings);
	free(a);
}

const uint32_t *annotation_frames(const struct annotation *a, size_t *nr)
{
	*nr = a->function.nr;
	return a->costs->order + a->function.first;
}

uint32_t annotation_kind(const struct annotation *a)
{
	return profile_frame_at(a->costs->profile, a->costs->order[a->function.first])->kind;
}

const struct cost *annotation_insn_cost(const struct annotation *a, size_t insn)
{
	return &a->insn_costs[insn * a->costs->nr_events];
}

const struct cost *annotation_line_cost(const struct annotation *a, size_t line)
{
	return &a->line_costs[line * a->costs->nr_events];
}

void annotation_note(struct annotation *a, const char *format, ...)
{
	char *sentence, *all;
	va_list args;

	va_start(args, format);
	if (vasprintf(&sentence, format, args) < 0)
		abort();
	va_end(args);
	if (!a->note || !strstr(a->note, sentence)) {
		all = a->note ? xasprintf("%s\n%s", a->note, sentence) : xstrdup(sentence);
		free(a->note);
		a->note = all;
	}
	free(sentence);
}

/* --- instructions --- */

static uint32_t keep(struct annotation *a, const struct profile *from, uint32_t string)
{
	const char *s = profile_str(from, string);

	return string ? strings_add(&a->strings, s, strlen(s)) : 0;
}

static struct annotation_place place_of(struct annotation *a, const struct profile *from,
					uint32_t frame)
{
	struct frame_function f = profile_frame_function(from, frame, 0);

	return (struct annotation_place){ .function = a->of_all ? 0 : keep(a, from, f.name),
					  .file = f.line ? keep(a, from, f.file) : 0,
					  .line = f.file ? f.line : 0,
					  .inlined = !a->of_all &&
						     profile_frame_functions(from, frame) > 1 };
}

static void push_insn(struct annotation *a, const struct annotation_insn *insn,
		      struct annotation_place place)
{
	a->insns = xgrow(a->insns, a->nr_insns, &a->cap_insns, sizeof(*a->insns));
	a->places = xgrow(a->places, a->nr_insns, &a->cap_places, sizeof(*a->places));
	a->insns[a->nr_insns] = *insn;
	a->insns[a->nr_insns].line = a->nr_insns; /* of places, for now */
	a->places[a->nr_insns++] = place;
}

void annotation_add_insn(struct annotation *a, const struct annotation_insn *insn, const char *text,
			 const struct profile *from, uint32_t frame)
{
	struct annotation_insn copy = *insn;

	copy.text = strings_add(&a->strings, text, strlen(text));
	push_insn(a, &copy, place_of(a, from, frame));
}

static int by_address(const void *x, const void *y)
{
	const struct annotation_insn *a = x, *b = y;

	if (a->module != b->module)
		return a->module < b->module ? -1 : 1;
	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

static void sort_insns(struct annotation *a)
{
	if (a->nr_insns)
		qsort(a->insns, a->nr_insns, sizeof(*a->insns), by_address);
}

/* The instruction that a frame is in, of the first nr, which are sorted; NULL: none was added. */
static struct annotation_insn *insn_find(const struct annotation *a, size_t nr,
					 const struct frame *f)
{
	const struct annotation_insn key = { .module = f->module, .offset = f->offset };
	size_t low = 0, high = nr;
	struct annotation_insn *insn;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (by_address(&a->insns[mid], &key) <= 0)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low)
		return NULL;
	insn = &a->insns[low - 1];
	return insn->module == f->module &&
			       (insn->offset == f->offset || f->offset - insn->offset < insn->len)
		       ? insn
		       : NULL;
}

/* What the recording says of a place is as old as its samples: where it has a line, it counts. */
static void take_frames(struct annotation *a)
{
	const struct profile *p = a->costs->profile;
	size_t nr, known = a->nr_insns;
	const uint32_t *frames = annotation_frames(a, &nr);

	for (size_t i = 0; i < nr; i++) {
		const struct frame *f = profile_frame_at(p, frames[i]);
		struct annotation_insn *insn = insn_find(a, known, f);
		struct annotation_place place = place_of(a, p, frames[i]);

		if (!insn)
			push_insn(a,
				  &(struct annotation_insn){ .module = f->module,
							     .offset = f->offset,
							     .address = f->offset },
				  place);
		else if (place.file || !a->places[insn->line].file)
			a->places[insn->line] = place;
	}
}

static void add_costs(struct cost *to, const struct cost *from, size_t nr)
{
	for (size_t e = 0; e < nr; e++) {
		to[e].value += from[e].value;
		to[e].samples += from[e].samples;
	}
}

static void add_insn_costs(struct annotation *a)
{
	size_t nr, nr_events = a->costs->nr_events;
	const uint32_t *frames = annotation_frames(a, &nr);

	a->insn_costs = xcalloc(a->nr_insns * nr_events, sizeof(*a->insn_costs));
	for (size_t i = 0; i < nr; i++) {
		const struct frame *f = profile_frame_at(a->costs->profile, frames[i]);
		const struct annotation_insn *insn = insn_find(a, a->nr_insns, f);

		add_costs(&a->insn_costs[(insn - a->insns) * nr_events],
			  costs_of_frame(a->costs, frames[i]), nr_events);
	}
}

/* --- lines --- */

static int compare_places(const struct annotation_place *a, const struct annotation_place *b)
{
	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	if (a->function != b->function)
		return a->function < b->function ? -1 : 1;
	return a->line < b->line ? -1 : a->line > b->line;
}

static int by_place(const void *x, const void *y, void *arg)
{
	const struct annotation *a = arg;
	uint32_t i = *(const uint32_t *)x, k = *(const uint32_t *)y;
	int order = compare_places(&a->places[a->insns[i].line], &a->places[a->insns[k].line]);

	return order ? order : i < k ? -1 : i > k;
}

static struct annotation_line *push_line(struct annotation *a, const struct annotation_place *place,
					 uint32_t first)
{
	struct annotation_line *l;

	a->lines = xgrow(a->lines, a->nr_lines, &a->cap_lines, sizeof(*a->lines));
	l = &a->lines[a->nr_lines++];
	*l = (struct annotation_line){ .function = place->function,
				       .file = place->file,
				       .line = place->line,
				       .inlined = place->inlined,
				       .first = first };
	return l;
}

/* Neighbours in by_line that are of the same place are a line. */
static void make_lines(struct annotation *a)
{
	const struct annotation_place *last = NULL, *place;
	struct annotation_line *l = NULL;

	a->by_line = xcalloc(a->nr_insns + 1, sizeof(*a->by_line));
	for (size_t i = 0; i < a->nr_insns; i++)
		a->by_line[i] = i;
	if (a->nr_insns)
		qsort_r(a->by_line, a->nr_insns, sizeof(*a->by_line), by_place, a);
	for (size_t i = 0; i < a->nr_insns; i++, last = place) {
		place = &a->places[a->insns[a->by_line[i]].line];
		if (!last || compare_places(last, place))
			l = push_line(a, place, i);
		l->nr++;
	}
}

static void add_line_costs(struct annotation *a)
{
	size_t nr_events = a->costs->nr_events;

	a->line_costs = xcalloc(a->nr_lines * nr_events + 1, sizeof(*a->line_costs));
	for (size_t i = 0; i < a->nr_lines; i++) {
		for (uint32_t k = 0; k < a->lines[i].nr; k++) {
			uint32_t insn = a->by_line[a->lines[i].first + k];

			a->insns[insn].line = i;
			add_costs(&a->line_costs[i * nr_events], annotation_insn_cost(a, insn),
				  nr_events);
		}
	}
}

static int by_heat(const void *x, const void *y, void *arg)
{
	const struct annotation *a = arg;
	uint32_t i = *(const uint32_t *)x, k = *(const uint32_t *)y;
	size_t nr = a->costs->nr_events;

	for (size_t n = 0; n < nr; n++) {
		size_t e = (a->costs->event + n) % nr;
		uint64_t vi = annotation_line_cost(a, i)[e].value,
			 vk = annotation_line_cost(a, k)[e].value;

		if (vi != vk)
			return vi > vk ? -1 : 1;
	}
	return i < k ? -1 : i > k;
}

static bool is_any(const struct cost *costs, size_t nr)
{
	for (size_t e = 0; e < nr; e++)
		if (costs[e].value)
			return true;
	return false;
}

static void sort_hottest(struct annotation *a)
{
	a->hottest = xcalloc(a->nr_lines + 1, sizeof(*a->hottest));
	for (size_t i = 0; i < a->nr_lines; i++)
		if (is_any(annotation_line_cost(a, i), a->costs->nr_events))
			a->hottest[a->nr_hottest++] = i;
	if (a->nr_hottest)
		qsort_r(a->hottest, a->nr_hottest, sizeof(*a->hottest), by_heat, a);
}

void annotation_finish(struct annotation *a)
{
	sort_insns(a);
	take_frames(a);
	sort_insns(a);
	add_insn_costs(a);
	make_lines(a);
	add_line_costs(a);
	sort_hottest(a);
	free(a->places);
	a->places = NULL;
}

/* --- source files --- */

static void push_start(struct annotation_file *f, size_t at, size_t *cap)
{
	f->starts = xgrow(f->starts, f->nr_lines, cap, sizeof(*f->starts));
	f->starts[f->nr_lines++] = at;
}

void annotation_add_file(struct annotation *a, uint32_t file, char *text, size_t sz)
{
	struct annotation_file f = { .file = file, .text = text, .sz = sz };
	size_t cap = 0;

	push_start(&f, 0, &cap);
	for (size_t i = 0; i < sz; i++)
		if (text[i] == '\n')
			push_start(&f, i + 1, &cap);
	a->files = xgrow(a->files, a->nr_files, &a->cap_files, sizeof(*a->files));
	a->files[a->nr_files++] = f;
}

const char *annotation_source(const struct annotation *a, uint32_t file, uint32_t line, size_t *len)
{
	const struct annotation_file *f = NULL;
	size_t end;

	for (size_t i = 0; i < a->nr_files && !f; i++)
		if (a->files[i].file == file)
			f = &a->files[i];
	if (!f || !line || line > f->nr_lines || f->starts[line - 1] >= f->sz)
		return NULL;
	end = line < f->nr_lines ? f->starts[line] - 1 : f->sz;
	*len = end - f->starts[line - 1];
	if (*len && f->text[end - 1] == '\r')
		--*len;
	return f->text + f->starts[line - 1];
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * For compilers: samples by function and line, the text form of LLVM's sample profiles, which clang
 * takes with -fprofile-sample-use and llvm-profdata converts.
 *
 *	main:1200:10
 *	 4: 200
 *	 5: work:1000
 *	  1: 1000
 *
 * Lines count from the one where their function begins, so that a change above does not matter.
 * What was inlined stands under the line of its call. Plain samples know no calls: how often a
 * function is entered is guessed from its first line, as compilers do. Of one file: the one with
 * most of the samples.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "output/output.h"
#include "profile/begins.h"

#define LINE_MASK 0xffff /* as LLVM has them */

/* A sample as a chain of places, outermost function first. */
struct step {
	const char *name; /* of the function, without what makes several of one */
	size_t len;
	uint32_t line; /* in it: of the sample, or of the call to the next one */
};

struct chain {
	struct step steps[FRAME_MAX_FUNCTIONS];
	size_t nr;
	uint64_t count;
};

struct chains {
	struct chain *v;
	size_t nr, cap;
};

/* "work.part.0" is work, for the compiler. */
static size_t name_length(const char *name)
{
	static const char *const suffixes[] = { ".cold",      ".part.", ".isra.",
						".constprop", ".llvm.", ".lto_priv" };
	size_t len = strlen(name);

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++) {
		const char *at = strstr(name, suffixes[i]);

		if (at && at != name && (size_t)(at - name) < len)
			len = at - name;
	}
	return len;
}

/* A name that stands in a line of its own, and that a compiler may have given. */
static bool is_name(const char *name)
{
	char *clean = text_cleaned(name);
	bool is = *name && *name != '[' && !strpbrk(name, " :\t\n") && !strcmp(name, clean);

	free(clean);
	return is;
}

static bool add_step(struct chain *c, const struct profile *p, uint32_t module,
		     const struct frame_function *f)
{
	uint32_t key = function_key(f), begin = profile_begin_line(p, module, key);
	const char *name = profile_str(p, key);

	if (!begin || !f->line || !is_name(name))
		return false;
	c->steps[c->nr++] = (struct step){ name, name_length(name), (f->line - begin) & LINE_MASK };
	return true;
}

/* What is known of the line of a call only, counts for that line. */
static bool make_chain(struct chain *c, const struct profile *p, uint32_t frame, uint64_t count)
{
	uint32_t module = profile_frame_at(p, frame)->module, i = profile_frame_functions(p, frame);

	*c = (struct chain){ .count = count };
	while (i-- > 0) {
		struct frame_function f = profile_frame_function(p, frame, i);

		if (!add_step(c, p, module, &f))
			break;
	}
	return c->nr;
}

/* Samples in the kernel are none of the program. */
static uint32_t leaf_of(const struct profile *p, const struct sample *s)
{
	uint32_t leaf = s->kstack || !s->ustack ? 0 : profile_stack_leaf(p, s->ustack);

	return leaf && profile_frame_at(p, leaf)->kind == FRAME_USER ? leaf : 0;
}

/* The module with most samples; 0: none has any. */
static uint32_t choose_module(const struct profile *p)
{
	uint64_t *by_module = xcalloc(p->nr_modules, sizeof(*by_module));
	uint32_t most = 0;

	for (size_t i = 0; i < p->nr_samples; i++) {
		uint32_t leaf = leaf_of(p, &p->samples[i]);

		if (leaf)
			by_module[profile_frame_at(p, leaf)->module] += p->samples[i].count;
	}
	for (uint32_t m = 1; m < p->nr_modules; m++)
		if (by_module[m] > by_module[most])
			most = m;
	free(by_module);
	return most;
}

static int by_name(const struct step *a, const struct step *b)
{
	size_t len = a->len < b->len ? a->len : b->len;
	int order = memcmp(a->name, b->name, len);

	return order ? order : a->len < b->len ? -1 : a->len > b->len;
}

/* A line's own samples come before those of what was inlined into it. */
static int by_steps(const void *x, const void *y)
{
	const struct chain *a = x, *b = y;
	int order;

	for (size_t i = 0; i < a->nr && i < b->nr; i++) {
		order = by_name(&a->steps[i], &b->steps[i]);
		if (order)
			return order;
		if (a->steps[i].line != b->steps[i].line)
			return a->steps[i].line < b->steps[i].line ? -1 : 1;
	}
	return a->nr < b->nr ? -1 : a->nr > b->nr;
}

static void take_samples(struct chains *c, const struct profile *p, uint32_t module)
{
	for (size_t i = 0; i < p->nr_samples; i++) {
		uint32_t leaf = leaf_of(p, &p->samples[i]);

		if (!leaf || profile_frame_at(p, leaf)->module != module)
			continue;
		c->v = xgrow(c->v, c->nr, &c->cap, sizeof(*c->v));
		if (make_chain(&c->v[c->nr], p, leaf, p->samples[i].count))
			c->nr++;
	}
	if (c->nr)
		qsort(c->v, c->nr, sizeof(*c->v), by_steps);
}

/* [first, end) of chains that are equal in front of a depth. */
struct range {
	size_t first, end;
};

static uint64_t count_of(const struct chains *c, struct range r)
{
	uint64_t sum = 0;

	for (size_t i = r.first; i < r.end; i++)
		sum += c->v[i].count;
	return sum;
}

/* Chains that go on at depth as the first of the range: with the same line, or same function. */
static struct range same(const struct chains *c, struct range r, size_t depth, bool line)
{
	const struct step *first = &c->v[r.first].steps[depth];
	size_t end = r.first;

	while (end < r.end && c->v[end].nr > depth && !by_name(first, &c->v[end].steps[depth]) &&
	       (!line || first->line == c->v[end].steps[depth].line))
		end++;
	return (struct range){ r.first, end };
}

static void put_name(const struct step *s, uint64_t total, FILE *out)
{
	fprintf(out, "%.*s:%" PRIu64, (int)s->len, s->name, total);
}

/* The lines of a function, whose calls are depth functions in. */
static void put_body(const struct chains *c, struct range r, size_t depth, FILE *out)
{
	while (r.first < r.end) {
		struct range line = same(c, r, depth, true), own = line, callee;
		uint32_t offset = c->v[line.first].steps[depth].line;

		for (own.end = own.first; own.end < line.end && c->v[own.end].nr == depth + 1;)
			own.end++;
		if (own.end > own.first)
			fprintf(out, "%*s%" PRIu32 ": %" PRIu64 "\n", (int)depth + 1, "", offset,
				count_of(c, own));
		r.first = line.end;
		for (line.first = own.end; line.first < line.end; line.first = callee.end) {
			callee = same(c, line, depth + 1, false);
			fprintf(out, "%*s%" PRIu32 ": ", (int)depth + 1, "", offset);
			put_name(&c->v[callee.first].steps[depth + 1], count_of(c, callee), out);
			fputc('\n', out);
			put_body(c, callee, depth + 1, out);
		}
	}
}

/* Those at its first line that has any. */
static uint64_t entries(const struct chains *c, struct range r)
{
	return count_of(c, same(c, r, 0, true));
}

struct function {
	struct range range;
	uint64_t total;
};

static int most_first(const void *x, const void *y)
{
	const struct function *a = x, *b = y;

	if (a->total != b->total)
		return a->total > b->total ? -1 : 1;
	return a->range.first < b->range.first ? -1 : a->range.first > b->range.first;
}

static void put_functions(const struct chains *c, FILE *out)
{
	struct function *v = xcalloc(c->nr + 1, sizeof(*v));
	struct range all = { 0, c->nr };
	size_t nr = 0;

	for (; all.first < all.end; all.first = v[nr++].range.end) {
		v[nr].range = same(c, all, 0, false);
		v[nr].total = count_of(c, v[nr].range);
	}
	qsort(v, nr, sizeof(*v), most_first);
	for (size_t i = 0; i < nr; i++) {
		put_name(&c->v[v[i].range.first].steps[0], v[i].total, out);
		fprintf(out, ":%" PRIu64 "\n", entries(c, v[i].range));
		put_body(c, v[i].range, 0, out);
	}
	free(v);
}

static bool has_begins(const struct profile *p, uint32_t module)
{
	for (size_t i = 0; i < p->nr_begins; i++)
		if (p->begins[i].module == module)
			return true;
	return false;
}

const char *autofdo_lacks(const struct profile *p)
{
	uint32_t module = choose_module(p);
	static char why[256];

	if (p->meta.is_time)
		return "AutoFDO wants samples of running code (bpfprof oncpu)";
	if (module && !has_begins(p, module)) {
		snprintf(why, sizeof(why),
			 "the recording does not say at which lines functions of %s begin (it is "
			 "older, or the program has no debug information: compile it with -g)",
			 text_base_name(profile_str(p, p->modules[module].path)));
		return why;
	}
	return p->nr_samples && !module ? "no sample is in code of a file" : NULL;
}

int autofdo_write(const struct profile *p, const struct view *v, FILE *out)
{
	struct chains c = {};

	take_samples(&c, p, choose_module(p));
	put_functions(&c, out);
	free(c.v);
	return 0;
}

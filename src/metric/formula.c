/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Recursive descent, one function per level of precedence, which writes the steps behind their
 * operands. Depth and length have limits; formulas are short.
 */
#include "metric/formula.h"

#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct parser {
	struct formula *f;
	const char *text, *p;
	unsigned int depth;
};

static bool parse_sum(struct parser *ps);

static void skip_space(struct parser *ps)
{
	while (*ps->p == ' ')
		ps->p++;
}

/* The next thing is this character: go beyond it. */
static bool accept(struct parser *ps, char c)
{
	skip_space(ps);
	if (*ps->p != c)
		return false;
	ps->p++;
	return true;
}

static struct formula_step *add_step(struct parser *ps, enum formula_kind kind)
{
	struct formula_step *s;

	if (ps->f->nr == FORMULA_STEPS_MAX)
		return NULL;
	s = &ps->f->steps[ps->f->nr++];
	*s = (struct formula_step){ .kind = kind };
	return s;
}

static bool is_name_char(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '.';
}

/* Digits and at most one point: no strtod(), which takes "inf", "1e5" and the locale's comma. */
static bool parse_number(struct parser *ps)
{
	struct formula_step *s = add_step(ps, FORMULA_NUMBER);
	double unit = 1;

	if (!s)
		return false;
	while (isdigit((unsigned char)*ps->p))
		s->number = s->number * 10 + (*ps->p++ - '0');
	if (*ps->p == '.')
		ps->p++;
	while (isdigit((unsigned char)*ps->p)) {
		unit /= 10;
		s->number += unit * (*ps->p++ - '0');
	}
	return !is_name_char(*ps->p);
}

static bool parse_call(struct parser *ps, enum formula_kind kind)
{
	return parse_sum(ps) && accept(ps, ',') && parse_sum(ps) && accept(ps, ')') &&
	       add_step(ps, kind);
}

/* A name, or max( or min(. */
static bool parse_name(struct parser *ps)
{
	const char *from = ps->p;
	struct formula_step *s;
	size_t len;

	ps->p += *ps->p == '@';
	if (!isalpha((unsigned char)*ps->p))
		return false;
	while (is_name_char(*ps->p))
		ps->p++;
	len = ps->p - from;
	if (accept(ps, '(')) {
		if (len == 3 && !strncmp(from, "max", 3))
			return parse_call(ps, FORMULA_MAX);
		return len == 3 && !strncmp(from, "min", 3) && parse_call(ps, FORMULA_MIN);
	}
	s = len < FORMULA_NAME_MAX ? add_step(ps, FORMULA_NAME) : NULL;
	if (!s)
		return false;
	memcpy(s->name, from, len);
	s->at = from - ps->text;
	s->len = len;
	return true;
}

static bool parse_operand(struct parser *ps)
{
	bool ok;

	if (accept(ps, '(')) {
		if (ps->depth == FORMULA_DEPTH_MAX)
			return false;
		ps->depth++;
		ok = parse_sum(ps) && accept(ps, ')');
		ps->depth--;
		return ok;
	}
	return isdigit((unsigned char)*ps->p) ? parse_number(ps) : parse_name(ps);
}

static bool parse_product(struct parser *ps)
{
	enum formula_kind kind;

	if (!parse_operand(ps))
		return false;
	for (;;) {
		if (accept(ps, '*'))
			kind = FORMULA_MULTIPLY;
		else if (accept(ps, '/'))
			kind = FORMULA_DIVIDE;
		else
			return true;
		if (!parse_operand(ps) || !add_step(ps, kind))
			return false;
	}
}

static bool parse_sum(struct parser *ps)
{
	enum formula_kind kind;

	if (!parse_product(ps))
		return false;
	for (;;) {
		if (accept(ps, '+'))
			kind = FORMULA_ADD;
		else if (accept(ps, '-'))
			kind = FORMULA_SUBTRACT;
		else
			return true;
		if (!parse_product(ps) || !add_step(ps, kind))
			return false;
	}
}

bool formula_parse(struct formula *f, const char *text, size_t *error_at)
{
	struct parser ps = { .f = f, .text = text, .p = text };
	bool ok;

	f->nr = 0;
	ok = parse_sum(&ps);
	skip_space(&ps);
	if (error_at)
		*error_at = ps.p - text;
	return ok && !*ps.p;
}

/* A value on the stack, and the name that makes it 0 if it is. */
struct term {
	double value;
	const char *zero;
};

static struct term apply(enum formula_kind kind, struct term a, struct term b)
{
	struct term r = { .zero = a.zero ? a.zero : b.zero };

	switch (kind) {
	case FORMULA_ADD:
		r.value = a.value + b.value;
		break;
	case FORMULA_SUBTRACT:
		r.value = a.value - b.value;
		break;
	case FORMULA_MULTIPLY:
		r.value = a.value * b.value;
		break;
	case FORMULA_DIVIDE:
		r.value = b.value == 0 ? NAN : a.value / b.value;
		break;
	case FORMULA_MAX:
		r.value = isnan(a.value) || isnan(b.value) ? NAN : fmax(a.value, b.value);
		break;
	default:
		assert(kind == FORMULA_MIN);
		r.value = isnan(a.value) || isnan(b.value) ? NAN : fmin(a.value, b.value);
	}
	if (r.value != 0)
		r.zero = NULL;
	return r;
}

static struct term operand(const struct formula_step *s, formula_value value, void *arg)
{
	struct term t = { .value = s->number };

	if (s->kind == FORMULA_NAME) {
		t.value = value(arg, s->name);
		t.zero = t.value == 0 ? s->name : NULL;
	}
	return t;
}

double formula_eval(const struct formula *f, formula_value value, void *arg, const char **zero)
{
	struct term stack[FORMULA_STEPS_MAX];
	const struct formula_step *s;
	size_t nr = 0;

	*zero = NULL;
	for (s = f->steps; s < f->steps + f->nr; s++) {
		if (s->kind == FORMULA_NUMBER || s->kind == FORMULA_NAME) {
			stack[nr++] = operand(s, value, arg);
			continue;
		}
		assert(nr >= 2);
		nr--;
		if (s->kind == FORMULA_DIVIDE && stack[nr].value == 0 && !*zero)
			*zero = stack[nr].zero;
		stack[nr - 1] = apply(s->kind, stack[nr - 1], stack[nr]);
	}
	assert(nr == 1);
	return stack[0].value;
}

/* --- plain ratios: the same steps, on parts of a ratio instead of numbers --- */

static bool sum_join(struct formula_sum *a, const struct formula_sum *b)
{
	if (a->nr + b->nr > FORMULA_TERMS_MAX)
		return false;
	for (size_t i = 0; i < b->nr; i++)
		a->names[a->nr++] = b->names[i];
	return true;
}

static bool is_number(const struct formula_ratio *r)
{
	return !r->above.nr && !r->below.nr;
}

static bool is_sum(const struct formula_ratio *r)
{
	return r->above.nr && !r->below.nr && r->factor == 1;
}

/* a = a kind b, as far as that is still a plain ratio. */
static bool combine(enum formula_kind kind, struct formula_ratio *a, const struct formula_ratio *b)
{
	double factor = a->factor * b->factor;

	switch (kind) {
	case FORMULA_ADD:
		return is_sum(a) && is_sum(b) && sum_join(&a->above, &b->above);
	case FORMULA_MULTIPLY:
		if (!is_number(a) && !is_number(b))
			return false;
		if (is_number(a))
			*a = *b;
		a->factor = factor;
		return true;
	case FORMULA_DIVIDE:
		if (!a->above.nr || a->below.nr || !is_sum(b))
			return false;
		a->below = b->above;
		return true;
	default:
		return false;
	}
}

static struct formula_ratio leaf(const struct formula_step *s)
{
	struct formula_ratio r = { .factor = s->kind == FORMULA_NUMBER ? s->number : 1 };

	if (s->kind == FORMULA_NAME)
		r.above = (struct formula_sum){ { s->name }, 1 };
	return r;
}

bool formula_ratio(const struct formula *f, struct formula_ratio *ratio)
{
	struct formula_ratio stack[FORMULA_STEPS_MAX];
	size_t nr = 0;

	for (size_t i = 0; i < f->nr; i++) {
		const struct formula_step *s = &f->steps[i];

		if (s->kind == FORMULA_NUMBER || s->kind == FORMULA_NAME)
			stack[nr++] = leaf(s);
		else if (!combine(s->kind, &stack[nr - 2], &stack[nr - 1]))
			return false;
		else
			nr--;
	}
	if (nr != 1 || !stack[0].above.nr || !stack[0].below.nr)
		return false;
	*ratio = stack[0];
	return true;
}

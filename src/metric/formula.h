/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Formulas of metrics: text becomes a list of steps for a stack machine, once with the usual
 * precedence of + - * / and max(a,b), min(a,b). What a name is worth is the caller's business.
 */
#ifndef BPFPROF_METRIC_FORMULA_H
#define BPFPROF_METRIC_FORMULA_H

#include <stdbool.h>
#include <stddef.h>

#define FORMULA_STEPS_MAX 64
#define FORMULA_DEPTH_MAX 16 /* of parentheses */
#define FORMULA_NAME_MAX  64

enum formula_kind {
	FORMULA_NUMBER,
	FORMULA_NAME,
	FORMULA_ADD,
	FORMULA_SUBTRACT,
	FORMULA_MULTIPLY,
	FORMULA_DIVIDE,
	FORMULA_MAX,
	FORMULA_MIN,
};

struct formula_step {
	enum formula_kind kind;
	double number;
	char name[FORMULA_NAME_MAX]; /* "cpu_cycles", "@retiring" */
	size_t at, len;		     /* where the name stands in the text */
};

/* Steps in the order of their evaluation, so names are in the order of the text. */
struct formula {
	struct formula_step steps[FORMULA_STEPS_MAX];
	size_t nr;
};

/* False if text is no formula, or one beyond the limits; *error_at is where that shows. */
bool formula_parse(struct formula *f, const char *text, size_t *error_at);

/* The value of a name; NAN = there is none. */
typedef double (*formula_value)(void *arg, const char *name);

/*
 * NAN as soon as any part is NAN, also below max() and min() and beside a factor of 0; and on
 * division by 0: then *zero is the name that was 0 (NULL: none of them alone).
 */
double formula_eval(const struct formula *f, formula_value value, void *arg, const char **zero);

/*
 * A plain ratio: factor * (a + b + …) / (c + d + …). Names point into the formula.
 */
#define FORMULA_TERMS_MAX 8
struct formula_sum {
	const char *names[FORMULA_TERMS_MAX];
	size_t nr;
};
struct formula_ratio {
	double factor;
	struct formula_sum above, below;
};

/* False if the formula is anything else. */
bool formula_ratio(const struct formula *f, struct formula_ratio *ratio);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Regular expressions and shares of views. */
#include "cmd/filters.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/regex.h"
#include "base/text.h"
#include "profile/tree.h"
#include "profile/waits.h"

/* NULL, without a word when none is given; else logged. */
static const regex_t *compile(struct filters *f, const char *option, const char *pattern)
{
	regex_t *re = &f->patterns[f->nr_patterns];
	char why[REGEX_WHY];

	if (!pattern)
		return NULL;
	if (regex_compile(re, pattern, 0, why)) {
		f->texts[f->nr_patterns++] = pattern;
		return re;
	}
	log_err(0, "%s: no regular expression (%s)", option, why);
	return NULL;
}

static int apply_patterns(struct filters *f, struct view *v)
{
	v->focus = compile(f, "--focus", f->focus);
	v->ignore = compile(f, "--ignore", f->ignore);
	v->peek = compile(f, "--peek", f->peek);
	return !v->focus == !f->focus && !v->ignore == !f->ignore && !v->peek == !f->peek ? 0
											  : -EINVAL;
}

static int apply_limit(const struct filters *f, struct view *v)
{
	v->percent_limit = FILTERS_PERCENT_LIMIT;
	return opt_number(&(struct opt_number){ "--percent-limit", 0, 100, "%" }, f->percent_limit,
			  &v->percent_limit);
}

int filters_apply(struct filters *f, struct view *v)
{
	if (v->user_only && v->kernel_only)
		return log_err(0, "-U and -K exclude each other: nothing would be left");
	return apply_patterns(f, v) || apply_limit(f, v) ? -EINVAL : 0;
}

bool filters_leave_nothing(const struct view *v, const struct profile *p)
{
	struct tree *t;
	bool nothing;

	if (!v->focus && !v->ignore)
		return false;
	t = tree_new(p, v);
	nothing = !t->nodes[0].total && t->left_out;
	tree_free(t);
	return nothing;
}

void filters_tell_nothing(const struct filters *f)
{
	char *focus = text_cleaned(f->focus ? f->focus : "");
	char *ignore = text_cleaned(f->ignore ? f->ignore : "");

	if (!f->focus)
		log_err(0, "--ignore '%s' matches all stacks: nothing is left", ignore);
	else if (!f->ignore)
		log_err(0, "no stack matches --focus '%s'", focus);
	else
		log_err(0, "no stack matches --focus '%s' and not --ignore '%s'", focus, ignore);
	free(focus);
	free(ignore);
}

static bool has(const struct profile *p, uint32_t string, const char *text)
{
	return strstr(profile_str(p, string), text) != NULL;
}

/* "[lock]" */
static bool is_in_a_class(const char *text)
{
	char name[32];

	for (uint32_t class = 0; class < WAITS_NR; class ++) {
		snprintf(name, sizeof(name), "[%s]", waits_name(class));
		if (strstr(name, text))
			return true;
	}
	return false;
}

static bool is_in_a_name(const struct profile *p, const char *text)
{
	if (p->meta.is_time && is_in_a_class(text))
		return true;
	for (size_t i = 1; i < p->nr_frames; i++)
		for (uint32_t k = 0; k < profile_frame_functions(p, i); k++)
			if (has(p, profile_frame_function(p, i, k).name, text))
				return true;
	for (size_t i = 0; i < p->nr_samples; i++)
		if (has(p, p->samples[i].process, text) || has(p, p->samples[i].thread, text))
			return true;
	return false;
}

void filters_fit(struct filters *f, const struct profile *p)
{
	char why[REGEX_WHY], *literal;
	regex_t re;

	for (size_t i = 0; i < f->nr_patterns; i++) {
		literal = regex_literal(f->texts[i]);
		if (literal && is_in_a_name(p, f->texts[i]) &&
		    regex_compile(&re, literal, 0, why)) {
			regfree(&f->patterns[i]);
			f->patterns[i] = re;
		}
		free(literal);
	}
}

void filters_release(struct filters *f)
{
	for (size_t i = 0; i < f->nr_patterns; i++)
		regfree(&f->patterns[i]);
	f->nr_patterns = 0;
}

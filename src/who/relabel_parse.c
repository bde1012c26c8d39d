/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The language of rules:
 *
 *	line   = [ "drop" matches | "keep" matches | setting ] [ "#" … ]
 *	setting = "label" NAME "=" value [ "if" matches ]
 *	match  = NAME ( "=" | "!=" | "=~" | "!~" ) value
 *	value  = a word without blanks | "…" with \" and \\
 *
 * All matches of a line have to hold. A regular expression is POSIX's extended one, of the whole
 * value.
 */
#include "who/relabel.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/regex.h"
#include "base/text.h"
#include "who/relabel_parts.h"

#define MAX_RULES   1000
#define MAX_MATCHES 20
#define MAX_VALUE   1000

const char *const relabel_names[] = {
	"comm",	     "container", "container_id", "environment",  "exe",	  "host", "image",
	"namespace", "pod",	  "pod_uid",	  "service_from", "service_name", "unit", "version",
};
const size_t relabel_nr_names = sizeof(relabel_names) / sizeof(*relabel_names);

static const char *const actions[RELABEL_NR_ACTIONS] = { "drop", "keep", "label" };

struct parser {
	const char *s, *end; /* of the line */
	const char *line;
	uint32_t number;
	struct relabel *rules;
	char *error;
};

__attribute__((format(printf, 3, 4))) static bool fail(struct parser *p, const char *at,
						       const char *fmt, ...)
{
	va_list args;
	char *what;

	va_start(args, fmt);
	if (vasprintf(&what, fmt, args) < 0)
		what = xstrdup("?");
	va_end(args);
	if (!p->error) {
		char *clean = text_cleaned(what);

		p->error = xasprintf("%u:%zu: %s", p->number, (size_t)(at - p->line) + 1, clean);
		free(clean);
	}
	free(what);
	return false;
}

static void skip_blanks(struct parser *p)
{
	while (p->s < p->end && isspace((unsigned char)*p->s))
		p->s++;
	if (p->s < p->end && *p->s == '#')
		p->s = p->end;
}

static bool is_name_char(char c, bool first)
{
	return c == '_' || (first ? isalpha((unsigned char)c) : isalnum((unsigned char)c));
}

/* What looks like a word, to be quoted in messages; to be freed. */
static char *word_at(const struct parser *p)
{
	const char *s = p->s;

	while (s < p->end && !isspace((unsigned char)*s) && !strchr("=!~\"", *s))
		s++;
	return xstrndup(p->s, s - p->s);
}

static char *take_name(struct parser *p)
{
	const char *from = p->s;

	while (p->s < p->end && is_name_char(*p->s, p->s == from))
		p->s++;
	return p->s > from ? xstrndup(from, p->s - from) : NULL;
}

static bool is_known(const struct parser *p, const char *name)
{
	for (size_t i = 0; i < relabel_nr_names; i++)
		if (!strcmp(name, relabel_names[i]))
			return true;
	return relabel_sets(p->rules, name);
}

static char *all_names(void)
{
	char *all = xstrdup(""), *more;

	for (size_t i = 0; i < relabel_nr_names; i++) {
		more = xasprintf("%s%s %s", all, i ? "," : "", relabel_names[i]);
		free(all);
		all = more;
	}
	return all;
}

static bool fail_unknown(struct parser *p, const char *at, const char *name)
{
	char *hint = text_meant("", text_nearest(name, relabel_names, relabel_nr_names));
	char *all = all_names();

	fail(p, at, "there is no label '%s'%s%s", name, *hint ? hint : "; there are",
	     *hint ? "" : all);
	free(hint);
	free(all);
	return false;
}

static char *take_quoted(struct parser *p)
{
	const char *from = p->s++;
	char *value = xmalloc(p->end - from + 1), *to = value;

	while (p->s < p->end && *p->s != '"') {
		if (*p->s == '\\' && p->s + 1 < p->end && (p->s[1] == '"' || p->s[1] == '\\'))
			p->s++;
		*to++ = *p->s++;
	}
	*to = '\0';
	if (p->s < p->end) {
		p->s++;
		return value;
	}
	free(value);
	fail(p, from, "this '\"' is not closed");
	return NULL;
}

static char *take_value(struct parser *p)
{
	const char *from = p->s;
	char *value;

	if (p->s < p->end && *p->s == '"') {
		value = take_quoted(p);
	} else {
		while (p->s < p->end && !isspace((unsigned char)*p->s))
			p->s++;
		value = xstrndup(from, p->s - from);
	}
	if (value && strlen(value) > MAX_VALUE) {
		fail(p, from, "the value is longer than %d bytes", MAX_VALUE);
		free(value);
		return NULL;
	}
	return value;
}

static bool compile(struct parser *p, struct relabel_match *m, const char *at)
{
	char *whole = xasprintf("^(%s)$", m->value), why[REGEX_WHY];

	m->is_regex = regex_compile(&m->regex, whole, 0, why);
	free(whole);
	if (m->is_regex)
		return true;
	return fail(p, at, "'%s' is no regular expression: %s", m->value, why);
}

static const struct {
	const char *text;
	bool is_not, is_regex;
} operators[] = {
	{ "=~", false, true }, { "!~", true, true }, { "!=", true, false }, { "=", false, false }
};

static bool take_operator(struct parser *p, struct relabel_match *m, bool *is_regex)
{
	for (size_t i = 0; i < sizeof(operators) / sizeof(*operators); i++) {
		size_t len = strlen(operators[i].text);

		if ((size_t)(p->end - p->s) < len || memcmp(p->s, operators[i].text, len))
			continue;
		p->s += len;
		m->is_not = operators[i].is_not;
		*is_regex = operators[i].is_regex;
		return true;
	}
	return fail(p, p->s, "'=', '!=', '=~' or '!~' has to follow '%s'", m->name);
}

static bool take_match(struct parser *p, struct relabel_match *m)
{
	const char *at = p->s;
	bool is_regex = false;

	m->name = take_name(p);
	if (!m->name) {
		char *word = word_at(p);

		fail(p, at, "a label has to stand here, as in namespace=\"prod\", not '%s'", word);
		free(word);
		return false;
	}
	if (!is_known(p, m->name))
		return fail_unknown(p, at, m->name);
	if (!take_operator(p, m, &is_regex))
		return false;
	at = p->s;
	m->value = take_value(p);
	return m->value && (!is_regex || compile(p, m, at));
}

static bool take_matches(struct parser *p, struct relabel_rule *r)
{
	skip_blanks(p);
	if (p->s == p->end)
		return fail(p, p->s, "a label has to follow, as in namespace=\"prod\"");
	while (p->s < p->end) {
		if (r->nr == MAX_MATCHES)
			return fail(p, p->s, "more than %d labels in a line", MAX_MATCHES);
		r->matches = xgrow(r->matches, r->nr, &r->cap, sizeof(*r->matches));
		r->matches[r->nr] = (struct relabel_match){};
		if (!take_match(p, &r->matches[r->nr++]))
			return false;
		skip_blanks(p);
	}
	return true;
}

static bool take_if(struct parser *p)
{
	if (p->end - p->s >= 2 && !memcmp(p->s, "if", 2) &&
	    (p->end - p->s == 2 || isspace((unsigned char)p->s[2]))) {
		p->s += 2;
		return true;
	}
	return fail(p, p->s, "'if' has to follow, or nothing");
}

/* Are labels that a value takes from, as put_variable() does, there by then? */
static bool check_variables(struct parser *p, const char *at, const char *value)
{
	bool known = true;
	char *name;
	size_t len;

	for (const char *s = strchr(value, '$'); s && known; s = strchr(s + 1 + len, '$')) {
		for (len = 0; isalnum((unsigned char)s[1 + len]) || s[1 + len] == '_';)
			len++;
		name = xstrndup(s + 1, len);
		known = !len || is_known(p, name) || fail_unknown(p, at, name);
		free(name);
		len += !len && s[1] == '$';
	}
	return known;
}

static bool take_setting(struct parser *p, struct relabel_rule *r)
{
	const char *at;

	skip_blanks(p);
	r->name = take_name(p);
	if (!r->name || p->s == p->end || *p->s != '=' || (p->s + 1 < p->end && p->s[1] == '~'))
		return fail(p, p->s, "'label' needs NAME=VALUE, as in label team=\"payments\"");
	at = ++p->s;
	r->value = take_value(p);
	if (!r->value || !check_variables(p, at, r->value))
		return false;
	skip_blanks(p);
	return p->s == p->end || (take_if(p) && take_matches(p, r));
}

static bool take_action(struct parser *p, struct relabel_rule *r)
{
	const char *at = p->s;
	char *word = word_at(p), *hint;

	for (size_t i = 0; i < RELABEL_NR_ACTIONS; i++)
		if (!strcmp(word, actions[i])) {
			r->action = i;
			p->s += strlen(word);
			free(word);
			return true;
		}
	hint = text_meant("", text_nearest(word, actions, RELABEL_NR_ACTIONS));
	fail(p, at, "'%s' is no action%s", word, *hint ? hint : "; there are drop, keep and label");
	free(hint);
	free(word);
	return false;
}

static bool take_rule(struct parser *p)
{
	struct relabel *rules = p->rules;
	struct relabel_rule *r;

	if (rules->nr == MAX_RULES)
		return fail(p, p->s, "more than %d rules", MAX_RULES);
	rules->rules = xgrow(rules->rules, rules->nr, &rules->cap, sizeof(*rules->rules));
	r = &rules->rules[rules->nr];
	*r = (struct relabel_rule){ .action = RELABEL_DROP, .line = p->number };
	rules->nr++;
	if (!take_action(p, r))
		return false;
	return r->action == RELABEL_LABEL ? take_setting(p, r) : take_matches(p, r);
}

struct relabel *relabel_parse(const char *text, size_t len, char **error)
{
	struct parser p = { .rules = xcalloc(1, sizeof(*p.rules)) };
	bool ok = true;

	while (len && ok) {
		const char *end = memchr(text, '\n', len);
		size_t line = end ? (size_t)(end - text) : len;

		p.s = p.line = text;
		p.end = text + line;
		p.number++;
		text += line + !!end;
		len -= line + !!end;
		if (memchr(p.line, '\0', line))
			ok = fail(&p, p.line, "the file holds a byte that is zero: is it text?");
		skip_blanks(&p);
		if (ok && p.s < p.end)
			ok = take_rule(&p);
	}
	if (ok)
		return p.rules;
	relabel_free(p.rules);
	*error = p.error;
	return NULL;
}

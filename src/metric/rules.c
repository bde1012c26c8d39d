/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What --fail-on says, taken apart. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "metric/diff.h"

#define FORM "NAME<-PCT% or NAME>PCT%, as in ipc<-5%,time>5%"

/* Bytes up to the comma that ends the first rule; those of pmu/a=1,b=2/ do not. */
static size_t part_len(const char *s)
{
	bool fields = false;
	size_t i;

	for (i = 0; s[i] && (fields || s[i] != ','); i++)
		if (s[i] == '/')
			fields = !fields;
	return i;
}

static char *trimmed(const char *s, size_t len)
{
	while (len && *s == ' ') {
		s++;
		len--;
	}
	while (len && s[len - 1] == ' ')
		len--;
	return xstrndup(s, len);
}

/* "-5%": digits with a point, nothing that only strtod() would take for a number. */
static bool parse_pct(const char *s, double *pct)
{
	size_t sign = *s == '-' || *s == '+', len = strspn(s + sign, "0123456789.");
	char *end;

	*pct = strtod(s, &end);
	return len && end == s + sign + len && !strcmp(end, "%") && isfinite(*pct);
}

static int refused(const char *part, const char *why)
{
	char *shown = text_cleaned(part);

	log_err(0, "--fail-on '%s': %s", shown, why);
	free(shown);
	return -EINVAL;
}

static int add(struct diff_rules *rules, const char *part)
{
	struct diff_rule rule = {};
	size_t len = strcspn(part, "<>");

	if (!len || !part[len] ||
	    !parse_pct(part + len + 1 + strspn(part + len + 1, " "), &rule.pct))
		return refused(part, "a rule has the form " FORM);
	rule.greater = part[len] == '>';
	/* A change is judged by its size, so "<5%" would hold for most that nobody meant. */
	if (rule.greater ? rule.pct < 0 : rule.pct > 0)
		return refused(part, rule.greater ? "growth has no minus sign: " FORM
						  : "a fall has a minus sign: " FORM);
	rule.name = trimmed(part, len);
	if (!*rule.name) {
		free(rule.name);
		return refused(part, "a rule has the form " FORM);
	}
	rules->v = xreallocarray(rules->v, rules->nr + 1, sizeof(*rules->v));
	rules->v[rules->nr++] = rule;
	return 0;
}

int diff_rules_parse(struct diff_rules *rules, const char *text)
{
	size_t len;
	char *part;
	int err;

	*rules = (struct diff_rules){};
	do {
		len = part_len(text);
		part = trimmed(text, len);
		err = add(rules, part);
		free(part);
		text += len;
	} while (!err && *text++);
	if (err)
		diff_rules_release(rules);
	return err;
}

void diff_rule_text(const struct diff_rule *rule, char *to, size_t sz)
{
	snprintf(to, sz, "%s%c%.10g%%", rule->name, rule->greater ? '>' : '<', rule->pct);
}

void diff_rules_release(struct diff_rules *rules)
{
	for (size_t i = 0; i < rules->nr; i++)
		free(rules->v[i].name);
	free(rules->v);
	*rules = (struct diff_rules){};
}

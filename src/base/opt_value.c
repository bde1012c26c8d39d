/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* From words to values: numbers, sizes, times, lists; and lists of ids. */
#include "base/opt.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/opt_parts.h"
#include "base/text.h"

#define LIST_SPACE  " \t\n"
#define MAX_CPU	    65535
#define MAX_SECONDS (7 * 24 * 3600)
#define NS_PER_S    1000000000ull

/* A suffix of a number and what it multiplies by. */
struct suffix {
	const char *name;
	uint64_t factor;
};

static const struct suffix thousands[] = {
	{ "K", 1000 },	     { "k", 1000 },	  { "M", 1000000 }, { "m", 1000000 },
	{ "G", 1000000000 }, { "g", 1000000000 }, { NULL, 0 },
};

static const struct suffix sizes[] = {
	{ "K", 1 << 10 },    { "k", 1 << 10 },	  { "KB", 1 << 10 },	{ "KiB", 1 << 10 },
	{ "M", 1 << 20 },    { "m", 1 << 20 },	  { "MB", 1 << 20 },	{ "MiB", 1 << 20 },
	{ "G", 1 << 30 },    { "g", 1 << 30 },	  { "GB", 1 << 30 },	{ "GiB", 1 << 30 },
	{ "T", 1ull << 40 }, { "t", 1ull << 40 }, { "TB", 1ull << 40 }, { "TiB", 1ull << 40 },
	{ NULL, 0 },
};

static const struct suffix times[] = {
	{ "s", NS_PER_S },	{ "ms", 1000000 },	  { "us", 1000 }, { "ns", 1 },
	{ "m", 60 * NS_PER_S }, { "h", 3600 * NS_PER_S }, { NULL, 0 },
};

static uint64_t suffix_factor(const struct suffix *s, const char *word)
{
	for (; s->name; s++)
		if (!strcmp(s->name, word))
			return s->factor;
	return 0;
}

/* Digits only: no sign, no white space, no other base. Sets *end behind them. -ERANGE when too
 * large. */
static int parse_digits(const char *word, const char **end, uint64_t *value)
{
	const char *p = word;
	bool fits = true;

	for (*value = 0; *p >= '0' && *p <= '9'; p++)
		fits = fits && !__builtin_mul_overflow(*value, 10, value) &&
		       !__builtin_add_overflow(*value, (uint64_t)(*p - '0'), value);
	*end = p;
	return p == word ? -EINVAL : fits ? 0 : -ERANGE;
}

/* Digits and a suffix of the table; without a suffix the number counts units. */
static int parse_number(const char *word, const struct suffix *table, uint64_t unit,
			uint64_t *value)
{
	uint64_t factor;
	const char *end;
	int err;

	err = parse_digits(word, &end, value);
	factor = *end ? suffix_factor(table, end) : unit;
	if (err == -EINVAL || !factor)
		return -EINVAL;
	return err || __builtin_mul_overflow(*value, factor, value) ? -ERANGE : 0;
}

/* A time of at most seven days; without a suffix the number counts units of ns. */
static int parse_time(const char *word, uint64_t unit, uint64_t *ns)
{
	uint64_t whole = 0, part = 0, factor, step;
	const char *end, *suffix;
	int err;

	err = parse_digits(word, &end, &whole);
	if (err == -EINVAL && *word != '.')
		return err;
	suffix = end + (*end == '.' ? 1 + strspn(end + 1, "0123456789") : 0);
	factor = *suffix ? suffix_factor(times, suffix) : unit;
	if (!factor || (*end == '.' && !(end[1] >= '0' && end[1] <= '9')))
		return -EINVAL;
	if (err == -ERANGE || whole > MAX_SECONDS * NS_PER_S / factor)
		return -ERANGE;
	/* Digits below a nanosecond have no weight: step reaches zero. */
	for (step = factor / 10; *end == '.' || (*end >= '0' && *end <= '9'); end++) {
		if (*end == '.')
			continue;
		part += (uint64_t)(*end - '0') * step;
		step /= 10;
	}
	*ns = whole * factor + part;
	return *ns <= MAX_SECONDS * NS_PER_S ? 0 : -ERANGE;
}

int opt_seconds(const char *word, uint64_t *ns)
{
	int err = parse_time(word, NS_PER_S, ns);

	return !err && !*ns ? -ERANGE : err;
}

int opt_duration(char **words, int nr, uint64_t *ns)
{
	uint64_t given = *ns;
	int err = nr > 0 ? opt_seconds(words[0], ns) : 0;

	if (err == -ERANGE)
		log_err(0, "'%s': a duration must be above 0 and at most 7 days", words[0]);
	else if (err)
		log_err(0, "'%s' is not a duration in seconds (a program to start goes after '--')",
			words[0]);
	else if (nr > 1)
		log_err(0,
			"unexpected argument '%s' (only one DURATION; a program goes after '--')",
			words[1]);
	else if (nr && given)
		log_err(0, "'%s' and -d are both the duration: give one", words[0]);
	else
		return 0;
	return -EINVAL;
}

/* "bpfprof: '-F 0': must be …", the one form of every complaint about a value. */
__attribute__((format(printf, 3, 4))) static int complain(const struct opt_run *p,
							  const char *value, const char *fmt, ...)
{
	char *shown = text_frame(value, strlen(value), 0), *why = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&why, fmt, ap) < 0)
		why = NULL;
	va_end(ap);
	log_err(0, "'%s %s': %s", p->spelled, *value ? shown : "''", why ? why : "not valid");
	free(why);
	free(shown);
	return -EINVAL;
}

static int set_flag(const struct opt_run *p, const struct opt *o, void *field, char *value)
{
	*(bool *)field = o->type == OPT_TYPE_FLAG;
	return 0;
}

static int set_count(const struct opt_run *p, const struct opt *o, void *field, char *value)
{
	++*(int *)field;
	return 0;
}

static int set_number(const struct opt_run *p, const struct opt *o, void *field, char *value)
{
	uint64_t n, max = o->limit ? o->limit() : o->max;

	if (parse_number(value, thousands, 1, &n) || n < o->min || n > max)
		return complain(p, value, "must be a number from %llu to %llu%s%s%s",
				(unsigned long long)o->min, (unsigned long long)max,
				o->limit ? " (" : "", o->limit ? o->limit_name : "",
				o->limit ? ")" : "");
	if (o->type == OPT_TYPE_U32)
		*(uint32_t *)field = (uint32_t)n;
	else
		*(uint64_t *)field = n;
	return 0;
}

static int set_mode(const struct opt_run *p, const struct opt *o, void *field, char *value)
{
	char *end = value;
	unsigned long mode = *value >= '0' && *value <= '7' ? strtoul(value, &end, 8) : 0;

	if (*end || !mode || mode > 0777)
		return complain(p, value, "must be permissions in octal, such as 600 or 644");
	*(uint32_t *)field = (uint32_t)mode;
	return 0;
}

static int set_size(const struct opt_run *p, const struct opt *o, void *field, char *value)
{
	uint64_t n;

	if (parse_number(value, sizes, o->unit, &n) || n < o->min || n > o->max)
		return complain(p, value, "must be a size from %s to %s, such as 64M",
				text_bytes(o->min), text_bytes(o->max));
	*(uint64_t *)field = n;
	return 0;
}

static int set_time(const struct opt_run *p, const struct opt *o, void *field, char *value)
{
	uint64_t ns;

	if (parse_time(value, o->unit, &ns) || ns < o->min || ns > o->max)
		return complain(p, value, "must be a time from %s to %s, such as 10s or 500us",
				text_ns(o->min), text_ns(o->max));
	*(uint64_t *)field = ns;
	return 0;
}

static int set_string(const struct opt_run *p, const struct opt *o, void *field, char *value)
{
	*(const char **)field = value;
	return 0;
}

static int add_string(const struct opt_run *p, const struct opt *o, void *field, char *value)
{
	struct opt_strings *list = field;

	list->v = xgrow(list->v, list->nr, &list->cap, sizeof(*list->v));
	list->v[list->nr++] = value;
	return 0;
}

static int compare_ids(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static void sort_ids(struct opt_ids *ids)
{
	size_t i, nr = 0;

	if (ids->nr)
		qsort(ids->v, ids->nr, sizeof(*ids->v), compare_ids);
	for (i = 0; i < ids->nr; i++)
		if (!i || ids->v[i] != ids->v[i - 1])
			ids->v[nr++] = ids->v[i];
	ids->nr = nr;
}

void opt_ids_add(struct opt_ids *ids, uint32_t id)
{
	size_t at = ids->nr;

	if (opt_ids_has(ids, id))
		return;
	ids->v = xgrow(ids->v, ids->nr, &ids->cap, sizeof(*ids->v));
	while (at && ids->v[at - 1] > id)
		at--;
	memmove(&ids->v[at + 1], &ids->v[at], (ids->nr++ - at) * sizeof(*ids->v));
	ids->v[at] = id;
}

static void add_ids(struct opt_ids *ids, uint64_t first, uint64_t last)
{
	for (; first <= last; first++) {
		ids->v = xgrow(ids->v, ids->nr, &ids->cap, sizeof(*ids->v));
		ids->v[ids->nr++] = (uint32_t)first;
	}
}

/* "8" or, for CPUs, "0-3". */
static bool parse_range(const struct opt *o, const char *word, uint64_t *first, uint64_t *last)
{
	const char *end;

	if (parse_digits(word, &end, first))
		return false;
	*last = *first;
	if (o->type != OPT_TYPE_CPUS)
		return !*end && *first && *first <= INT32_MAX;
	if (*end == '-' && parse_digits(end + 1, &end, last))
		return false;
	return !*end && *first <= *last && *last <= MAX_CPU;
}

static void trim_end(char *s)
{
	size_t len = strlen(s);

	while (len && strchr(LIST_SPACE, s[len - 1]))
		s[--len] = '\0';
}

/* Words stand between commas, spaces or newlines, as commands print them. */
static int add_list(const struct opt_run *p, const struct opt *o, void *field, char *value)
{
	bool cpus = o->type == OPT_TYPE_CPUS;
	const char *noun = cpus ? "a CPU or a range such as 0-3" : "a thread id";
	char *trimmed = value + strspn(value, LIST_SPACE);
	char *words = xstrdup(*trimmed ? trimmed : ","), *next = words, *word, *shown;
	uint64_t first, last;
	int err = 0;

	trim_end(words);
	while (!err && (word = strsep(&next, "," LIST_SPACE))) {
		if (parse_range(o, word, &first, &last)) {
			add_ids(field, first, last);
			continue;
		}
		shown = text_frame(word, strlen(word), 0);
		err = complain(p, value, "'%s' is not %s", *word ? shown : "", noun);
		free(shown);
	}
	sort_ids(field);
	free(words);
	return err;
}

const struct opt_kind opt_kinds[] = {
	[OPT_TYPE_PROGRAM] = { NULL, false },	   [OPT_TYPE_FLAG] = { set_flag, false },
	[OPT_TYPE_COUNT] = { set_count, false },   [OPT_TYPE_U32] = { set_number, true },
	[OPT_TYPE_U64] = { set_number, true },	   [OPT_TYPE_SIZE] = { set_size, true },
	[OPT_TYPE_TIME] = { set_time, true },	   [OPT_TYPE_STRING] = { set_string, true },
	[OPT_TYPE_STRINGS] = { add_string, true }, [OPT_TYPE_TIDS] = { add_list, true },
	[OPT_TYPE_CPUS] = { add_list, true },	   [OPT_TYPE_MODE] = { set_mode, true },
};

int opt_number(const struct opt_number *n, const char *text, double *to)
{
	char *end;
	double x;

	if (!text)
		return 0;
	x = strtod(text, &end);
	if (end != text && (!*end || (n->unit && !strcmp(end, n->unit))) && x >= n->least &&
	    x <= n->most) {
		*to = x;
		return 0;
	}
	log_err(0, "%s: '%s' is no number from %.15g to %.15g", n->option, text, n->least, n->most);
	return -EINVAL;
}

bool opt_ids_has(const struct opt_ids *ids, uint32_t id)
{
	return ids->nr && bsearch(&id, ids->v, ids->nr, sizeof(*ids->v), compare_ids);
}

void opt_ids_release(struct opt_ids *ids)
{
	free(ids->v);
	memset(ids, 0, sizeof(*ids));
}

void opt_strings_release(struct opt_strings *strings)
{
	free(strings->v);
	memset(strings, 0, sizeof(*strings));
}

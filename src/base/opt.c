/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From rows to fields: the rows become getopt_long's tables, each option that comes back is found
 * by its row and stored by the function of its type. getopt runs in the mode that hands out other
 * words in place (a leading '-'), so argv keeps its order and "--" ends everything.
 */
#include "base/opt.h"

#include <assert.h>
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"

#define LIST_SPACE  " \t\n"
#define ROW_BASE    256 /* getopt's value of row i is ROW_BASE + i, above all letters */
#define ROW_WORD    1	/* getopt's value of a word that is no option */
#define MAX_CPU	    65535
#define MAX_SECONDS (7 * 24 * 3600)
#define NS_PER_S    1000000000ull
#define HELP_WIDTH  80
#define HELP_COLUMN 30 /* at most; longer spellings get a line of their own */

/* One run of the parser: what getopt was told, and the option at hand as the user spelled it. */
struct parse {
	const char *command;
	const struct opt *opts;
	size_t nr_opts;
	struct option *longs;
	char *letters;
	char spelled[128];
};

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
	{ "K", 1 << 10 }, { "k", 1 << 10 }, { "KB", 1 << 10 }, { "KiB", 1 << 10 },
	{ "M", 1 << 20 }, { "m", 1 << 20 }, { "MB", 1 << 20 }, { "MiB", 1 << 20 },
	{ "G", 1 << 30 }, { "g", 1 << 30 }, { "GB", 1 << 30 }, { "GiB", 1 << 30 },
	{ NULL, 0 },
};

static const struct suffix times[] = {
	{ "", NS_PER_S },	{ "s", NS_PER_S },	  { "ms", 1000000 }, { "us", 1000 },
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

int opt_seconds(const char *word, uint64_t *ns)
{
	uint64_t whole = 0, part = 0, factor, step;
	const char *end;
	int err;

	err = parse_digits(word, &end, &whole);
	if (err == -EINVAL && *word != '.')
		return err;
	factor = suffix_factor(times, end + (*end == '.' ? 1 + strspn(end + 1, "0123456789") : 0));
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
	return *ns && *ns <= MAX_SECONDS * NS_PER_S ? 0 : -ERANGE;
}

/* "bpfprof: '-F 0': must be …", the one form of every complaint about a value. */
__attribute__((format(printf, 3, 4))) static int complain(const struct parse *p, const char *value,
							  const char *fmt, ...)
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

static int set_flag(const struct parse *p, const struct opt *o, void *field, char *value)
{
	*(bool *)field = o->type == OPT_TYPE_FLAG;
	return 0;
}

static int set_count(const struct parse *p, const struct opt *o, void *field, char *value)
{
	++*(int *)field;
	return 0;
}

static int set_number(const struct parse *p, const struct opt *o, void *field, char *value)
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

static int set_size(const struct parse *p, const struct opt *o, void *field, char *value)
{
	uint64_t n;

	if (parse_number(value, sizes, o->unit, &n) || n < o->min || n > o->max)
		return complain(p, value, "must be a size from %s to %s, such as 64M",
				text_bytes(o->min), text_bytes(o->max));
	*(uint64_t *)field = n;
	return 0;
}

static int set_time(const struct parse *p, const struct opt *o, void *field, char *value)
{
	uint64_t ns;

	if (opt_seconds(value, &ns) || ns < o->min || ns > o->max)
		return complain(p, value, "must be a time from %s to %s, such as 10s or 500ms",
				text_ns(o->min), text_ns(o->max));
	*(uint64_t *)field = ns;
	return 0;
}

static int set_string(const struct parse *p, const struct opt *o, void *field, char *value)
{
	*(const char **)field = value;
	return 0;
}

static int add_string(const struct parse *p, const struct opt *o, void *field, char *value)
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

/* Words stand between commas, spaces or newlines: -p "$(pgrep nginx)" is what people type. */
static int add_list(const struct parse *p, const struct opt *o, void *field, char *value)
{
	const char *noun = o->type == OPT_TYPE_PIDS   ? "a process id"
			   : o->type == OPT_TYPE_TIDS ? "a thread id"
						      : "a CPU or a range such as 0-3";
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

typedef int (*set_fn)(const struct parse *p, const struct opt *o, void *field, char *value);

/* How each type stores what was given, and whether it needs a value. */
static const struct {
	set_fn set;
	bool value;
} types[] = {
	[OPT_TYPE_PROGRAM] = { NULL, false },	  [OPT_TYPE_FLAG] = { set_flag, false },
	[OPT_TYPE_NOFLAG] = { set_flag, false },  [OPT_TYPE_COUNT] = { set_count, false },
	[OPT_TYPE_U32] = { set_number, true },	  [OPT_TYPE_U64] = { set_number, true },
	[OPT_TYPE_SIZE] = { set_size, true },	  [OPT_TYPE_TIME] = { set_time, true },
	[OPT_TYPE_STRING] = { set_string, true }, [OPT_TYPE_STRINGS] = { add_string, true },
	[OPT_TYPE_PIDS] = { add_list, true },	  [OPT_TYPE_TIDS] = { add_list, true },
	[OPT_TYPE_CPUS] = { add_list, true },
};

static const struct opt *find_name(const struct opt *opts, const char *name)
{
	for (; opts->type != OPT_TYPE_END; opts++)
		if (opts->name && !strcmp(opts->name, name))
			return opts;
	return NULL;
}

/* The row that o stands for: itself unless it is an alias. */
static const struct opt *meant(const struct opt *opts, const struct opt *o)
{
	o = o->type == OPT_TYPE_ALIAS ? find_name(opts, o->help) : o;
	assert(o);
	return o;
}

static bool is_option(const struct opt *o)
{
	return o->name || o->letter;
}

/* Tells getopt about the rows, and about --help and -h unless the table has its own. */
static void parse_init(struct parse *p, const char *command, const struct opt *opts)
{
	struct option *l;
	size_t i, nr = 0;
	char *s;

	memset(p, 0, sizeof(*p));
	p->command = command;
	p->opts = opts;
	while (opts[nr].type != OPT_TYPE_END)
		nr++;
	p->nr_opts = nr;
	p->longs = l = xcalloc(nr + 2, sizeof(*l));
	p->letters = s = xcalloc(nr + 3, 2);
	s += sprintf(s, "-:");
	for (i = 0; i < nr; i++) {
		bool value = types[meant(opts, &opts[i])->type].value;

		if (opts[i].name)
			*l++ = (struct option){ opts[i].name, value, NULL, ROW_BASE + (int)i };
		if (opts[i].letter)
			s += sprintf(s, "%c%s", opts[i].letter, value ? ":" : "");
	}
	/* Behind the rows, so that a row of that name or letter comes first. */
	strcpy(s, "h");
	*l = (struct option){ "help", no_argument, NULL, ROW_BASE + (int)nr };
}

static void parse_release(struct parse *p)
{
	free(p->longs);
	free(p->letters);
}

/* NULL is --help. */
static const struct opt *row_of(const struct parse *p, int code)
{
	size_t i;

	if (code >= ROW_BASE)
		return code == ROW_BASE + (int)p->nr_opts ? NULL : &p->opts[code - ROW_BASE];
	for (i = 0; i < p->nr_opts; i++)
		if (p->opts[i].letter == code)
			return &p->opts[i];
	return NULL;
}

static int unknown_long(const struct parse *p, const char *name)
{
	const char **names = xcalloc(p->nr_opts + 1, sizeof(*names)), *near;
	char *shown = text_frame(name, strlen(name), 0);
	size_t i, nr = 0;

	for (i = 0; i < p->nr_opts; i++)
		if (p->opts[i].name && !p->opts[i].hidden)
			names[nr++] = p->opts[i].name;
	names[nr++] = "help";
	near = text_nearest(name, names, nr);
	log_err(0, "unknown option '--%s' of %s%s%s%s (bpfprof %s --help)", shown, p->command,
		near ? "; did you mean '--" : "", near ? near : "", near ? "'?" : "", p->command);
	free(shown);
	free(names);
	return -EINVAL;
}

/* code is '?' (unknown, shortened, or a flag with a value) or ':' (value missing); name is of a
 * long option. */
static int bad_option(const struct parse *p, int code, const char *name)
{
	if (code == '?' && name && optopt)
		log_err(0, "option '%s' takes no value", p->spelled);
	else if (code == ':')
		log_err(0, "option '%s' needs a value", p->spelled);
	else if (name)
		return unknown_long(p, name);
	else
		log_err(0, "unknown option '%s' of %s (bpfprof %s --help)", p->spelled, p->command,
			p->command);
	return -EINVAL;
}

/* Writes the option's spelling, without its value, to p->spelled. */
static void spell(struct parse *p, int code, const char *name)
{
	char letter[2] = { (char)(code == '?' || code == ':' ? optopt : code), '\0' };
	char *shown = text_frame(name ? name : letter, strlen(name ? name : letter), 0);

	snprintf(p->spelled, sizeof(p->spelled), "%s%s", name ? "--" : "-", shown);
	free(shown);
}

/* One option: element is what getopt read it from, or the cluster of letters that it stands in. */
static int parse_one(struct parse *p, int code, const char *element, void *args)
{
	bool is_long = !strncmp(element, "--", 2);
	char *name = is_long ? xstrndup(element + 2, strcspn(element + 2, "=")) : NULL;
	const struct opt *o = row_of(p, code);
	int err;

	spell(p, code, name);
	if (is_long && !find_name(p->opts, name) && strcmp(name, "help")) {
		/* getopt takes any beginning that fits one row; so would a script, until we add a
		 * row. */
		err = unknown_long(p, name);
	} else if (code == '?' || code == ':') {
		err = bad_option(p, code, name);
	} else if (!o) {
		err = OPT_HELP;
	} else {
		o = meant(p->opts, o);
		err = types[o->type].set(p, o, (char *)args + o->offset, optarg);
	}
	free(name);
	return err;
}

/* Words behind "--": a program's, or words like the others. */
static int take_tail(struct parse *p, int argc, char **argv, void *args, bool dashes, int *nr_words)
{
	size_t i;

	for (i = 0; i < p->nr_opts && p->opts[i].type != OPT_TYPE_PROGRAM; i++)
		;
	if (i == p->nr_opts) {
		while (optind < argc)
			argv[++*nr_words] = argv[optind++];
	} else if (optind < argc) {
		*(char ***)((char *)args + p->opts[i].offset) = argv + optind;
	} else if (dashes) {
		log_err(0, "'--' needs a program behind it");
		return -EINVAL;
	}
	return 0;
}

int opt_parse(const char *command, const struct opt *opts, int argc, char **argv, void *args,
	      char ***rest, int *nr_rest)
{
	int code, at = 1, nr_words = 0, err = 0;
	struct parse p;

	parse_init(&p, command, opts);
	opterr = 0;
	for (optind = 0; !err;) {
		at = optind ? optind : 1;
		code = getopt_long(argc, argv, p.letters, p.longs, NULL);
		if (code == -1)
			break;
		/* Words gather at the front of argv, over what has been read already. */
		if (code == ROW_WORD)
			argv[++nr_words] = optarg;
		else
			err = parse_one(&p, code, argv[at], args);
	}
	if (!err)
		err = take_tail(&p, argc, argv, args, optind > at, &nr_words);
	*rest = argv + 1;
	*nr_rest = nr_words;
	parse_release(&p);
	return err;
}

/* "  -p, --pid LIST" */
static char *help_spelling(const struct opt *o)
{
	char letter[4] = { '-', o->letter, o->name ? ',' : '\0', '\0' };

	return xasprintf("  %-3s %s%s%s%s", o->letter ? letter : "", o->name ? "--" : "",
			 o->name ? o->name : "", o->metavar ? " " : "",
			 o->metavar ? o->metavar : "");
}

/* Prints text in the columns from column on; the cursor already stands there. */
static void help_wrap(FILE *out, const char *text, size_t column)
{
	size_t at = column, sz;

	for (; *text; text += sz + (text[sz] == ' ')) {
		sz = strcspn(text, " ");
		if (at > column && at + 1 + sz > HELP_WIDTH) {
			fprintf(out, "\n%*s", (int)column, "");
			at = column;
		}
		at += (size_t)fprintf(out, "%s%.*s", at > column ? " " : "", (int)sz, text);
	}
	fputc('\n', out);
}

static bool is_shown(const struct opt *o)
{
	return is_option(o) && !o->hidden;
}

static void help_row(FILE *out, const struct opt *o, size_t column)
{
	char *spelling = help_spelling(o);
	size_t width = text_width(spelling);

	fputs(spelling, out);
	if (width + 2 > column)
		fprintf(out, "\n%*s", (int)column, "");
	else
		fprintf(out, "%*s", (int)(column - width), "");
	help_wrap(out, o->help, column);
	free(spelling);
}

void opt_help(FILE *out, const struct opt *opts)
{
	static const struct opt help = { .letter = 'h', .name = "help", .help = "this text" };
	size_t column = text_width("  -h, --help") + 2, width;
	const struct opt *o;
	char *spelling;

	for (o = opts; o->type != OPT_TYPE_END; o++) {
		spelling = is_shown(o) ? help_spelling(o) : NULL;
		width = spelling ? text_width(spelling) + 2 : 0;
		if (width > column && width <= HELP_COLUMN)
			column = width;
		free(spelling);
	}
	for (o = opts; o->type != OPT_TYPE_END; o++) {
		if (o->type == OPT_TYPE_GROUP)
			fprintf(out, "%s%s:\n", o == opts ? "" : "\n", o->help);
		else if (is_shown(o))
			help_row(out, o, column);
	}
	if (!find_name(opts, "help"))
		help_row(out, &help, column);
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

void opt_release(const struct opt *opts, void *args)
{
	for (; opts->type != OPT_TYPE_END; opts++) {
		void *field = (char *)args + opts->offset;

		if (opts->type == OPT_TYPE_STRINGS)
			opt_strings_release(field);
		if (opts->type == OPT_TYPE_PIDS || opts->type == OPT_TYPE_TIDS ||
		    opts->type == OPT_TYPE_CPUS)
			opt_ids_release(field);
	}
}

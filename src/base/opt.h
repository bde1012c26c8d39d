/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Options as rows. A command binds each option to a field of its own arguments struct; parsing,
 * type checks, messages and the help text follow from the table:
 *
 *	static const struct opt oncpu_opts[] = {
 *		OPT_TIDS('t', "tid", struct oncpu_args, tids, "LIST", "only these threads"),
 *		OPT_U32('F', "freq", struct oncpu_args, freq, 1, 100000, "HZ", "rate"),
 *		OPT_FLAG('I', "include-idle", struct oncpu_args, idle, "idle CPUs too"),
 *		OPT_ALIAS('L', NULL, "tid"),
 *		OPT_PROGRAM(struct oncpu_args, program),
 *		OPT_END
 *	};
 *
 * Defaults are what the struct holds before opt_parse(). Given twice, a list grows and any other
 * option takes the last value. Each macro refuses a field of the wrong type at compile time.
 */
#ifndef BPFPROF_BASE_OPT_H
#define BPFPROF_BASE_OPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Numbers of a list: sorted, each once. */
struct opt_ids {
	uint32_t *v;
	size_t nr, cap;
};

/* Words of a repeatable option in the order given; they point into argv. */
struct opt_strings {
	const char **v;
	size_t nr, cap;
};

enum opt_type {
	OPT_TYPE_END,
	OPT_TYPE_GROUP,	  /* a heading of the help text */
	OPT_TYPE_ALIAS,	  /* another spelling; help = long name of the row it stands for */
	OPT_TYPE_FLAG,	  /* bool: true */
	OPT_TYPE_COUNT,	  /* int: one more each time */
	OPT_TYPE_U32,	  /* uint32_t in min..max; K, M, G = thousands */
	OPT_TYPE_U64,	  /* uint64_t in min..max; K, M, G = thousands */
	OPT_TYPE_MODE,	  /* uint32_t, octal: 1 to 777 */
	OPT_TYPE_SIZE,	  /* uint64_t bytes in min..max; K, M, G = 1024s; else counts units */
	OPT_TYPE_TIME,	  /* uint64_t ns in min..max: 10s, 500ms; else counts units of ns */
	OPT_TYPE_STRING,  /* const char * */
	OPT_TYPE_STRINGS, /* struct opt_strings */
	OPT_TYPE_TIDS,	  /* struct opt_ids: 12,345 */
	OPT_TYPE_CPUS,	  /* struct opt_ids: 0-3,8 */
	OPT_TYPE_PROGRAM, /* char **: what follows "--", NULL-terminated; NULL without "--" */
};

struct opt {
	char letter;	  /* 0 = none */
	bool hidden;	  /* accepted, but in no help text and no suggestion */
	const char *name; /* long name */
	enum opt_type type;
	size_t offset;
	const char *metavar, *help;
	uint64_t min, max;	 /* of numbers, inclusive */
	uint32_t (*limit)(void); /* asked instead of max where a setting of the host says it */
	const char *limit_name;	 /* of the setting, for the message */
	uint64_t unit;		 /* of OPT_TYPE_SIZE and OPT_TYPE_TIME */
};

/* clang-format off */
/* offsetof with a check: an array of negative size when field f of s is not of type t. */
#define OPT_FIELD(s, f, t)                                                                         \
	(offsetof(s, f) - 1 +                                                                      \
	 sizeof(char[1 - 2 * !__builtin_types_compatible_p(__typeof__(((s *)0)->f), t)]))
#define OPT_ROW(l, n, s, f, t, kind, mv, h)                                                        \
	.letter = l, .name = n, .type = OPT_TYPE_##kind, .offset = OPT_FIELD(s, f, t),             \
	.metavar = mv, .help = h

#define OPT_FLAG(l, n, s, f, h) { OPT_ROW(l, n, s, f, bool, FLAG, NULL, h) }
#define OPT_COUNT(l, n, s, f, h) { OPT_ROW(l, n, s, f, int, COUNT, NULL, h) }
#define OPT_U32(l, n, s, f, lo, hi, mv, h)                                                         \
	{ OPT_ROW(l, n, s, f, uint32_t, U32, mv, h), .min = lo, .max = hi }
#define OPT_U32_UPTO(l, n, s, f, lo, fn, setting, mv, h)                                           \
	{ OPT_ROW(l, n, s, f, uint32_t, U32, mv, h), .min = lo, .limit = fn, .limit_name = setting }
#define OPT_MODE(l, n, s, f, mv, h) { OPT_ROW(l, n, s, f, uint32_t, MODE, mv, h) }
#define OPT_U64(l, n, s, f, lo, hi, mv, h)                                                         \
	{ OPT_ROW(l, n, s, f, uint64_t, U64, mv, h), .min = lo, .max = hi }
#define OPT_SIZE(l, n, s, f, u, lo, hi, mv, h)                                                     \
	{ OPT_ROW(l, n, s, f, uint64_t, SIZE, mv, h), .min = lo, .max = hi, .unit = u }
#define OPT_TIME(l, n, s, f, u, lo, hi, mv, h)                                                     \
	{ OPT_ROW(l, n, s, f, uint64_t, TIME, mv, h), .min = lo, .max = hi, .unit = u }
#define OPT_STRING(l, n, s, f, mv, h) { OPT_ROW(l, n, s, f, const char *, STRING, mv, h) }
#define OPT_STRINGS(l, n, s, f, mv, h) { OPT_ROW(l, n, s, f, struct opt_strings, STRINGS, mv, h) }
#define OPT_TIDS(l, n, s, f, mv, h) { OPT_ROW(l, n, s, f, struct opt_ids, TIDS, mv, h) }
#define OPT_CPUS(l, n, s, f, mv, h) { OPT_ROW(l, n, s, f, struct opt_ids, CPUS, mv, h) }
#define OPT_PROGRAM(s, f) { OPT_ROW(0, NULL, s, f, char **, PROGRAM, NULL, NULL) }
#define OPT_ALIAS(l, n, target)                                                                    \
	{ .letter = l, .name = n, .type = OPT_TYPE_ALIAS, .help = target, .hidden = true }
#define OPT_GROUP(text) { .type = OPT_TYPE_GROUP, .help = text }
#define OPT_END { .type = OPT_TYPE_END }
/* clang-format on */

#define OPT_HELP 1

/*
 * Parses argv[1..argc), argv[0] being the command's name, into args. Options and other words may be
 * mixed; the words come back in *rest and *nr_rest (a part of argv, whose order is not changed).
 * "--" ends the options: what follows goes untouched to the table's OPT_PROGRAM row, or counts as
 * words when there is none. Returns 0, OPT_HELP when --help or -h was met (nothing is printed), or
 * -EINVAL after one sentence on stderr. Long names must be complete; abbreviations are mistakes
 * with a suggestion.
 */
int opt_parse(const char *command, const struct opt *opts, int argc, char **argv, void *args,
	      char ***rest, int *nr_rest);

/* The options as a table of two columns, at most 80 wide. */
void opt_help(FILE *out, const struct opt *opts);

/*
 * A duration: "30", "0.5", "10s", "500ms", "250us", "2m", "1h". Returns 0, -EINVAL when it is none,
 * or -ERANGE when it is zero or longer than seven days.
 */
int opt_seconds(const char *word, uint64_t *ns);

/*
 * The only word left, as a duration; *ns stays as it is without one, and must be 0 with one: -d
 * says the same. 0, or -EINVAL after one sentence.
 */
int opt_duration(char **words, int nr, uint64_t *ns);

/* A value of an option that is no whole number, with the unit behind it or without. */
struct opt_number {
	const char *option; /* "--alpha" */
	double least, most;
	const char *unit; /* "%"; NULL = none */
};

/* NULL leaves *to as it is. 0, or -EINVAL after one sentence. */
int opt_number(const struct opt_number *n, const char *text, double *to);

/* Frees the lists that parsing put into args. */
void opt_release(const struct opt *opts, void *args);

bool opt_ids_has(const struct opt_ids *ids, uint32_t id);
void opt_ids_add(struct opt_ids *ids, uint32_t id);
void opt_ids_release(struct opt_ids *ids);
void opt_strings_release(struct opt_strings *strings);

#endif

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
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/opt_parts.h"
#include "base/text.h"

#define ROW_BASE 256 /* getopt's value of row i is ROW_BASE + i, above all letters */
#define ROW_WORD 1   /* getopt's value of a word that is no option */

const struct opt *opt_find(const struct opt *opts, const char *name)
{
	for (; opts->type != OPT_TYPE_END; opts++)
		if (opts->name && !strcmp(opts->name, name))
			return opts;
	return NULL;
}

/* The row that o stands for: itself unless it is an alias. */
static const struct opt *meant(const struct opt *opts, const struct opt *o)
{
	o = o->type == OPT_TYPE_ALIAS ? opt_find(opts, o->help) : o;
	assert(o);
	return o;
}

/* Tells getopt about the rows, and about --help and -h unless the table has its own. */
static void parse_init(struct opt_run *p, const char *command, const struct opt *opts)
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
		bool value = opt_kinds[meant(opts, &opts[i])->type].value;

		if (opts[i].name)
			*l++ = (struct option){ opts[i].name, value, NULL, ROW_BASE + (int)i };
		if (opts[i].letter)
			s += sprintf(s, "%c%s", opts[i].letter, value ? ":" : "");
	}
	/* Behind the rows, so that a row of that name or letter comes first. */
	strcpy(s, "h");
	*l = (struct option){ "help", no_argument, NULL, ROW_BASE + (int)nr };
}

static void parse_release(struct opt_run *p)
{
	free(p->longs);
	free(p->letters);
}

/* NULL is --help. */
static const struct opt *row_of(const struct opt_run *p, int code)
{
	size_t i;

	if (code >= ROW_BASE)
		return code == ROW_BASE + (int)p->nr_opts ? NULL : &p->opts[code - ROW_BASE];
	for (i = 0; i < p->nr_opts; i++)
		if (p->opts[i].letter == code)
			return &p->opts[i];
	return NULL;
}

static int unknown_long(const struct opt_run *p, const char *name)
{
	const char **names = xcalloc(p->nr_opts + 1, sizeof(*names));
	char *shown = text_frame(name, strlen(name), 0), *hint;
	size_t i, nr = 0;

	for (i = 0; i < p->nr_opts; i++)
		if (p->opts[i].name && !p->opts[i].hidden)
			names[nr++] = p->opts[i].name;
	names[nr++] = "help";
	hint = text_meant("--", text_nearest(name, names, nr));
	log_err(0, "unknown option '--%s' of %s%s (bpfprof %s --help)", shown, p->command, hint,
		p->command);
	free(hint);
	free(shown);
	free(names);
	return -EINVAL;
}

/* code is '?' (unknown, shortened, or a flag with a value) or ':' (value missing); name is of a
 * long option. */
static int bad_option(const struct opt_run *p, int code, const char *name)
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
static void spell(struct opt_run *p, int code, const char *name)
{
	char letter[2] = { (char)(code == '?' || code == ':' ? optopt : code), '\0' };
	char *shown = text_frame(name ? name : letter, strlen(name ? name : letter), 0);

	snprintf(p->spelled, sizeof(p->spelled), "%s%s", name ? "--" : "-", shown);
	free(shown);
}

/* One option: element is what getopt read it from, or the cluster of letters that it stands in. */
static int parse_one(struct opt_run *p, int code, const char *element, void *args)
{
	bool is_long = !strncmp(element, "--", 2);
	char *name = is_long ? xstrndup(element + 2, strcspn(element + 2, "=")) : NULL;
	const struct opt *o = row_of(p, code);
	int err;

	spell(p, code, name);
	if (is_long && !opt_find(p->opts, name) && strcmp(name, "help")) {
		/* getopt takes any beginning that fits one row; so would a script, until we add a
		 * row. */
		err = unknown_long(p, name);
	} else if (code == '?' || code == ':') {
		err = bad_option(p, code, name);
	} else if (!o) {
		err = OPT_HELP;
	} else {
		o = meant(p->opts, o);
		err = opt_kinds[o->type].set(p, o, (char *)args + o->offset, optarg);
	}
	free(name);
	return err;
}

/* Words behind "--": a program's, or words like the others. */
static int take_tail(struct opt_run *p, int argc, char **argv, void *args, bool dashes,
		     int *nr_words)
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
		log_err(0, "'--' needs a program after it");
		return -EINVAL;
	}
	return 0;
}

int opt_parse(const char *command, const struct opt *opts, int argc, char **argv, void *args,
	      char ***rest, int *nr_rest)
{
	int code, at = 1, nr_words = 0, err = 0;
	struct opt_run p;

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

void opt_release(const struct opt *opts, void *args)
{
	for (; opts->type != OPT_TYPE_END; opts++) {
		void *field = (char *)args + opts->offset;

		if (opts->type == OPT_TYPE_STRINGS)
			opt_strings_release(field);
		if (opts->type == OPT_TYPE_TIDS || opts->type == OPT_TYPE_CPUS)
			opt_ids_release(field);
	}
}

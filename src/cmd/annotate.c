/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* bpfprof annotate: what the lines and instructions of functions cost, of a saved recording. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "cmd/annotate_parts.h"
#include "cmd/cmd.h"
#include "cmd/results.h"
#include "cmd/saved.h"
#include "profile/kind.h"

#define MAX_HOTTEST 1000

struct annotate_args {
	struct results_opts results;
	uint32_t hottest;
	bool file_lines, whole, all_insns, no_insns;
	const char *value, *root;
	struct opt_strings source_dirs;
};

const struct opt annotate_opts[] = {
	OPT_GROUP("What"),
	OPT_U32(0, "hottest", struct annotate_args, hottest, 1, MAX_HOTTEST, "N",
		"the N functions with most by themselves (default without FUNCTION: 1)"),
	OPT_FLAG(0, "file-lines", struct annotate_args, file_lines,
		 "the hottest source lines of the whole recording instead"),
	OPT_FLAG('a', "all", struct annotate_args, whole,
		 "all lines of the function, not only the hot ones"),
	OPT_FLAG('i', "instructions", struct annotate_args, all_insns,
		 "all instructions of lines that are shown, not only the hot ones"),
	OPT_FLAG('S', "source-only", struct annotate_args, no_insns, "no instructions"),
	OPT_STRING(0, "value", struct annotate_args, value, "EVENT",
		   "of several events, the one to sort by (default: the first)"),
	OPT_GROUP("Where files are"),
	OPT_STRINGS(0, "source-dir", struct annotate_args, source_dirs, "DIR",
		    "sources are below DIR, under any end of their path (repeatable)"),
	OPT_STRING(0, "symfs", struct annotate_args, root, "DIR",
		   "programs and libraries are below DIR, not below /"),
	FORMS_ROWS(struct annotate_args, results, ANNOTATE_EXTENSIONS),
	OPT_U32(0, "rows", struct annotate_args, results.view.rows, 1, 1000000, "N",
		"rows of --file-lines (default 40)"),
	OPT_END,
};

static enum cmd_result not_found(const struct costs *c, const char *name)
{
	const char *near[COSTS_MAX_NEAR];
	size_t nr = costs_near(c, name, near), sz;
	char *shown = text_cleaned(name), *text = NULL, *safe;
	FILE *f = open_memstream(&text, &sz);

	for (size_t i = 0; i < nr; i++) {
		safe = text_cleaned(near[i]);
		fprintf(f, "%s'%s'", !i ? "; did you mean " : i + 1 < nr ? ", " : " or ", safe);
		free(safe);
	}
	if (nr)
		fputc('?', f);
	fclose(f);
	if (costs_has(c, name))
		log_err(0,
			"'%s' has no samples by itself, only what it calls (bpfprof report "
			"--peek shows that)",
			shown);
	else
		log_err(0, "no function '%s' in the recording%s", shown, text);
	free(text);
	free(shown);
	return CMD_USAGE;
}

static void add(struct annotations *all, struct annotation *a)
{
	all->v = xreallocarray(all->v, all->nr + 1, sizeof(*all->v));
	all->v[all->nr++] = a;
}

static enum cmd_result choose(struct annotations *all, const struct annotate_args *a, char **words,
			      int nr)
{
	size_t nr_hottest = a->hottest ? a->hottest : nr || a->file_lines ? 0 : 1, nr_found, *found;
	struct costs *c = &all->costs;

	if (a->file_lines)
		add(all, annotation_new_of_all(c));
	for (size_t i = 0; i < nr_hottest && i < c->nr; i++)
		add(all, annotation_new(c, i));
	for (int i = 0; i < nr; i++) {
		found = costs_find(c, words[i], &nr_found);
		for (size_t k = 0; k < nr_found; k++)
			add(all, annotation_new(c, found[k]));
		free(found);
		if (!nr_found)
			return not_found(c, words[i]);
	}
	return CMD_OK;
}

static enum cmd_result write_all(struct annotate_args *a, const struct annotations *all)
{
	const struct result result = { RESULT_ANNOTATIONS, .annotations = all };
	struct results *results = results_open(&a->results);
	enum cmd_result status = CMD_FAILED;

	if (!results && errno == EINVAL)
		status = CMD_USAGE;
	else if (results && !results_write_all(results, &result))
		status = CMD_OK;
	results_close(results);
	return status;
}

static uint64_t without_lines(const struct annotation *a)
{
	uint64_t value = 0;

	for (size_t i = 0; i < a->nr_lines; i++)
		if (!a->lines[i].file)
			value += annotation_line_cost(a, i)[a->costs->event].value;
	return value;
}

/* Why there is less to see than of a program with debug information. */
static void note_unknown(struct annotation *a)
{
	uint64_t all = a->function.sums[a->costs->event].value, unknown = without_lines(a);
	uint32_t kind = a->of_all ? FRAME_USER : annotation_kind(a);

	if (kind == FRAME_KERNEL)
		annotation_note(a, "code of the kernel is not read, and its lines are not known: "
				   "addresses count from the start of the function");
	else if (kind == FRAME_ANON)
		annotation_note(a, "generated code is in no file, so instructions are not shown");
	if (kind != FRAME_KERNEL && unknown)
		annotation_note(
			a, "%s is in code whose lines are not known (%sno debug information)",
			text_pct(all ? 100.0 * unknown / all : 0), a->of_all ? "kernel, or " : "");
}

static void annotate(struct annotations *all, const struct annotate_args *a)
{
	if (!a->file_lines)
		annotate_code(all, a->root ? a->root : "");
	for (size_t i = 0; i < all->nr; i++) {
		annotation_finish(all->v[i]);
		note_unknown(all->v[i]);
	}
	annotate_source(all, &a->source_dirs);
}

static void annotations_release(struct annotations *all)
{
	for (size_t i = 0; i < all->nr; i++)
		annotation_free(all->v[i]);
	free(all->v);
	costs_release(&all->costs);
}

static enum cmd_result show(struct annotate_args *a, const struct profile *p, char **words, int nr)
{
	struct annotations all = { .profile = p,
				   .file_lines = a->file_lines,
				   .whole = a->whole,
				   .all_insns = a->all_insns,
				   .no_insns = a->no_insns };
	struct view view;
	enum cmd_result status;

	results_default(&a->results, kind_of_profile(p));
	view = a->results.view;
	view.value = a->value;
	costs_init(&all.costs, p, &view);
	status = choose(&all, a, words, nr);
	if (status == CMD_OK) {
		annotate(&all, a);
		status = write_all(a, &all);
	}
	annotations_release(&all);
	return status;
}

char *annotate_text(const struct profile *p, const struct view *v, const char *name, size_t width)
{
	const struct annotate_args a = {};
	struct annotations all = { .profile = p };
	char *words[] = { xstrdup(name) }, *text = NULL;
	size_t sz;
	FILE *f;

	costs_init(&all.costs, p, v);
	if (choose(&all, &a, words, 1) == CMD_OK) {
		annotate(&all, &a);
		f = open_memstream(&text, &sz);
		for (size_t i = 0; i < all.nr; i++)
			annotations_put_function(&all, all.v[i], width, f);
		fclose(f);
	}
	annotations_release(&all);
	free(words[0]);
	return text;
}

/* The recording first, as with report, or last. */
static void take_file(char **words, int nr)
{
	char *last = words[nr - 1];

	if (nr < 2 || saved_is_profile(words[0]) || !saved_is_profile(last))
		return;
	memmove(words + 1, words, (nr - 1) * sizeof(*words));
	words[0] = last;
}

static int check(struct annotate_args *a, char **words, int nr)
{
	if (!nr)
		return log_err(0, "which recording? (bpfprof annotate FILE.bpfprof FUNCTION)");
	if (nr > 1 && (a->hottest || a->file_lines))
		return log_err(0, "FUNCTION, --hottest and --file-lines exclude each other");
	if (a->hottest && a->file_lines)
		return log_err(0, "--hottest and --file-lines exclude each other");
	if (a->no_insns && a->all_insns)
		return log_err(0, "-i and -S exclude each other");
	take_file(words, nr);
	return results_check(&a->results);
}

static bool has_stacks(const struct result *r)
{
	return r->kind == RESULT_STACKS || r->kind == RESULT_CALLS;
}

static enum cmd_result no_such_event(const char *value)
{
	char *shown = text_cleaned(value);

	log_err(0, "--value '%s': the recording has no such event", shown);
	free(shown);
	return CMD_USAGE;
}

static enum cmd_result run(struct annotate_args *a, char **words, int nr)
{
	enum cmd_result result = CMD_FAILED;
	struct saved saved;

	if (check(a, words, nr))
		return CMD_USAGE;
	if (saved_open(&saved, words[0])) {
		result = CMD_FAILED;
	} else if (!has_stacks(&saved.result)) {
		log_err(0, "annotate is for recordings of stacks; this is %s",
			output_kind_text(saved.result.kind));
		result = CMD_USAGE;
	} else if (a->value && profile_find_event(saved.profile, a->value) < 0) {
		result = no_such_event(a->value);
	} else {
		result = show(a, saved.profile, words + 1, nr - 1);
	}
	saved_close(&saved);
	return result;
}

enum cmd_result cmd_annotate(const struct command *self, int argc, char **argv)
{
	struct annotate_args a = { .results.kind = RESULT_ANNOTATIONS };
	enum cmd_result result = CMD_USAGE;
	char **words;
	int nr, err;

	err = opt_parse("annotate", annotate_opts, argc, argv, &a, &words, &nr);
	if (err == OPT_HELP) {
		cmd_help(self);
		result = CMD_OK;
	} else if (!err) {
		result = run(&a, words, nr);
	}
	opt_release(annotate_opts, &a);
	return result;
}

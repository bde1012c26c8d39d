/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Opening and writing results. */
#include "cmd/results.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/outfile.h"
#include "base/text.h"
#include "cmd/form.h"
#include "cmd/scope.h"
#include "cmd/sort_keys.h"
#include "output/style.h"
#include "profile/context.h"
#include "profile/lengths.h"
#include "profile/wait.h"

struct result_file {
	const char *path; /* as given */
	const struct output *output;
	struct outfile *file;
};

struct results {
	const struct results_opts *opts;
	const struct output *shown; /* on standard output, NULL = nothing */
	struct result_file *v;
	size_t nr;
};

void results_default(struct results_opts *o, const struct kind *kind)
{
	o->view.split = kind->running;
	if (!o->idle)
		o->view.idle = kind->wakers && !kind->locks ? IDLE_SHOW : IDLE_FOLD;
}

/* " (use fold, hide or show)". To be freed. */
static char *words_text(const char *const *words, size_t nr)
{
	char *text = NULL;
	size_t sz;
	FILE *f = open_memstream(&text, &sz);

	for (size_t i = 0; i < nr; i++)
		fprintf(f, "%s%s", !i ? " (use " : i + 1 < nr ? ", " : " or ", words[i]);
	fputc(')', f);
	fclose(f);
	return text;
}

int results_word(const char *option, const char *word, const char *const *words, size_t nr)
{
	const char *near = word ? text_nearest(word, words, nr) : NULL;
	char *shown, *hint;

	for (size_t i = 0; i < nr; i++)
		if (!word || !strcmp(word, words[i]))
			return (int)i;
	shown = text_frame(word, strlen(word), 0);
	hint = near ? text_meant("", near) : words_text(words, nr);
	log_err(0, "%s: unknown mode '%s'%s", option, *word ? shown : "", hint);
	free(hint);
	free(shown);
	return -EINVAL;
}

static bool to_stdout(const char *path)
{
	return path && (!strcmp(path, "-") || !strcmp(path, "/dev/stdout"));
}

/* A number of pixels; 0 would be the usual, so that of nothing is left out is a little more. */
static int parse_min_width(struct results_opts *o)
{
	double px = 0;

	if (!o->min_width)
		return 0;
	if (opt_number(&(struct opt_number){ "--min-width", 0, 1000, NULL }, o->min_width, &px))
		return -EINVAL;
	o->view.min_width = px > 0.001 ? px : 0.001;
	return 0;
}

static int parse_flame(struct results_opts *o)
{
	static const char *const words[VIEW_NR_COLORS] = {
		[VIEW_COLORS_CPU] = "cpu",     [VIEW_COLORS_IO] = "io",
		[VIEW_COLORS_CLASS] = "class", [VIEW_COLORS_MODULE] = "module",
		[VIEW_COLORS_DIFF] = "diff",
	};
	int colors = results_word("--colors", o->colors, words, VIEW_NR_COLORS);
	bool compares = o->kind == RESULT_CHANGES || o->kind == RESULT_DIFF;

	if (colors < 0 || parse_min_width(o))
		return -EINVAL;
	if (colors == VIEW_COLORS_DIFF && !compares)
		log_err(0, "--colors diff is for bpfprof diff (use cpu, io, class or module)");
	else if (colors == VIEW_COLORS_CLASS && compares)
		log_err(0, "--colors class is for one recording (use cpu, io, module or diff)");
	else {
		o->view.colors = o->colors || !compares ? colors : VIEW_COLORS_DIFF;
		return 0;
	}
	return -EINVAL;
}

static int parse_runtime(struct results_opts *o)
{
	static const char *const frames_words[] = { "task", "app", "all" };
	static const char *const group_words[] = { "role", "thread", "name", "none" };
	const char *runtimes[RUNTIME_FIRST + CONTEXT_MAX_RUNTIMES] = { "auto", "none" };
	uint32_t nr = RUNTIME_FIRST;
	int runtime, frames, group;

	for (uint32_t r = 0; r < context_nr_runtimes(); r++)
		runtimes[nr++] = context_runtime(r);
	runtime = results_word("--runtime", o->runtime, runtimes, nr);
	frames = results_word("--frames", o->frames, frames_words, 3);
	group = results_word("--group", o->group, group_words, 4);
	if (runtime < 0 || frames < 0 || group < 0)
		return -EINVAL;
	o->view.runtime = runtime;
	o->view.frames = frames;
	o->view.group = group;
	return 0;
}

static int parse_words(struct results_opts *o)
{
	static const char *const idle_words[] = { "fold", "hide", "show" };
	static const char *const color_words[] = { "auto", "always", "never" };
	int idle = results_word("--idle", o->idle, idle_words, 3);
	int color = results_word("--color", o->color, color_words, 3);
	int by = sort_keys_by(o->by);
	int sort = results_word("--sort", o->sort, timeline_sort_names, TIMELINE_NR_SORTS);

	if (idle < 0 || color < 0 || by < 0 || sort < 0)
		return -EINVAL;
	o->view.timeline_sort = sort;
	o->view.by = by;
	if (parse_flame(o) || parse_runtime(o) || scope_check_words(&o->view))
		return -EINVAL;
	style_choose(color);
	if (o->idle)
		o->view.idle = idle;
	return 0;
}

int results_check(struct results_opts *o)
{
	int err;

	form_imply(o);
	err = form_check(o);
	if (err)
		return err;
	if (o->report && strcmp(o->report, "md"))
		err = log_err(0, "--report: unknown form (use md)");
	else if (o->view.heatmap && !results_wants(o, "html") && !results_wants(o, "bpfprof"))
		err = log_err(0, "--heatmap is part of a page: add -o FILE.html, or "
				 "-o FILE.bpfprof to look at it later");
	else if (o->json && to_stdout(o->junit))
		err = log_err(0, "--json and --junit - both want standard output");
	if (err)
		return -EINVAL;
	err = o->classes ? wait_parse_classes(o->classes, &o->view.classes) : 0;
	return err ? err : parse_words(o);
}

bool results_wants(const struct results_opts *o, const char *name)
{
	const struct output *wanted = output_get(o->kind, name);

	if (o->report && !strcmp(o->report, name))
		return true;
	for (size_t i = 0; i < o->files.nr; i++)
		if (wanted && output_find(o->kind, o->files.v[i]) == wanted)
			return true;
	return false;
}

static int open_as(struct results *r, const struct output *output, const char *path)
{
	struct result_file *next = &r->v[r->nr];

	next->path = path;
	next->output = output;
	next->file = outfile_open(path);
	if (!next->file)
		return -errno;
	outfile_set_mode(next->file, r->opts->mode);
	r->nr++;
	return 0;
}

static bool ends_in_csv(const char *path)
{
	size_t len = strlen(path);

	return len >= 4 && !strcmp(path + len - 4, ".csv");
}

static int open_one(struct results *r, const char *path)
{
	enum result_kind kind = r->opts->kind;
	const struct output *output = output_find(kind, path);
	char *hint;

	if (output)
		return open_as(r, output, path);
	if (output_is_known(path) && ends_in_csv(path) && output_get(kind, "csv"))
		hint = xstrdup("; --csv prints the table");
	else
		hint = text_meant("", output_is_known(path) ? NULL : output_nearest(kind, path));
	log_err(0, "-o %s: %s%s; use one of %s%s", path,
		output_is_known(path) ? output_kind_text(kind) : "unknown file extension",
		output_is_known(path) ? " has no such form" : "", output_extensions(kind), hint);
	free(hint);
	return -EINVAL;
}

/* A pipe wants stacks; who has files needs nothing in a pipe, and no text beside the XML. */
static int choose(struct results *r)
{
	const struct results_opts *o = r->opts;
	const char *name = form_name(o);

	if (to_stdout(o->junit))
		return 0;
	if (!name && isatty(STDOUT_FILENO))
		name = "summary";
	if (!name && o->files.nr)
		return 0;
	if (!name)
		name = o->kind == RESULT_STACKS ? "folded" : "summary";
	r->shown = output_get(o->kind, name);
	if (r->shown)
		return 0;
	return form_refuse(o);
}

struct results *results_open(const struct results_opts *o)
{
	struct results *r = xcalloc(1, sizeof(*r));
	int err;

	r->opts = o;
	r->v = xcalloc(o->files.nr + 1, sizeof(*r->v));
	err = form_check_shown(o);
	if (!err)
		err = choose(r);
	for (size_t i = 0; i < o->files.nr && !err; i++)
		err = open_one(r, o->files.v[i]);
	if (!err && o->junit)
		err = open_as(r, output_get(o->kind, "junit"), o->junit);
	if (!err)
		return r;
	results_close(r);
	errno = -err;
	return NULL;
}

bool results_need_rights(const struct results *r)
{
	for (size_t i = 0; i < r->nr; i++)
		if (outfile_needs_rights(r->v[i].file))
			return true;
	return false;
}

static int no_such_event(const struct profile *p, const char *value)
{
	const char **names = xcalloc(p->nr_events + 1, sizeof(*names));
	char *hint;

	for (size_t i = 0; i < p->nr_events; i++)
		names[i] = profile_str(p, p->events[i].name);
	hint = text_meant("", text_nearest(value, names, p->nr_events));
	log_err(0, "--value '%s': the profile has no such event%s", value, hint);
	free(hint);
	free(names);
	return -EINVAL;
}

static int check_result(const struct results *r, const struct result *result)
{
	const char *value = r->opts->view.value;
	int err;

	if (result->kind == RESULT_STACKS && value &&
	    profile_find_event(result->profile, value) < 0)
		return no_such_event(result->profile, value);
	if (result->kind == RESULT_STACKS && r->opts->view.heatmap &&
	    !result->profile->meta.moment_ns)
		return log_as(-EINVAL, "--heatmap: the recording has no times of samples (record "
				       "it with --heatmap)");
	if (r->opts->view.colors == VIEW_COLORS_CLASS &&
	    (result->kind == RESULT_STACKS || result->kind == RESULT_CALLS) &&
	    !result->profile->meta.is_time)
		log_warn(
			"--colors class: the recording has no waits; colours say the kind of code");
	err = scope_check(r->opts, result);
	if (!err && result->kind == RESULT_STACKS && r->opts->view.histogram &&
	    result->profile->nr_samples && !lengths_known(result->profile))
		err = log_as(-EINVAL, "--histogram: the recording has no lengths of waits");
	return err;
}

int results_show(struct results *r, const struct result *result)
{
	int err = r->shown ? output_write(r->shown, result, &r->opts->view, stdout) : 0;
	int err_written = outfile_flush_stdout();

	return err ? err : err_written;
}

int results_add(struct results *r, const struct result *result)
{
	int err = 0, err_one;

	for (size_t i = 0; i < r->nr; i++) {
		err_one = output_write(r->v[i].output, result, &r->opts->view,
				       outfile_stream(r->v[i].file));
		err = err ? err : err_one;
	}
	return err;
}

int results_commit(struct results *r)
{
	int err = 0, err_one;

	for (size_t i = 0; i < r->nr; i++) {
		err_one = outfile_commit(r->v[i].file);
		r->v[i].file = NULL;
		err = err ? err : err_one;
	}
	r->nr = 0;
	return err;
}

/* Files that the result lacks something for are told of and left out: -EIO, or -EINVAL of all. */
static int drop_lacking(struct results *r, const struct result *result)
{
	const char *lacks = r->shown ? output_lacks(r->shown, result) : NULL;
	size_t kept = 0, dropped = 0;

	if (lacks)
		return log_as(-EINVAL, "%s", lacks);
	for (size_t i = 0; i < r->nr; i++) {
		const char *why = output_lacks(r->v[i].output, result);

		if (!why) {
			r->v[kept++] = r->v[i];
			continue;
		}
		log_err(0, "-o %s: %s", r->v[i].path, why);
		outfile_abort(r->v[i].file);
		dropped++;
	}
	r->nr = kept;
	if (!dropped)
		return 0;
	return kept || r->shown ? -EIO : -EINVAL;
}

static int write_files(struct results *r, const struct result *result)
{
	int err = results_add(r, result);

	return err ? err : results_commit(r);
}

int results_write_files(struct results *r, const struct result *result)
{
	int err = check_result(r, result), lacks = err ? 0 : drop_lacking(r, result);

	if (err || lacks == -EINVAL)
		return err ? err : lacks;
	err = write_files(r, result);
	return err ? err : lacks;
}

int results_write_all(struct results *r, const struct result *result)
{
	int err = results_write_files(r, result), err_one;

	/* What is shown goes with the files that could be written. */
	if (err == -EINVAL)
		return err;
	err_one = results_show(r, result);
	return err ? err : err_one;
}

int results_write(struct results *r, const struct profile *p)
{
	struct result result = { r->opts->kind, .profile = p };
	const char *lacks = r->shown ? output_lacks(r->shown, &result) : NULL;
	int err;

	if (!lacks || !r->nr)
		return results_write_all(r, &result);
	/* What was recorded once cannot be asked for again: files are written all the same. */
	log_err(0, "%s", lacks);
	r->shown = NULL;
	err = results_write_all(r, &result);
	return err ? err : -EIO;
}

void results_close(struct results *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->nr; i++)
		outfile_abort(r->v[i].file);
	free(r->v);
	free(r);
}

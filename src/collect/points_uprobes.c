/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Points of files, by what people type: which files, and what is said where they have none. */
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "collect/points_files.h"
#include "uprobe/spec.h"

/* Of a name that was not found: one that is near, and whether there are few to begin with. */
struct missing {
	char *near;
	bool are_stripped;
};

/* What is asked of a file, and what has been found in others. */
struct wanted {
	struct points *p;
	const struct uprobe_spec *spec;
	const char *text;
	size_t found;
	struct missing missing;
};

/* "", or what helps where it is stripped. */
static const char *remedy(const struct uprobe_spec *spec, const struct missing *missing)
{
	return missing->are_stripped && spec->kind != UPROBE_OFFSET
		       ? ": it is stripped, so only what it exports has a name. Its debug file "
			 "helps (package ...-dbgsym or -debuginfo), or an address, as in +0x1a40"
		       : "";
}

static int nothing_found(const struct wanted *w, const char *path)
{
	const struct uprobe_spec *spec = w->spec;
	const struct missing *missing = &w->missing;
	char *hint = text_meant("", missing->near);

	if (points_are_gone(w->p))
		;
	else if (spec->kind == UPROBE_USDT)
		log_err(0, "no USDT probe %s:%s in %s (readelf -n lists them)", spec->provider,
			spec->function, path ? path : "these processes");
	else if (!path)
		log_err(0, "no file of these processes has a function '%s'%s", w->text, hint);
	else if (spec->kind == UPROBE_OFFSET)
		log_err(0, "%s has no code at 0x%" PRIx64, path, spec->offset);
	else if (!spec->function)
		log_err(0, "%s has no functions that can be found%s", path, remedy(spec, missing));
	else
		log_err(0, "%s has no function '%s'%s%s", path, spec->function, hint,
			remedy(spec, missing));
	free(hint);
	return -ENOENT;
}

static int add_from(struct wanted *w, const struct point_file *f)
{
	struct points_question q = { .what = POINTS_SPEC,
				     .found = w->found,
				     .has_process = w->p->opts->pids && w->p->opts->pids->nr };
	struct points_told told;
	int err = points_search(w->p, f, &q, w->text, &told);

	if (!err) {
		w->found += told.found;
		w->missing.are_stripped |= told.is_stripped;
		if (!w->missing.near && told.near)
			w->missing.near = xstrdup(told.near);
	}
	points_told_release(&told);
	return err;
}

static int add_from_any(void *arg, const struct point_file *f)
{
	int err = add_from(arg, f);

	return points_may_pass(err) ? 0 : err;
}

/* In all files of the processes: those that cannot be read are passed over. */
static int add_anywhere(struct wanted *w)
{
	int err = points_for_each_file(w->p, add_from_any, w);

	if (!err && !w->found)
		err = nothing_found(w, NULL);
	return err;
}

static bool is_pattern(const char *target)
{
	return strpbrk(target, "*?[");
}

/* As a path where it has a slash, else by the name, which may lack its "lib". */
static bool is_like(const char *mapped, const char *pattern)
{
	const char *base = text_base_name(mapped);

	if (strchr(pattern, '/'))
		return !fnmatch(pattern, mapped, 0);
	return !fnmatch(pattern, base, 0) ||
	       (!strncmp(base, "lib", 3) && !fnmatch(pattern, base + 3, 0));
}

/* In all files of the processes that are called so. */
static int add_alike(struct wanted *w)
{
	const char *pattern = w->spec->target;
	size_t nr = points_nr_mapped(w->p), alike = 0;
	const struct point_file *f;
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++) {
		if (!is_like(points_mapped_name(w->p, i), pattern))
			continue;
		alike++;
		if (!points_open_mapped(w->p, i, &f))
			err = add_from_any(w, f);
	}
	if (err || w->found)
		return err;
	if (alike)
		return nothing_found(w, pattern);
	if (!points_are_gone(w->p))
		log_err(0, "none of these processes has a file '%s' mapped", pattern);
	return -ENOENT;
}

static int add_target(struct wanted *w)
{
	const struct point_file *f;
	char *why = NULL;
	int err;

	if (w->p->opts->pids && w->p->opts->pids->nr && is_pattern(w->spec->target))
		return add_alike(w);
	err = points_open_target(w->p, w->spec->target, &f, &why);
	if (why && is_pattern(w->spec->target))
		log_err(0, "'%s': a pattern of files needs -p, whose files it is compared with",
			w->spec->target);
	else if (why && !points_are_gone(w->p))
		log_err(0, "%s", why);
	free(why);
	if (err)
		return err;
	if (points_nr_mapped(w->p) && !points_is_mapped(w->p, f))
		log_warn("none of these processes has %s mapped: calls are seen once one does",
			 f->path);
	err = add_from(w, f);
	if (err == -ENOEXEC)
		return log_as(-EINVAL, "%s is no ELF file", f->path);
	if (!err && !w->found)
		err = nothing_found(w, f->path);
	return err;
}

int points_add_uprobes(struct points *p, const char *text)
{
	bool has_process = p->opts->pids && p->opts->pids->nr;
	struct uprobe_spec spec;
	struct wanted w = { .p = p, .spec = &spec, .text = text };
	char *why = NULL;
	int err = uprobe_spec_parse(&spec, text, has_process, &why);

	if (err) {
		log_err(0, "%s", why);
		free(why);
		return err;
	}
	err = spec.target ? add_target(&w) : add_anywhere(&w);
	free(w.missing.near);
	uprobe_spec_release(&spec);
	return err;
}

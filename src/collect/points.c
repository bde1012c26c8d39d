/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Points of files. */
#include "collect/points.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "collect/call_args.h"
#include "collect/points_parts.h"
#include "uprobe/functions.h"
#include "uprobe/leaving.h"
#include "uprobe/place.h"
#include "uprobe/target.h"

void points_init(struct points *p, const struct points_opts *o)
{
	*p = (struct points){ .opts = o };
}

const char *points_string(struct points *p, char *s)
{
	p->strings = xgrow(p->strings, p->nr_strings, &p->cap_strings, sizeof(*p->strings));
	p->strings[p->nr_strings++] = s;
	return s;
}

uint32_t points_add_event(struct points *p, const struct call_event *e)
{
	p->events = xgrow(p->events, p->nr_events, &p->cap_events, sizeof(*p->events));
	p->events[p->nr_events] = *e;
	return p->nr_events++;
}

uint32_t points_add_args(struct points *p, const struct call_args *a)
{
	p->args = xgrow(p->args, p->nr_args, &p->cap_args, sizeof(*p->args));
	p->args[p->nr_args] = *a;
	return p->nr_args++;
}

void points_add(struct points *p, const struct point *point)
{
	p->v = xgrow(p->v, p->nr, &p->cap, sizeof(*p->v));
	p->v[p->nr++] = *point;
	p->nr_dear += point->is_dear;
}

void points_release(struct points *p)
{
	for (size_t i = 0; i < p->nr_strings; i++)
		free(p->strings[i]);
	free(p->strings);
	free(p->events);
	free(p->args);
	free(p->v);
	*p = (struct points){};
}

int points_open_file(struct points_file *f, const char *path, const char *shown)
{
	*f = (struct points_file){ .path = path,
				   .shown = shown,
				   .functions = functions_open(path) };
	if (!f->functions)
		return -errno;
	f->leaving = leaving_of_file(f->functions, shown);
	return 0;
}

void points_close_file(struct points_file *f)
{
	places_free(f->places);
	functions_free(f->functions);
}

void points_tell_place(const struct points_file *f, const char *name, const struct place *place)
{
	static const char *const prices[] = { [PLACE_EMULATED] = "cheap",
					      [PLACE_OPTIMISED] = "without a trap",
					      [PLACE_STEPPED] = "dear: single-stepped",
					      [PLACE_REFUSED] = "refused by the kernel" };

	log_info("%s in %s: at 0x%" PRIx64 ", \"%s\" (%s; %s)", name, f->path, place->address,
		 place->insn, prices[place->price], place->why);
}

/* A call begins at the entry: an instruction inside may be passed often, or never return. */
static int check_timed(const struct points_file *f, const struct uprobe_spec *spec,
		       const struct uprobe_function *fn)
{
	const char *shown = functions_shown(f->functions, fn);
	uint64_t at = points_inside_at(spec, fn);

	if (fn->begins_anywhere)
		return log_as(-EINVAL,
			      "%s at 0x%" PRIx64 ": where its function begins is not known, so its "
			      "calls cannot be timed: leave out --latency",
			      f->path, fn->address);
	if (at)
		return log_as(-EINVAL,
			      "%s+0x%" PRIx64 " is inside of a function, and calls are timed from "
			      "where it begins: type it without the offset, or leave out --latency",
			      fn->nr_names ? shown : f->path, fn->nr_names ? at - fn->address : at);
	return 0;
}

int points_choose_place(struct points *p, struct points_file *f, const struct uprobe_spec *spec,
			const struct uprobe_function *fn, struct place *place)
{
	bool returns = p->opts->timed || p->opts->sessions;
	unsigned int flags = p->opts->place_flags | (returns ? PLACE_RETURN : 0);
	uint64_t at = points_inside_at(spec, fn);
	bool inside = at != 0;
	int err = p->opts->timed ? check_timed(f, spec, fn) : 0;

	if (err)
		return err;
	if (!f->places)
		f->places = places_open(f->functions);
	if (!f->places)
		return log_err(-errno, "cannot read the code of %s", f->path);
	err = inside ? place_at(f->places, fn, at, flags, place)
		     : place_choose(f->places, fn, flags, place);
	if (err == -EINVAL)
		return log_as(err, "no instruction of %s begins at 0x%" PRIx64,
			      functions_shown(f->functions, fn), at);
	if (err == -ENOEXEC) { /* of a name for the end of the code, as in Go */
		*place = (struct place){ .address = fn->address,
					 .offset = fn->offset,
					 .price = PLACE_REFUSED,
					 .insn = "?",
					 .why = "no instruction can be read there" };
		return 0;
	}
	return err ? log_err(err, "cannot read the code of %s", fn->name) : 0;
}

/* Several functions may go on as one. */
static bool has_return(const struct points *p, const char *path, uint64_t offset)
{
	for (size_t i = 0; i < p->nr; i++)
		if (p->v[i].is_return && p->v[i].offset == offset && !strcmp(p->v[i].where, path))
			return true;
	return false;
}

int points_add_returns(struct points *p, struct points_file *f, const struct uprobe_function *fn,
		       struct point point)
{
	uint32_t args = point.args;
	struct leaving *v;
	size_t nr;
	int err = p->opts->at_last ? leaving_find_last(f->places, f->functions, fn, &v, &nr)
				   : leaving_find(f->places, f->functions, fn, &v, &nr);

	if (err)
		return log_as(err, "cannot find where %s returns: it cannot be decoded", fn->name);
	if (!nr)
		log_warn("%s does not return: its calls are not timed", fn->name);
	log_info("%s in %s: its return is seen where it is executed (%zu), since a return probe "
		 "could end the program",
		 functions_shown(f->functions, fn), f->path, nr);
	point.is_return = true;
	point.is_dear = RETURN_IS_DEAR;
	for (size_t i = 0; i < nr; i++) {
		point.offset = v[i].offset;
		point.args = args | (v[i].jumps ? p->opts->args_of_jumps : 0);
		if (p->opts->at_last && has_return(p, f->path, point.offset))
			continue;
		points_add(p, &point);
	}
	free(v);
	return 0;
}

/* Several words may mean a function. */
static bool is_probed(const struct points *p, const struct points_file *f, uint64_t offset)
{
	for (size_t i = 0; i < p->nr; i++)
		if (p->v[i].offset == offset && !p->v[i].is_return &&
		    !strcmp(p->v[i].where, f->path))
			return true;
	return false;
}

/* Of functions that a pattern means: those that are left out. */
struct passed {
	size_t refused; /* no probe can stand there */
	size_t ifuncs;
};

/* passed: NULL = there is but one function, and what is wrong with it is an error. */
static int add_function(struct points *p, struct points_file *f, const struct uprobe_spec *spec,
			const struct uprobe_function *fn, const char *shown, struct passed *passed)
{
	struct call_event e = { .where = f->shown };
	struct point point = { .kind = POINT_UPROBE, .where = f->path };
	struct call_args args = {};
	struct place place;
	int err;

	if (fn->is_ifunc && passed) {
		passed->ifuncs++;
		return 0;
	}
	err = points_choose_place(p, f, spec, fn, &place);
	if (err || is_probed(p, f, place.offset))
		return err;
	points_tell_place(f, shown, &place);
	if (fn->is_ifunc)
		log_warn("%s in %s is chosen when the program starts (IFUNC): calls go to one of "
			 "its implementations, and the probe does not see them",
			 shown, f->path);
	if (place.price == PLACE_REFUSED && passed) {
		passed->refused++;
		return 0;
	}
	if (place.price == PLACE_REFUSED)
		return log_as(-EINVAL, "no probe can stand on \"%s\", where %s begins", place.insn,
			      shown);
	point.is_dear = place.price == PLACE_STEPPED;
	e.name = points_string(p, points_name_of_place(spec, fn, shown));
	err = f->leaving == LEAVING_GO ? call_args_of_go(&args, p->opts->args)
				       : call_args_of_function(&args, p->opts->args);
	if (err)
		return err;
	args.by_goroutine = p->opts->timed && f->leaving == LEAVING_GO;
	point.event = points_add_event(p, &e);
	point.args = points_add_args(p, &args);
	point.offset = place.offset;
	point.by_probe = p->opts->timed && leaving_by_probe(f->leaving, fn);
	points_add(p, &point);
	return p->opts->timed && !point.by_probe ? points_add_returns(p, f, fn, point) : 0;
}

static int too_many(size_t nr, const char *text)
{
	return log_as(-EINVAL,
		      "'%s' means %zu functions, and each of their calls costs: narrow it down, "
		      "or give --all",
		      text, nr);
}

/* Of several functions, some may be left out. */
static int tell_passed(const char *text, const struct passed *passed, size_t nr)
{
	if (passed->refused + passed->ifuncs == nr && nr > 1)
		return log_as(-EINVAL,
			      "'%s' means %zu functions, and no probe can stand where they begin, "
			      "or they are chosen when the program starts (IFUNC)",
			      text, nr);
	if (passed->refused)
		log_warn("'%s': %zu of %zu functions are left out, since no probe can stand "
			 "where they begin (-v lists them)",
			 text, passed->refused, nr);
	if (passed->ifuncs)
		log_warn("'%s': %zu of %zu functions are left out, since they are chosen when the "
			 "program starts (IFUNC), and are only called to choose",
			 text, passed->ifuncs, nr);
	return 0;
}

static int add_functions(struct points *p, struct points_file *f, const struct uprobe_spec *spec,
			 const char *text, size_t *found)
{
	struct uprobe_function *v;
	struct passed passed = {};
	size_t nr;
	char *why = NULL, **names;
	int err = functions_find(f->functions, spec, &v, &nr, &why);

	if (err) {
		log_err(0, "%s", why);
		free(why);
		return err;
	}
	if (*found + nr > POINTS_WITHOUT_ALL && !p->opts->all)
		err = too_many(*found + nr, text);
	if (p->nr_events + nr > CALL_MAX_EVENTS)
		err = log_as(-EINVAL, "'%s': more than %d functions", text, CALL_MAX_EVENTS);
	names = err ? NULL : points_names_of(f, spec, v, nr);
	for (size_t i = 0; i < nr && !err; i++)
		err = add_function(p, f, spec, &v[i], names[i], nr > 1 ? &passed : NULL);
	for (size_t i = 0; names && i < nr; i++)
		free(names[i]);
	free(names);
	err = err ? err : tell_passed(text, &passed, nr);
	*found += nr;
	free(v);
	return err;
}

/* Of a name that was not found: one that is near, and whether there are few to begin with. */
struct missing {
	char *near;
	bool are_stripped;
};

static int add_from(struct points *p, const char *path, const char *shown,
		    const struct uprobe_spec *spec, const char *text, size_t *found,
		    struct missing *missing)
{
	struct points_file f;
	int err = points_open_file(&f, path, shown);
	const char *name;

	if (err)
		return err;
	err = spec->kind == UPROBE_USDT ? points_add_usdt(p, &f, spec, found)
					: add_functions(p, &f, spec, text, found);
	if (!err && !*found && !missing->near && spec->function && spec->kind != UPROBE_USDT) {
		name = functions_near(f.functions, spec->function);
		missing->near = name ? xstrdup(name) : NULL;
	}
	missing->are_stripped |= functions_are_stripped(f.functions);
	points_close_file(&f);
	return err;
}

/* "", or what helps where it is stripped. */
static const char *remedy(const struct uprobe_spec *spec, const struct missing *missing)
{
	return missing->are_stripped && spec->kind != UPROBE_OFFSET
		       ? ": it is stripped, so only what it exports has a name. Its debug file "
			 "helps (package ...-dbgsym or -debuginfo), or an address, as in +0x1a40"
		       : "";
}

static int nothing_found(const struct uprobe_spec *spec, const char *path, const char *text,
			 const struct missing *missing)
{
	char *hint = text_meant("", missing->near);

	if (spec->kind == UPROBE_USDT)
		log_err(0, "no USDT probe %s:%s in %s (readelf -n lists them)", spec->provider,
			spec->function, path ? path : "these processes");
	else if (!path)
		log_err(0, "no file of these processes has a function '%s'%s", text, hint);
	else if (spec->kind == UPROBE_OFFSET)
		log_err(0, "%s has no code at 0x%" PRIx64, path, spec->offset);
	else
		log_err(0, "%s has no function '%s'%s%s", path,
			spec->function ? spec->function : text, hint, remedy(spec, missing));
	free(hint);
	return -ENOENT;
}

static int open_failed(int err, const char *path)
{
	if (err == -ENOEXEC)
		return log_as(-EINVAL, "%s is no ELF file", path);
	return log_err(err, "cannot open %s", path);
}

/* In all files of the processes: those that cannot be read are passed over. */
static int add_anywhere(struct points *p, struct points_mapped *m, const struct uprobe_spec *spec,
			const char *text)
{
	size_t found = 0;
	struct missing missing = {};
	int err = 0;

	for (size_t i = 0; i < m->nr && !err; i++) {
		const char *path = points_string(p, xstrdup(m->v[i]));
		const char *shown = points_string(p, xstrdup(m->names[i]));

		err = add_from(p, path, shown, spec, text, &found, &missing);
		if (err == -ENOEXEC || err == -ENOENT || err == -EACCES)
			err = 0;
	}
	if (!err && !found)
		err = nothing_found(spec, NULL, text, &missing);
	free(missing.near);
	return err;
}

static int add_target(struct points *p, struct points_mapped *m, const struct uprobe_spec *spec,
		      const char *text)
{
	char *why = NULL;
	struct missing missing = {};
	char *path = target_find(spec->target, m->nr ? points_nth_mapped : NULL, m, &why);
	size_t found = 0, nr = p->nr_events, i;
	const char *shown;
	int err;

	if (!path) {
		log_err(0, "%s", why);
		free(why);
		return -ENOENT;
	}
	points_string(p, path);
	shown = path;
	i = points_find_mapped(m, path);
	if (i < m->nr)
		path = (char *)points_string(p, xstrdup(m->v[i]));
	else if (m->nr)
		log_warn("none of these processes has %s mapped: calls are seen once one does",
			 path);
	err = add_from(p, path, shown, spec, text, &found, &missing);
	if (err == -ENOEXEC || (err && p->nr_events == nr && access(path, R_OK)))
		err = open_failed(err, path);
	else if (!err && !found)
		err = nothing_found(spec, path, text, &missing);
	free(missing.near);
	return err;
}

int points_add_uprobes(struct points *p, const char *text)
{
	bool has_process = p->opts->pids && p->opts->pids->nr;
	struct uprobe_spec spec;
	struct points_mapped mapped;
	char *why = NULL;
	int err = uprobe_spec_parse(&spec, text, has_process, &why);

	if (err) {
		log_err(0, "%s", why);
		free(why);
		return err;
	}
	if (spec.is_return && !p->opts->timed) {
		uprobe_spec_release(&spec);
		return log_as(-EINVAL, "'%s': returns are seen when calls are timed: add --latency",
			      text);
	}
	points_read_mapped(&mapped, p->opts->pids);
	if (spec.target)
		err = add_target(p, &mapped, &spec, text);
	else
		err = add_anywhere(p, &mapped, &spec, text);
	points_release_mapped(&mapped);
	uprobe_spec_release(&spec);
	return err;
}

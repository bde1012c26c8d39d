/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Points at functions that people type: in a child, which has read the file. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "collect/call_args.h"
#include "collect/points_parts.h"

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
static bool has_return(const struct points *p, uint64_t offset)
{
	for (size_t i = 0; i < p->nr; i++)
		if (p->v[i].is_return && p->v[i].offset == offset)
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
		if (p->opts->at_last && has_return(p, point.offset))
			continue;
		points_add(p, &point);
	}
	free(v);
	return 0;
}

/* Several words may mean a function. */
static bool is_probed(const struct points *p, uint64_t offset)
{
	for (size_t i = 0; i < p->nr; i++)
		if (p->v[i].offset == offset && !p->v[i].is_return)
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
	struct call_event e = {};
	struct point point = { .kind = POINT_UPROBE };
	struct call_args args = {};
	struct place place;
	int err;

	if (fn->is_ifunc && passed) {
		passed->ifuncs++;
		return 0;
	}
	err = points_choose_place(p, f, spec, fn, &place);
	if (err || is_probed(p, place.offset))
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
			 const char *text)
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
	if (f->question->found + nr > POINTS_WITHOUT_ALL && !p->opts->all)
		err = too_many(f->question->found + nr, text);
	if (f->question->nr_events + nr > CALL_MAX_EVENTS)
		err = log_as(-EINVAL, "'%s': more than %d functions", text, CALL_MAX_EVENTS);
	names = err ? NULL : points_names_of(f, spec, v, nr);
	for (size_t i = 0; i < nr && !err; i++)
		err = add_function(p, f, spec, &v[i], names[i], nr > 1 ? &passed : NULL);
	for (size_t i = 0; names && i < nr; i++)
		free(names[i]);
	free(names);
	err = err ? err : tell_passed(text, &passed, nr);
	f->told->found = nr;
	free(v);
	return err;
}

/* A name near to one that was not found, and whether there are few to begin with. */
static void tell_missing(struct points_file *f, const struct uprobe_spec *spec)
{
	const char *near = NULL;

	if (spec->function)
		near = functions_near(f->functions, spec->function);
	f->told->near = near ? xstrdup(near) : NULL;
}

int points_find_spec(struct points *p, struct points_file *f, const char *text)
{
	struct uprobe_spec spec;
	char *why = NULL;
	int err = uprobe_spec_parse(&spec, text, f->question->has_process, &why);

	if (err) { /* it was understood before */
		free(why);
		return err;
	}
	err = spec.kind == UPROBE_USDT ? points_find_usdt(p, f, &spec)
				       : add_functions(p, f, &spec, text);
	if (!err && !f->told->found && !f->question->found && spec.kind != UPROBE_USDT)
		tell_missing(f, &spec);
	uprobe_spec_release(&spec);
	return err;
}

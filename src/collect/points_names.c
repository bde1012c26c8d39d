/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Points at functions that a table names: one pass over the symbols of a file, however many. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "collect/points_parts.h"

static int by_name(const void *x, const void *y)
{
	const struct points_name *a = x, *b = y;

	return strcmp(a->name, b->name);
}

/* The row of any of a function's names. */
static const struct points_name *row_of(const struct uprobe_function *fn,
					const struct points_name *names, size_t nr)
{
	const struct points_name *found = NULL;

	for (size_t i = 0; i < fn->nr_names && !found; i++)
		found = bsearch(&(struct points_name){ .name = fn->names[i] }, names, nr,
				sizeof(*names), by_name);
	return found;
}

/* Each of its names, so that whoever sees one in a stack knows what it is. */
static void add_events(struct points *p, const struct points_file *f,
		       const struct uprobe_function *fn)
{
	for (size_t i = 0; i < fn->nr_names; i++)
		points_add_event(
			p, &(struct call_event){ .name = points_string(p, xstrdup(fn->names[i])),
						 .where = f->path });
}

/* One that only jumps to another of them: each of its calls would be two. */
static bool is_thunk(const struct points_file *f, const struct place *place,
		     const struct points_name *names, size_t nr)
{
	const struct uprobe_function *to = NULL;
	uint64_t address;

	if (sscanf(place->insn, "jmp 0x%" SCNx64, &address) == 1 ||
	    sscanf(place->insn, "b #0x%" SCNx64, &address) == 1 ||
	    sscanf(place->insn, "b 0x%" SCNx64, &address) == 1)
		to = functions_at(f->functions, address);
	return to && to->address == address && row_of(to, names, nr);
}

static int add_function(struct points *p, struct points_file *f, const struct uprobe_function *fn,
			const struct points_name *names, size_t nr)
{
	const struct points_name *row = row_of(fn, names, nr);
	struct uprobe_spec spec = { .kind = UPROBE_NAME };
	struct point point = {
		.kind = POINT_UPROBE, .event = p->nr_events, .args = row->args, .where = f->path
	};
	bool wants_return = p->opts->timed && !row->no_return;
	struct place place;
	int err = points_choose_place(p, f, &spec, fn, &place);

	if (err || is_thunk(f, &place, names, nr))
		return err;
	points_tell_place(f, row->name, &place);
	if (place.price == PLACE_REFUSED) {
		log_warn("the kernel takes no probe on \"%s\", where %s begins: its calls are not "
			 "seen",
			 place.insn, row->name);
		return 0;
	}
	point.is_dear = place.price == PLACE_STEPPED;
	point.offset = place.offset;
	add_events(p, f, fn);
	point.by_probe = wants_return && leaving_by_probe(f->leaving, fn);
	points_add(p, &point);
	return wants_return && !point.by_probe ? points_add_returns(p, f, fn, point) : 0;
}

int points_add_names(struct points *p, const char *path, const struct points_name *names, size_t nr)
{
	const struct uprobe_function *fns;
	const struct points_name *row;
	struct points_file f;
	size_t nr_fns;
	int err = points_open_file(&f, path, path);

	if (err)
		return err;
	f.path = points_string(p, xstrdup(path));
	fns = functions_all(f.functions, &nr_fns);
	for (size_t i = 0; i < nr_fns && !err; i++) {
		row = row_of(&fns[i], names, nr);
		if (row && (p->opts->timed || !row->no_return))
			err = add_function(p, &f, &fns[i], names, nr);
	}
	points_close_file(&f);
	return err;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* From paths to tables. What is looked up most, a frame's place, is found without hashing. */
#include "output/dictionary.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "profile/trim.h"
#include "profile/waits.h"

/* What is looked for, beside the tables. */
struct wanted {
	const struct dictionary *d;
	const void *key;
	const uint32_t *stack;
};

static bool is_function(const void *arg, uint32_t id)
{
	const struct wanted *w = arg;

	return !memcmp(w->key, &w->d->functions[id - 1], sizeof(*w->d->functions));
}

static uint32_t function_of(struct dictionary *d, const struct dictionary_function *f)
{
	const struct wanted w = { d, f, NULL };
	uint32_t id, hash = index_hash(0, f, sizeof(*f));

	if (index_find(&d->function_index, hash, is_function, &w, &id))
		return id;
	d->functions = xgrow(d->functions, d->nr_functions, &d->cap_functions, sizeof(*f));
	d->functions[d->nr_functions++] = *f;
	index_add(&d->function_index, hash, d->nr_functions);
	return d->nr_functions;
}

static void add_line(struct dictionary *d, const struct tree *names, const struct step *s,
		     uint32_t linkage)
{
	const struct profile *p = d->profile;
	struct dictionary_function f = { .name = numbered_add(&d->strings,
							      names->names.bytes + s->name) };

	f.linkage = linkage ? numbered_add_cleaned(&d->strings, profile_str(p, linkage)) : f.name;
	f.file = s->file ? numbered_add_cleaned(&d->strings, profile_str(p, s->file)) : 0;
	d->lines = xgrow(d->lines, d->nr_lines, &d->cap_lines, sizeof(*d->lines));
	d->lines[d->nr_lines++] = (struct dictionary_line){ function_of(d, &f), s->line };
}

/*
 * Of nr steps, root first, the last one shown is the leaf: of a thread the innermost function, of a
 * waker, whose frames come the other way round, the frame's own.
 */
static void add_lines(struct dictionary *d, const struct tree *names, const struct step *steps,
		      const struct dictionary_place *place)
{
	uint32_t all = place->frame ? profile_frame_functions(d->profile, place->frame) : 0;

	for (uint32_t i = place->nr; i > 0; i--) {
		uint32_t nr = place->waker ? all - place->nr + i - 1 : all - i, linkage = 0;

		if (all)
			linkage = profile_frame_function(d->profile, place->frame, nr).linkage;
		add_line(d, names, &steps[i - 1], linkage);
	}
}

static bool has_address(const struct frame *f)
{
	return f->kind == FRAME_USER || f->kind == FRAME_ANON || f->kind == FRAME_UNKNOWN;
}

static bool is_place(const void *arg, uint32_t id)
{
	const struct wanted *w = arg;
	const struct dictionary_place *a = w->key, *b = &w->d->places[id - 1];

	return a->frame == b->frame && a->note == b->note && a->waker == b->waker && a->nr == b->nr;
}

static uint32_t add_place(struct dictionary *d, const struct tree *names, const struct step *steps,
			  struct dictionary_place *place)
{
	const struct frame *f = profile_frame_at(d->profile, place->frame);

	place->first = d->nr_lines;
	place->module = f->module;
	place->address = has_address(f) ? f->offset : 0;
	add_lines(d, names, steps, place);
	d->places = xgrow(d->places, d->nr_places, &d->cap_places, sizeof(*place));
	d->places[d->nr_places++] = *place;
	return d->nr_places;
}

/* Of a frame's steps, or of a note, which is one. */
static uint32_t place_of(struct dictionary *d, const struct tree *names, const struct step *steps,
			 uint32_t nr, uint32_t frame)
{
	struct dictionary_place place = { .frame = frame, .waker = steps->waker, .nr = nr };
	const struct wanted w = { d, &place, NULL };
	uint32_t *known = &d->place_of[steps->waker][frame], id, hash;

	if (frame && *known && d->places[*known - 1].nr == nr)
		return *known;
	if (!frame)
		place.note = numbered_add(&d->strings, names->names.bytes + steps->name);
	hash = index_hash(0, &place, sizeof(place));
	if (index_find(&d->place_index, hash, is_place, &w, &id))
		return id;
	id = add_place(d, names, steps, &place);
	index_add(&d->place_index, hash, id);
	if (!*known)
		*known = id;
	return id;
}

static void push_places(struct dictionary *d, const struct tree *names,
			const struct tree_paths *paths, const struct path *path)
{
	bool has_thread = path->sample != PATH_LOST && path->nr > 1;
	const struct step *steps = paths->steps + path->first;
	const uint32_t *frames = paths->frames + path->first;
	uint32_t begin;

	for (uint32_t end = path->nr; end > has_thread; end = begin) {
		begin = end - 1;
		while (frames[begin] == STEP_SAME_FRAME)
			begin--;
		d->stack = xgrow(d->stack, d->nr_stack, &d->cap_stack, sizeof(*d->stack));
		d->stack[d->nr_stack++] =
			place_of(d, names, steps + begin, end - begin, frames[begin]);
	}
}

static bool is_sample(const void *arg, uint32_t id)
{
	const struct wanted *w = arg;
	const struct dictionary_sample *a = w->key, *b = &w->d->samples[id];

	return a->nr == b->nr && a->pid == b->pid && a->tid == b->tid && a->thread == b->thread &&
	       a->process == b->process && a->class == b->class && a->context == b->context &&
	       a->kind == b->kind && a->role == b->role && a->series == b->series &&
	       !memcmp(w->stack, w->d->stack + b->first, a->nr * sizeof(*w->stack));
}

/* The number of an equal sample, of which the stack is there already; else of a new one. */
static uint32_t sample_of(struct dictionary *d, struct dictionary_sample *s)
{
	const struct wanted w = { d, s, d->stack + s->first };
	uint32_t words[] = { s->nr,    s->pid,	s->tid,	    s->thread, s->process,
			     s->class, s->kind, s->context, s->role,   s->series };
	uint32_t id, hash = index_hash(0, words, sizeof(words));

	hash = index_hash(hash, w.stack, s->nr * sizeof(*w.stack));
	if (index_find(&d->sample_index, hash, is_sample, &w, &id)) {
		d->nr_stack = s->first;
		return id;
	}
	index_add(&d->sample_index, hash, d->nr_samples);
	d->samples = xgrow(d->samples, d->nr_samples, &d->cap_samples, sizeof(*s));
	d->samples[d->nr_samples] = *s;
	for (size_t i = 0; i < d->types.nr; i++) {
		size_t at = d->nr_samples * d->types.nr + i;

		d->values = xgrow(d->values, at, &d->cap_values, sizeof(*d->values));
		d->values[at] = 0;
	}
	return d->nr_samples++;
}

static void describe(struct dictionary *d, const struct tree *names, const struct step *thread,
		     const struct sample *s, struct dictionary_sample *to)
{
	to->pid = s->pid;
	to->tid = s->tid;
	to->thread = numbered_add(&d->strings, names->names.bytes + thread->name);
	to->process = numbered_add_cleaned(&d->strings, profile_str(d->profile, s->process));
}

static void describe_context(struct dictionary *d, const struct context_of *of,
			     struct dictionary_sample *to)
{
	if (!of)
		return;
	to->context = numbered_add(&d->strings, context_names[of->context]);
	to->kind = *of->kind ? numbered_add(&d->strings, of->kind) : 0;
	to->role = of->role ? numbered_add(&d->strings, context_roles[of->role]) : 0;
}

/* With what is known of a path besides its steps: whose it is. */
static void add_path(struct dictionary *d, const struct tree *names, const struct tree_paths *paths,
		     const struct path *path, struct dictionary_sample s, uint32_t event)
{
	uint64_t values[PROF_MAX_EVENTS] = {};
	uint32_t id;

	s.first = d->nr_stack;
	push_places(d, names, paths, path);
	s.nr = d->nr_stack - s.first;
	id = sample_of(d, &s);
	value_types_get(&d->types, path, event, values);
	for (size_t i = 0; i < d->types.nr; i++)
		d->values[id * d->types.nr + i] += values[i];
}

/* Of threads, of which samples are, and of what these did. */
struct owners {
	struct waits waits;
	struct trim trim;
	const struct dictionary_series *series; /* NULL: all is told */
};

static struct dictionary_sample owner_of(struct dictionary *d, const struct tree *names,
					 const struct tree_paths *paths, const struct path *path,
					 const struct owners *o)
{
	struct dictionary_sample s = {};
	const struct sample *from;

	if (path->sample == PATH_LOST)
		return s;
	from = &names->profile->samples[path->sample];
	if (o->series) {
		s.series = o->series->of(o->series->arg, names->profile, from,
					 o->waits.class_of ? o->waits.class_of[path->sample]
							   : WAITS_NR);
		return s;
	}
	describe(d, names, &paths->steps[path->first], from, &s);
	describe_context(d, trim_context(&o->trim, path->sample), &s);
	if (o->waits.class_of)
		s.class = numbered_add(&d->strings, waits_name(o->waits.class_of[path->sample]));
	return s;
}

static void add_paths(struct dictionary *d, const struct profile *p, const struct view *v,
		      const struct dictionary_series *series, uint32_t event)
{
	struct tree_paths paths;
	struct tree *names = tree_paths_new(p, v, &paths);
	struct owners owners = { .series = series };

	trim_init(&owners.trim, p, v);
	if (p->meta.is_time)
		waits_init(&owners.waits, p, v);
	for (size_t i = 0; i < paths.nr_paths; i++) {
		const struct path *path = &paths.paths[i];

		if (!path->count || (series && path->sample == PATH_LOST))
			continue;
		add_path(d, names, &paths, path, owner_of(d, names, &paths, path, &owners), event);
	}
	trim_release(&owners.trim);
	waits_release(&owners.waits);
	tree_paths_free(names, &paths);
}

/* --- mappings --- */

static struct dictionary_mapping *mapping_of(struct dictionary *d, uint32_t module)
{
	if (!d->mapping_of[module]) {
		d->mappings =
			xgrow(d->mappings, d->nr_mappings, &d->cap_mappings, sizeof(*d->mappings));
		d->mappings[d->nr_mappings++] =
			(struct dictionary_mapping){ .module = module, .first = UINT64_MAX };
		d->mapping_of[module] = d->nr_mappings;
	}
	return &d->mappings[d->mapping_of[module] - 1];
}

static void add_mapping(struct dictionary *d, const struct dictionary_place *place)
{
	struct dictionary_mapping *m;

	if (!place->module)
		return;
	m = mapping_of(d, place->module);
	m->first = place->address < m->first ? place->address : m->first;
	m->last = place->address > m->last ? place->address : m->last;
	m->has_inlined |= place->nr > 1;
	for (uint32_t i = place->first; i < place->first + place->nr; i++) {
		m->has_files |= d->functions[d->lines[i].function - 1].file != 0;
		m->has_lines |= d->lines[i].line != 0;
	}
}

/* How much each module has a part in. */
static uint64_t *totals(const struct dictionary *d)
{
	uint64_t *sums = xcalloc(d->profile->nr_modules, sizeof(*sums));
	uint32_t *seen = xcalloc(d->profile->nr_modules, sizeof(*seen));

	for (size_t i = 0; i < d->nr_samples; i++) {
		const struct dictionary_sample *s = &d->samples[i];

		for (uint32_t k = s->first; k < s->first + s->nr; k++) {
			uint32_t module = d->places[d->stack[k] - 1].module;

			if (seen[module] == i + 1)
				continue;
			seen[module] = i + 1;
			sums[module] += d->values[i * d->types.nr + d->types.shown];
		}
	}
	free(seen);
	return sums;
}

/* Recordings do not say which file is a program: 1 is a library by its name, 2 is more likely. */
static int is_program(const struct profile *p, uint32_t module)
{
	const char *path = profile_str(p, p->modules[module].path);

	return *path != '/' ? 0 : strstr(path, ".so") ? 1 : 2;
}

/* Readers take the first one for what was profiled. */
static void put_program_first(struct dictionary *d)
{
	uint64_t *sums = totals(d);
	struct dictionary_mapping program;
	size_t best = 0;

	for (size_t i = 1; i < d->nr_mappings; i++) {
		uint32_t a = d->mappings[best].module, b = d->mappings[i].module;
		int better = is_program(d->profile, b) - is_program(d->profile, a);

		if (better > 0 || (!better && sums[b] > sums[a]))
			best = i;
	}
	if (best) {
		program = d->mappings[best];
		memmove(d->mappings + 1, d->mappings, best * sizeof(*d->mappings));
		d->mappings[0] = program;
	}
	for (size_t i = 0; i < d->nr_mappings; i++)
		d->mapping_of[d->mappings[i].module] = i + 1;
	free(sums);
}

void dictionary_init_series(struct dictionary *d, const struct profile *p, const struct view *v,
			    const struct dictionary_series *series)
{
	*d = (struct dictionary){ .profile = p };
	numbered_init(&d->strings);
	value_types_init(&d->types, p, v);
	for (size_t i = 0; i < 2; i++)
		d->place_of[i] = xcalloc(p->nr_frames, sizeof(*d->place_of[i]));
	d->mapping_of = xcalloc(p->nr_modules, sizeof(*d->mapping_of));
	if (!d->types.by_event)
		add_paths(d, p, v, series, 0);
	for (size_t i = 0; d->types.by_event && i < p->nr_events; i++) {
		struct profile one = profile_of_event(p, i);

		add_paths(d, &one, v, series, i);
		profile_of_event_release(&one);
	}
	for (size_t i = 0; i < d->nr_places; i++)
		add_mapping(d, &d->places[i]);
	put_program_first(d);
}

void dictionary_init(struct dictionary *d, const struct profile *p, const struct view *v)
{
	dictionary_init_series(d, p, v, NULL);
}

void dictionary_release(struct dictionary *d)
{
	numbered_release(&d->strings);
	index_release(&d->function_index);
	index_release(&d->place_index);
	index_release(&d->sample_index);
	for (size_t i = 0; i < 2; i++)
		free(d->place_of[i]);
	free(d->functions);
	free(d->lines);
	free(d->places);
	free(d->samples);
	free(d->mappings);
	free(d->values);
	free(d->stack);
	free(d->mapping_of);
}
